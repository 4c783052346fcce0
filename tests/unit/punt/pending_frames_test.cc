#include "lib/punt/pending_frames.hh"

#include <algorithm>
#include <set>
#include <string>

#include "CppUTest/TestHarness.h"

namespace sluice::pending_frames_test {
namespace {

IpAddress host(std::uint8_t last) { return {{10, 0, 1, last}, false}; }

}  // namespace

TEST_GROUP(PendingFrames) {
    PendingFrames pending{{.each = 3, .all = 5, .patience = seconds(3)}};
    Time start{1'000};
    std::set<IpAddress> known;
    std::set<PortId> full;
    std::string told;  // of settle: a frame's first byte each, capital when it was given up

    bool hold(char name, std::uint8_t to, Time now, PortId port = 0) {
        return pending.keep({{3, host(to)}, host(to), port, {static_cast<std::uint8_t>(name), 1, 2}, {}},
                            now);
    }
    std::string settle(Time now) {
        told.clear();
        pending.settle(
            now, [&](const PendingFrame& frame) { return known.contains(frame.destination); },
            [&](const PendingFrame& frame, PendingFrames::Fate fate) {
                if (full.contains(frame.port)) return false;
                LONGS_EQUAL(3, frame.bytes.size());
                const auto name = static_cast<char>(frame.bytes[0]);
                told += fate == PendingFrames::Fate::resolved ? name : static_cast<char>(name - 'a' + 'A');
                return true;
            });
        return told;
    }
};

TEST(PendingFrames, refusesMoreThanANextHopMayHave) {
    CHECK_TRUE(hold('a', 1, start) && hold('b', 1, start) && hold('c', 1, start));
    CHECK_FALSE(hold('d', 1, start));
    CHECK_TRUE(hold('e', 2, start));
    LONGS_EQUAL(4, pending.size());
}

TEST(PendingFrames, refusesMoreThanThereIsRoomForInAll) {
    for (std::uint8_t n = 0; n < 5; ++n) CHECK_TRUE(hold('a', n, start));
    CHECK_FALSE(hold('b', 9, start));
    LONGS_EQUAL(5, pending.size());
}

TEST(PendingFrames, refusesWhatIsNoFrame) {
    CHECK_FALSE(pending.keep({{3, host(1)}, host(1), 0, {}, {}}, start));
    LONGS_EQUAL(0, pending.size());
}

TEST(PendingFrames, nextHopsAreToldApartByNumberAndByHost) {
    const auto hop = [&](std::uint32_t number, const IpAddress& address) {
        return pending.keep({{number, address}, host(7), 0, {1}, {}}, start);
    };
    CHECK_TRUE(hop(9, {}) && hop(9, {}) && hop(9, {}));
    CHECK_FALSE(hop(9, {}));
    CHECK_TRUE(hop(8, {}));
    CHECK_TRUE(hop(9, host(7)));
}

TEST(PendingFrames, waitsUntilTheNeighborIsKnownAndLeavesInOrder) {
    hold('a', 1, start), hold('b', 2, start), hold('c', 1, start);
    STRCMP_EQUAL("", settle(start + milliseconds(1)).c_str());
    known.insert(host(1));
    STRCMP_EQUAL("ac", settle(start + milliseconds(2)).c_str());
    LONGS_EQUAL(1, pending.size());
    known.insert(host(2));
    STRCMP_EQUAL("b", settle(start + milliseconds(3)).c_str());
    LONGS_EQUAL(0, pending.size());
    STRCMP_EQUAL("", settle(start + seconds(9)).c_str());
}

TEST(PendingFrames, isGivenUpWhenItsTimeHasComeAndNotBefore) {
    hold('a', 1, start), hold('b', 1, start + seconds(1));
    STRCMP_EQUAL("", settle(start + seconds(3) - Duration{1}).c_str());
    STRCMP_EQUAL("A", settle(start + seconds(3)).c_str());
    STRCMP_EQUAL("B", settle(start + seconds(4)).c_str());
}

TEST(PendingFrames, isResolvedEvenAtTheLastMoment) {
    hold('a', 1, start);
    known.insert(host(1));
    STRCMP_EQUAL("a", settle(start + seconds(3)).c_str());
}

TEST(PendingFrames, whoHasLeftMakesRoom) {
    hold('a', 1, start), hold('b', 1, start), hold('c', 1, start), hold('d', 2, start), hold('e', 2, start);
    CHECK_FALSE(hold('f', 1, start));
    known.insert(host(1));
    STRCMP_EQUAL("abc", settle(start).c_str());
    known.clear();
    CHECK_TRUE(hold('f', 1, start) && hold('g', 1, start) && hold('h', 1, start));
    CHECK_FALSE(hold('i', 3, start));
    STRCMP_EQUAL("DEFGH", settle(start + seconds(3)).c_str());
}

// A port that takes no more does not hold up others, and keeps its order.
TEST(PendingFrames, whatIsNotTakenStaysWithAllThatCameLaterByItsPort) {
    hold('a', 1, start, 4), hold('b', 1, start, 5), hold('c', 1, start, 4), hold('d', 2, start, 4);
    known = {host(1), host(2)};
    full.insert(4);
    STRCMP_EQUAL("b", settle(start).c_str());
    LONGS_EQUAL(3, pending.of_port(4));
    LONGS_EQUAL(0, pending.of_port(5));
    full.clear();
    STRCMP_EQUAL("acd", settle(start + seconds(9)).c_str());
}

// With one slot the second frame waits although it would be asked about again.
TEST(PendingFrames, isNotAskedAboutAgainOnceItsPortIsFull) {
    hold('a', 1, start, 4), hold('b', 1, start, 4);
    known.insert(host(1));
    unsigned asked = 0;
    pending.settle(
        start, [](const PendingFrame&) { return true; },
        [&](const PendingFrame&, PendingFrames::Fate) { return ++asked > 1; });
    LONGS_EQUAL(1, asked);
    LONGS_EQUAL(2, pending.size());
    STRCMP_EQUAL("ab", settle(start).c_str());
}

}  // namespace sluice::pending_frames_test
