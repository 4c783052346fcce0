#include "tools/traffic/peer_flows.hh"

#include <algorithm>

#include "tests/traffic/support.hh"
#include "tools/traffic/text.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::traffic::peer_flows_test {
namespace {

constexpr std::uint64_t gigabit = 1'000'000'000;

std::vector<std::uint8_t> pfc(unsigned priority, std::uint16_t quanta) {
    Frame frame;
    std::array<std::optional<std::uint16_t>, 8> map;
    map[priority] = quanta;
    build_pfc(frame, {}, map);
    const auto bytes = frame.all();
    return {bytes.begin(), bytes.end()};
}

SentFlows::Shape shape(std::uint32_t flows) {
    SentFlows::Shape made;
    made.source = *parse_ip("10.0.1.2");
    made.destination = *parse_ip("10.0.2.2");
    made.flows = flows;
    return made;
}

std::vector<std::vector<std::uint8_t>> frames(SentFlows sent, std::size_t count) {
    std::vector<std::vector<std::uint8_t>> made;
    Frame frame;
    for (std::size_t n = 0; n < count; ++n) {
        sent.build(frame);
        sent.sent();
        made.emplace_back(frame.all().begin(), frame.all().end());
    }
    return made;
}

}  // namespace

TEST_GROUP(PauseClock){};

TEST(PauseClock, holdsForTheQuantaAtTheSpeedOfTheLinkAndNoLonger) {
    PauseClock pause(3, gigabit);
    CHECK_TRUE(pause.receive(pfc(3, 1000), 5000));
    CHECK_EQUAL(5000U + 512'000U, pause.until_ns());
    CHECK_TRUE(pause.paused(pause.until_ns() - 1));
    CHECK_FALSE(pause.paused(pause.until_ns()));
    CHECK_EQUAL(1U, pause.counters().xoff);
    CHECK_EQUAL(1U, pause.counters().expired);
    CHECK_EQUAL(512'000U, pause.counters().paused_ns);
}

TEST(PauseClock, aLaterFrameReplacesWhatIsLeft) {
    PauseClock pause(3, gigabit);
    pause.receive(pfc(3, 1000), 0);
    pause.receive(pfc(3, 10), 1000);
    CHECK_EQUAL(6120U, pause.until_ns());
    pause.receive(pfc(3, 0), 2000);
    CHECK_FALSE(pause.paused(2000));
    CHECK_EQUAL(1U, pause.counters().xon);
    CHECK_EQUAL(0U, pause.counters().expired);
    CHECK_EQUAL(2000U, pause.counters().paused_ns);
}

TEST(PauseClock, otherClassesAndOtherFramesAreNotItsBusiness) {
    PauseClock pause(3, gigabit);
    CHECK_TRUE(pause.receive(pfc(4, 1000), 0));
    CHECK_FALSE(pause.paused(1));
    auto cut = pfc(3, 1000);
    cut.resize(33);
    CHECK_FALSE(pause.receive(cut, 0));
    CHECK_FALSE(pause.receive(frames(SentFlows(shape(1)), 1)[0], 0));
    CHECK_FALSE(pause.paused(1));
}

TEST_GROUP(PeerFlows){};

TEST(PeerFlows, whatArrivesInOrderIsAllThere) {
    ArrivedFlows arrived;
    for (const auto& frame : frames(SentFlows(shape(3)), 30)) CHECK_TRUE(arrived.receive(frame));
    CHECK_EQUAL(3U, arrived.count());
    CHECK_EQUAL(30U, arrived.total().received);
    CHECK_EQUAL(0U, arrived.total().lost + arrived.total().late + arrived.bad_icrc());
}

TEST(PeerFlows, aGapIsALossUntilItComesAfterAll) {
    ArrivedFlows arrived;
    auto made = frames(SentFlows(shape(1)), 5);
    for (const int n : {0, 3, 4}) arrived.receive(made[static_cast<std::size_t>(n)]);
    CHECK_EQUAL(2U, arrived.total().lost);
    arrived.receive(made[1]);
    CHECK_EQUAL(1U, arrived.total().lost);
    CHECK_EQUAL(1U, arrived.total().late);
    CHECK_EQUAL(4U, arrived.total().received);
}

TEST(PeerFlows, aBrokenFrameIsNoneOfTheFlow) {
    ArrivedFlows arrived;
    auto made = frames(SentFlows(shape(1)), 2);
    made[1].back() ^= 1;
    for (const auto& frame : made) arrived.receive(frame);
    CHECK_EQUAL(1U, arrived.bad_icrc());
    CHECK_EQUAL(1U, arrived.total().received);
    CHECK_FALSE(arrived.receive(pfc(3, 1)));
    CHECK_FALSE(arrived.receive(std::span(made[0]).first(20)));
}

}  // namespace sluice::traffic::peer_flows_test
