#include "lib/clock/link.hh"

#include <array>

#include "CppUTest/TestHarness.h"

namespace sluice::link_test {
namespace {

constexpr Time start{1'000'000};

}  // namespace

static_assert(gigabits(1).byte_time().ps == 8000);
static_assert(gigabits(800).byte_time().ps == 10);
static_assert(Time{5} - Duration{10} < Time{5}, "time before the origin wraps and still compares");

TEST_GROUP(Link){};

TEST(Link, mayNotStartBeforeTheWireIsFree) {
    LinkTransmitter link(gigabits(100).byte_time(), {});
    link.start(start, 1000);
    const Time end = start + picoseconds(1024 * 80);
    CHECK_FALSE(link.can_start(start));
    CHECK_FALSE(link.can_start(end - picoseconds(1)));
    CHECK_TRUE(link.can_start(end));
}

TEST(Link, mayNotFillMoreThanItsHorizon) {
    constexpr Duration horizon = nanoseconds(500);
    LinkTransmitter link(gigabits(100).byte_time(), horizon);
    unsigned frames = 0;
    Time last{};
    for (; link.can_start(start); ++frames) last = link.start(start, 1000);
    // Frames of 81.92 ns start at 0, 81.92, ...: as many as start before 500 ns.
    LONGS_EQUAL(7, frames);
    CHECK_TRUE(last < start + horizon);
    CHECK_TRUE(link.busy_until() >= start + horizon);
}

TEST(Link, aRingMayBeFilledInPieces) {
    constexpr Duration horizon = nanoseconds(500);
    LinkTransmitter link(gigabits(100).byte_time(), horizon);
    const auto filled = [&](Duration fill) {
        unsigned frames = 0;
        for (link.fill_up_to(fill); link.can_start(start); ++frames) link.start(start, 1000);
        return frames;
    };
    LONGS_EQUAL(1, filled(nanoseconds(-7)));  // a wire that is free takes a frame whatever there is to come
    LONGS_EQUAL(0, filled(nanoseconds(81)));
    LONGS_EQUAL(1, filled(nanoseconds(82)));
    LONGS_EQUAL(5, filled(nanoseconds(700)));  // its horizon is its end
    LONGS_EQUAL(0, filled(nanoseconds(0)));
    CHECK_TRUE(link.next_start() == link.busy_until() - horizon + Duration{1});  // of the whole ring
}

TEST(Link, aBareWireHasNothingToFill) {
    LinkTransmitter link(gigabits(100).byte_time(), {});
    link.fill_up_to(nanoseconds(500));
    link.start(start, 1000);
    CHECK_FALSE(link.can_start(start));
}

TEST(Link, theFirstFrameStartsAtOnce) {
    LinkTransmitter link(gigabits(100).byte_time(), {});
    CHECK_TRUE(link.can_start({}));
    CHECK_TRUE(link.can_start(start));
    CHECK_TRUE(link.start(start, 60) == start);
}

TEST(Link, framesFollowToThePicosecond) {
    struct Speed {
        std::uint64_t gigabits;
        std::int64_t byte_ps;
    };
    for (const auto& [speed, byte_ps] : std::array<Speed, 9>{{{1, 8000},
                                                              {10, 800},
                                                              {25, 320},
                                                              {40, 200},
                                                              {50, 160},
                                                              {100, 80},
                                                              {200, 40},
                                                              {400, 20},
                                                              {800, 10}}}) {
        LinkTransmitter link(gigabits(speed).byte_time(), {});
        Time expected = start;
        for (const std::uint32_t bytes : {60U, 61U, 1500U, 9238U, 60U}) {
            CHECK_TRUE(link.can_start(expected));
            CHECK_TRUE(link.start(expected, bytes) == expected);
            expected = expected + picoseconds(byte_ps * (bytes + 24));
            CHECK_TRUE(link.busy_until() == expected);
            CHECK_TRUE(link.next_start() == expected);
        }
    }
}

TEST(Link, anIdleWireDoesNotSaveTime) {
    LinkTransmitter link(gigabits(100).byte_time(), {});
    link.start(start, 60);
    const Time later = start + microseconds(5);
    CHECK_TRUE(link.start(later, 60) == later);
    CHECK_TRUE(link.busy_until() == later + picoseconds(84 * 80));
}

TEST(Link, nextStartIsTheFirstInstantAtWhichItMay) {
    for (const Duration horizon : {Duration{}, picoseconds(1), nanoseconds(500), microseconds(5)}) {
        LinkTransmitter link(gigabits(25).byte_time(), horizon);
        Time now = start;
        for (unsigned n = 0; n < 50; ++n) {
            while (link.can_start(now)) link.start(now, 64 + n * 100);
            const Time next = link.next_start();
            CHECK_FALSE(link.can_start(next - picoseconds(1)));
            CHECK_TRUE(link.can_start(next));
            CHECK_TRUE(next > now);
            now = next;
        }
    }
}

TEST(Link, aHorizonNeverLeavesAGap) {
    // Filled once a turn with a horizon of a turn, the wire is never idle while there are frames.
    constexpr Duration turn = nanoseconds(500);
    LinkTransmitter link(gigabits(100).byte_time(), turn);
    Time end = start;
    for (unsigned n = 0; n < 100; ++n) {
        const Time now = start + turn * n;
        while (link.can_start(now)) {
            CHECK_TRUE(link.start(now, 300 + n) == end);
            end = link.busy_until();
        }
    }
}

TEST(Link, aTransmitterWithoutATimeModelsNothing) {
    LinkTransmitter link;
    for (unsigned n = 0; n < 1000; ++n) {
        CHECK_TRUE(link.can_start(start));
        CHECK_TRUE(link.start(start, 9000) == start);
    }
}

}  // namespace sluice::link_test
