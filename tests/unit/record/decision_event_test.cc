#include "lib/record/decision_event.hh"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::decision_event_test {
namespace {

FlowKey v4_flow() {
    FlowKey flow;
    flow.kind = FrameKind::ipv4;
    flow.source = {10, 0, 1, 2};
    flow.destination = {10, 0, 2, 129};
    flow.source_port = 49152;
    flow.destination_port = roce_udp_port;
    flow.protocol = ip_protocol::udp;
    flow.roce = true;
    flow.destination_qp = 0x123456;
    return flow;
}

IpPrefix prefix(std::array<std::uint8_t, 4> address, std::uint8_t length) {
    IpPrefix prefix;
    std::copy(address.begin(), address.end(), prefix.address.bytes.begin());
    prefix.length = length;
    return prefix;
}

}  // namespace

TEST_GROUP(Decision){};

TEST(Decision, aPacketSequenceIsThatOfItsBth) {
    std::array<std::uint8_t, 14 + 40 + 8 + 12> frame{};
    Parsed parsed;
    parsed.l3_offset = 14;
    const auto psn_at = [&](std::size_t ip_bytes) {
        const std::size_t at = 14 + ip_bytes + 8 + 9;
        frame[at] = 0xAB;
        frame[at + 1] = 0xCD;
        frame[at + 2] = 0xEF;
        const auto psn = packet_sequence(parsed, frame);
        frame[at] = frame[at + 1] = frame[at + 2] = 0;
        return psn;
    };
    parsed.kind = FrameKind::ipv4;
    frame[14] = 0x45;
    CHECK_FALSE(psn_at(20).has_value());  // no RoCE
    parsed.roce = true;
    LONGS_EQUAL(0xABCDEF, psn_at(20).value_or(0));
    frame[14] = 0x48;  // options
    LONGS_EQUAL(0xABCDEF, psn_at(32).value_or(0));
    CHECK_FALSE(packet_sequence(parsed, std::span(frame).first(14 + 32 + 8 + 11)).has_value());
    parsed.kind = FrameKind::ipv6;
    frame[14 + 6] = ip_protocol::udp;
    LONGS_EQUAL(0xABCDEF, psn_at(40).value_or(0));
    frame[14 + 6] = 0;  // extension headers
    CHECK_FALSE(psn_at(40).has_value());
}

TEST(Decision, anOpenFilterMatchesEverything) {
    CHECK_TRUE(FlowFilter{}.matches(v4_flow()));
    CHECK_TRUE(FlowFilter{}.matches(FlowKey{}));
}

TEST(Decision, aFilterRefusesWhatDiffersInOneField) {
    FlowFilter filter;
    filter.source = prefix({10, 0, 1, 2}, 32);
    filter.destination = prefix({10, 0, 2, 128}, 25);
    filter.source_port = std::uint16_t{49152};
    filter.destination_port = roce_udp_port;
    filter.destination_qp = 0x123456U;
    CHECK_TRUE(filter.matches(v4_flow()));
    const auto refused = [&](auto change) {
        FlowKey flow = v4_flow();
        change(flow);
        return !filter.matches(flow);
    };
    CHECK_TRUE(refused([](FlowKey& flow) { flow.source[3] = 3; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.destination[3] = 127; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.source_port = 1; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.destination_port = 1; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.destination_qp = 1; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.roce = false; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.kind = FrameKind::ipv6; }));
    CHECK_TRUE(refused([](FlowKey& flow) { flow.kind = FrameKind::other; }));
}

TEST(Decision, prefixesOfEveryLengthCoverTheirBitsOnly) {
    for (unsigned length = 0; length <= 32; ++length) {
        FlowFilter filter;
        filter.source = prefix({0xAA, 0xAA, 0xAA, 0xAA}, static_cast<std::uint8_t>(length));
        for (unsigned bit = 0; bit < 32; ++bit) {
            FlowKey flow = v4_flow();
            flow.source = {0xAA, 0xAA, 0xAA, 0xAA};
            flow.source[bit / 8] = static_cast<std::uint8_t>(flow.source[bit / 8] ^ 0x80U >> bit % 8);
            CHECK_EQUAL(bit >= length, filter.matches(flow));
        }
    }
}

TEST(Decision, aHeaderThatIsCutGivesNoAddresses) {
    std::array<std::uint8_t, 64> frame;
    frame.fill(7);
    Parsed parsed;
    parsed.l3_offset = 14;
    for (const FrameKind kind : {FrameKind::ipv4, FrameKind::ipv6}) {
        parsed.kind = kind;
        const std::size_t whole = 14 + (kind == FrameKind::ipv4 ? sizeof(Ipv4Header) : sizeof(Ipv6Header));
        for (std::size_t bytes = 0; bytes <= frame.size(); ++bytes) {
            const std::vector<std::uint8_t> exact(frame.begin(), frame.begin() + static_cast<int>(bytes));
            const FlowKey key = flow_key(parsed, exact);
            LONGS_EQUAL(bytes < whole ? 0 : 7, key.source[0]);
            LONGS_EQUAL(bytes < whole || kind == FrameKind::ipv4 ? 0 : 7, key.destination[15]);
        }
    }
}

TEST(Decision, theFilterChoosesByPortClassAndFlow) {
    DecisionFilter filter;
    CHECK_FALSE(filter.wants(0, 3, v4_flow()));  // off
    filter.enabled = true;
    CHECK_TRUE(filter.wants(255, 7, v4_flow()));
    filter.ingress = {};
    filter.ingress.add(64);
    filter.traffic_classes = 1U << 3;
    CHECK_TRUE(filter.wants(64, 3, v4_flow()));
    CHECK_FALSE(filter.wants(0, 3, v4_flow()));
    CHECK_FALSE(filter.wants(64, 2, v4_flow()));
    filter.any_flow = false;
    filter.flow.destination_qp = 1U;
    CHECK_FALSE(filter.wants(64, 3, v4_flow()));
}

TEST(Decision, aPauseKeepsTheFullestQueuesAndCountsTheRest) {
    // Any order in: most first, equal ones in order, the rest is summed.
    GroupPaused pause;
    std::uint32_t sum = 0;
    for (unsigned n = 0; n < 40; ++n) {
        const std::uint32_t cells = 1 + n * 7 % 13;
        sum += cells;
        add_most_first(pause.fillers, pause.filler_count, {cells, static_cast<PortId>(n), 0},
                       pause.other_queues);
    }
    LONGS_EQUAL(GroupPaused::max_fillers, pause.filler_count);
    std::uint32_t kept = 0;
    for (std::size_t n = 0; n < GroupPaused::max_fillers; ++n) {
        kept += pause.fillers[n].cells;
        if (n == 0) continue;
        const auto& before = pause.fillers[n - 1];
        CHECK_TRUE(before.cells > pause.fillers[n].cells ||
                   (before.cells == pause.fillers[n].cells && before.port < pause.fillers[n].port));
    }
    LONGS_EQUAL(13, pause.fillers[0].cells);
    LONGS_EQUAL(sum, kept + pause.other_queues);
}

TEST(Decision, aMaskHoldsPortsToTheLast) {
    PortMask mask;
    for (const PortId port : {0, 63, 64, 255}) mask.add(port);
    std::vector<PortId> seen;
    mask.for_each([&](PortId port) { seen.push_back(port); });
    CHECK_TRUE(seen == (std::vector<PortId>{0, 63, 64, 255}));
    CHECK_FALSE(mask.contains(1));
    CHECK_FALSE(mask == PortMask::all());
    CHECK_TRUE(PortMask::all().contains(255));
}

}  // namespace sluice::decision_event_test
