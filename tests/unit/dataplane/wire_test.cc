// A direction of a wire: rules and their counters over changes, held frames, and learned senders.
#include "dataplane/path/wire.hh"

#include <vector>

#include "dataplane/base/packet_pool.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::wire_test {
namespace {

Time at_us(std::int64_t us) { return Time{} + microseconds(us); }

FaultRule rule(std::uint64_t id, FaultAction action, FrameChoice choice, FaultMatch match = {}) {
    FaultRule made;
    made.id = id;
    made.action = action;
    made.choice = choice;
    made.match = match;
    return made;
}

FrameFacts roce(std::uint32_t qp) { return {true, 26, true, 7, qp, 0}; }

IpAddress host_address(std::uint8_t last) {
    IpAddress made{};
    made.bytes = {10, 0, 0, last};
    return made;
}

roce::WireFrame packet_of(std::uint8_t opcode, std::uint32_t qp, std::uint32_t psn,
                          std::optional<std::uint8_t> syndrome = {}) {
    roce::WireFrame made;
    made.facts = {true, 26, true, opcode, qp, psn};
    made.syndrome = syndrome;
    return made;
}

}  // namespace

TEST_GROUP(WireDirection) {
    PacketPool pool{"wire", 8191, 0};
    WirePolicy policy;
    WireDirection wire;

    Packet* make() { return rte_pktmbuf_alloc(pool.pool()); }
    std::uint64_t taken_by(const FrameFacts& frame = {}) {
        const auto taken = wire.draw_fate(policy, frame, 1, 0, 60);
        return taken.rule == nullptr ? 0 : taken.rule->id;
    }
    std::uint64_t matched(std::uint64_t id) {
        for (const WireRuleCounters& counters : wire.rules)
            if (counters.id.get() == id) return counters.matched.get();
        return ~0ULL;
    }
    void free(Packet * packet) {
        CHECK_TRUE(packet != nullptr);
        rte_pktmbuf_free(packet);
    }
};

TEST(WireDirection, takesNothingWithoutRules) {
    wire.configure(policy);
    CHECK_EQUAL(0u, taken_by());
}

TEST(WireDirection, theFirstRuleThatTakesAFrameHidesItFromLaterOnes) {
    policy.rules = {rule(5, FaultAction::drop, {0, 2, {}}), rule(6, FaultAction::drop, {2, 0, {}})};
    wire.configure(policy);
    CHECK_EQUAL(0u, taken_by());
    CHECK_EQUAL(5u, taken_by());
    CHECK_EQUAL(6u, taken_by());
    CHECK_EQUAL(3u, matched(5));
    CHECK_EQUAL(2u, matched(6));
}

TEST(WireDirection, aRuleKeepsItsCountWhereverItStands) {
    policy.rules = {rule(1, FaultAction::drop, {0, 4, {}}), rule(2, FaultAction::drop, {0, 100, {}})};
    wire.configure(policy);
    for (int n = 0; n < 3; ++n) CHECK_EQUAL(0u, taken_by());
    policy.rules = {rule(3, FaultAction::drop, {0, 100, {}}), rule(1, FaultAction::drop, {0, 4, {}})};
    wire.configure(policy);
    CHECK_EQUAL(1u, taken_by());
    CHECK_EQUAL(4u, matched(1));
    CHECK_EQUAL(1u, matched(3));
    CHECK_EQUAL(~0ULL, matched(2));
}

TEST(WireDirection, asManyRulesAsThereArePlacesChangeAtOnce) {
    for (std::uint64_t round = 0; round < 3; ++round) {
        policy.rules.clear();
        for (std::uint64_t n = 0; n < max_wire_rules; ++n)
            policy.rules.push_back(rule(1 + round * max_wire_rules + n, FaultAction::drop, {0, 1000, {}}));
        wire.configure(policy);
        CHECK_EQUAL(0u, taken_by());
        for (const FaultRule& each : policy.rules) CHECK_EQUAL(1u, matched(each.id));
    }
}

TEST(WireDirection, delayedFramesLeaveInOrderOfTheirTime) {
    Packet* const first = make();
    Packet* const second = make();
    Packet* const third = make();
    wire.delay(first, at_us(9));
    wire.delay(second, at_us(5));
    wire.delay(third, at_us(5));
    CHECK_TRUE(wire.next_due() == at_us(5));
    CHECK_EQUAL(3u, wire.holding.get());
    POINTERS_EQUAL(nullptr, wire.due(at_us(4), false));
    POINTERS_EQUAL(second, wire.due(at_us(5), false));
    POINTERS_EQUAL(third, wire.due(at_us(5), false));
    POINTERS_EQUAL(nullptr, wire.due(at_us(5), false));
    POINTERS_EQUAL(first, wire.due(at_us(5), true));
    CHECK_FALSE(wire.holds_any());
    CHECK_EQUAL(0u, wire.holding.get());
    for (Packet* packet : {first, second, third}) free(packet);
}

TEST(WireDirection, aReorderedFrameWaitsForFramesOfItsQueuePair) {
    Packet* const held = make();
    wire.reorder(held, at_us(100), 2, 7);
    std::vector<Packet*> released;
    const auto pass = [&](const FrameFacts& frame) {
        wire.passed(frame, [&](Packet* packet) { released.push_back(packet); });
    };
    pass(roce(8));
    pass(FrameFacts{});
    pass(roce(7));
    CHECK_TRUE(released.empty());
    pass(roce(7));
    CHECK_TRUE(released == std::vector{held});
    CHECK_FALSE(wire.holds_any());
    free(held);
}

TEST(WireDirection, aReorderedFrameOfNoQueuePairWaitsForAny) {
    Packet* const held = make();
    wire.reorder(held, at_us(100), 1, {});
    unsigned released = 0;
    wire.passed(roce(8), [&](Packet*) { ++released; });
    CHECK_EQUAL(1u, released);
    free(held);
}

TEST(WireDirection, holdsNoMoreThanThereIsRoomFor) {
    for (std::size_t n = 0; n < WireDirection::max_delayed; ++n) {
        CHECK_TRUE(wire.may_delay());
        wire.delay(make(), at_us(1));
    }
    CHECK_FALSE(wire.may_delay());
    CHECK_TRUE(wire.may_reorder());
    while (Packet* packet = wire.due(at_us(2), false)) free(packet);
    CHECK_TRUE(wire.may_delay());
}

TEST_GROUP(LearnedSenders) { LearnedSenders senders; };

TEST(LearnedSenders, knowsOneQueuePairOfTwoEnds) {
    CHECK_FALSE(senders.find(3).has_value());
    senders.learn(3, 0x100);
    senders.learn(3, 0x100);
    senders.learn(3 + LearnedSenders::places, 0x200);  // the same place
    CHECK_TRUE(senders.find(3) == 0x100U);
    CHECK_TRUE(senders.find(3 + LearnedSenders::places) == 0x200U);
    senders.learn(3, 0x101);
    CHECK_FALSE(senders.find(3).has_value());
    senders.learn(3, 0x100);
    CHECK_FALSE(senders.find(3).has_value());
}

TEST(LearnedSenders, forgetsNothingAndFillsUp) {
    for (std::uint64_t n = 1; n <= 2 * LearnedSenders::places; ++n)
        senders.learn(n, static_cast<std::uint32_t>(n));
    for (std::uint64_t n = 1; n <= LearnedSenders::places; ++n) CHECK_TRUE(senders.find(n) == n);
    CHECK_FALSE(senders.find(2 * LearnedSenders::places).has_value());
}

TEST_GROUP(WireReplies) {
    WireReplies replies;
    const IpAddress host = host_address(2);
};

TEST(WireReplies, knowAcknowledgementsByTheirSyndrome) {
    for (const std::uint8_t syndrome : {0x00, 0x1F, 0x20, 0x60, 0x62, 0x7F})
        replies.count(packet_of(0x11, 5, 1, syndrome), host);
    replies.count(packet_of(0x11, 5, 1), host);  // cut
    CHECK_EQUAL(2U, replies.acks.get());
    CHECK_EQUAL(1U, replies.rnr_naks.get());
    CHECK_EQUAL(3U, replies.naks.get());
    CHECK_EQUAL(0U, replies.repeated.get());
}

TEST(WireReplies, countNumbersThatComeAgainOverTheWrap) {
    for (const std::uint32_t psn : {0xFF'FFFEU, 0xFF'FFFFU, 0U, 1U})
        replies.count(packet_of(7, 5, psn), host);
    CHECK_EQUAL(0U, replies.repeated.get());
    replies.count(packet_of(7, 5, 0xFF'FFFF), host);
    replies.count(packet_of(7, 5, 1), host);
    CHECK_EQUAL(2U, replies.repeated.get());
    replies.count(packet_of(7, 6, 0), host);             // another queue pair
    replies.count(packet_of(0x0E, 5, 0), host);          // a response has other numbers
    replies.count(packet_of(7, 5, 0), host_address(3));  // another host
    CHECK_EQUAL(2U, replies.repeated.get());
}

TEST(WireReplies, sayOfWhichQueuePairsTheyKnowNothing) {
    for (std::uint32_t qp = 0; qp < 2 * WireReplies::places; ++qp) replies.count(packet_of(7, qp, 1), host);
    CHECK_TRUE(replies.untracked.get() >= WireReplies::places);
    CHECK_EQUAL(0U, replies.repeated.get());
}

}  // namespace sluice::wire_test
