// The NIC of a host by itself, and two of them with a wire between that loses nothing.
#include <memory>
#include <vector>

#include "tests/unit/roce/nic_pair.hh"

#include "CppUTest/TestHarness.h"
// Not complete without it.
#include "CppUTest/MemoryLeakDetector.h"
#include "CppUTest/MemoryLeakWarningPlugin.h"

namespace sluice::nic_test {
TEST_GROUP(Nic){};

TEST(Nic, framesForOthersAreCountedAndDoNothing) {
    NicPair pair;
    const auto receive = [&](const Route& route, std::uint32_t qp, bool corrupt) {
        PacketWriter writer(route, qp);
        Outgoing packet;
        packet.payload_bytes = 100;
        std::vector<std::uint8_t> bytes(writer.frame_bytes(packet));
        writer.write(packet, bytes);
        if (corrupt) bytes[80] ^= 1;
        pair.nic(1).receive(bytes, us(1));
    };
    Route route;
    route.source = NicPair::address(0);
    route.destination = NicPair::address(1);
    receive(route, first_qp, true);
    receive(route, first_qp + 1, false);
    receive(route, first_qp - 1, false);
    Route from_another = route;
    from_another.source = NicPair::address(2);
    receive(from_another, first_qp, false);
    Route to_another = route;
    to_another.destination = NicPair::address(3);
    receive(to_another, first_qp, false);
    LONGS_EQUAL(1, pair.nic(1).statistics().refused);
    LONGS_EQUAL(4, pair.nic(1).statistics().strangers);
    CHECK_TRUE(pair.nic(1).ready().empty());
    LONGS_EQUAL(0, pair.nic(1).queue_pairs()[0].statistics.delivered);
    receive(route, first_qp, false);
    LONGS_EQUAL(1, pair.nic(1).queue_pairs()[0].statistics.delivered);
}

TEST(Nic, noMessageComesAfterItsCountOrItsStop) {
    NicPair pair;
    pair.run(us(1000));
    LONGS_EQUAL(4, pair.nic(0).queue_pairs()[0].statistics.completed);

    NicPair stopped;
    stopped.flows[0].messages = UINT64_MAX;
    stopped.flows[0].stop = us(20);
    stopped.run(us(1000));
    // A message takes 0.9 us of the wire and a round trip of 2.1 us.
    const std::uint64_t completed = stopped.nic(0).queue_pairs()[0].statistics.completed;
    CHECK_TRUE(completed >= 6 && completed <= 7);
    CHECK_TRUE(stopped.sent[0].back().at < us(24));
}

TEST(Nic, aStopEndsWhatIsToComeAndNothingThatCame) {
    NicPair pair;
    pair.flows.push_back(pair.flows[0]);
    pair.flows[0].messages = UINT64_MAX;
    pair.flows[1].arrivals.start = us(100);
    pair.flow_of_qp = {0, 1};
    pair.run(us(20));
    pair.nic(0).stop(us(20));
    const std::uint64_t completed = pair.nic(0).queue_pairs()[0].statistics.completed;
    LONGS_EQUAL(1, pair.nic(0).queue_pairs()[0].requester()->posted());
    const auto timer = pair.nic(0).next_timer();
    CHECK_TRUE(!timer || *timer > us(100));
    pair.run(us(1000));
    LONGS_EQUAL(completed + 1, pair.nic(0).queue_pairs()[0].statistics.completed);
    LONGS_EQUAL(completed + 1, pair.nic(1).queue_pairs()[0].statistics.delivered);
    LONGS_EQUAL(0, pair.nic(0).queue_pairs()[1].statistics.completed);
    LONGS_EQUAL(0, pair.nic(0).queue_pairs()[0].requester()->posted());
}

TEST(Nic, aPausedClassFillsItsRingAndStopsNobodyElse) {
    NicPair pair;
    pair.flows.push_back(pair.flows[0]);
    pair.flows[1].data.priority = 2;
    pair.flow_of_qp = {0, 0, 1};
    for (FlowSettings& flow : pair.flows) flow.requester.timeout = seconds(1);
    pair.allowed[0] = ~(1U << data_class);
    pair.run(us(100));
    const auto qps = pair.nic(0).queue_pairs();
    LONGS_EQUAL(pair.settings[0].ring_frames,
                qps[0].statistics.data_packets + qps[1].statistics.data_packets);
    LONGS_EQUAL(2, qps[0].statistics.data_packets);
    LONGS_EQUAL(4, qps[2].statistics.completed);
    CHECK_TRUE(qps[0].paced_until() < us(1));  // at its time, though no frame started
    pair.allowed[0] = 0xFF;
    pair.run(us(200));
    LONGS_EQUAL(8, qps[0].statistics.completed + qps[1].statistics.completed);
}

TEST(Nic, cnpsGoBeforeAcksAndThoseBeforeData) {
    NicPair pair;
    pair.flows[0].kind = Kind::write;
    pair.flows[0].messages = 1;
    pair.flows.push_back(pair.flows[0]);
    pair.flows[1].kind = Kind::read;
    pair.flow_of_qp = {0, 1};
    pair.marks = true;
    pair.allowed[1] = 0;
    pair.run(us(50));
    pair.allowed[1] = 0xFF;
    pair.run(us(100));
    CHECK_TRUE(pair.sent[1].size() > 4);
    for (std::size_t n = 0; n < 2; ++n) {  // of each queue pair
        CHECK_TRUE(pair.sent[1][n].packet.opcode == Opcode::cnp);
        LONGS_EQUAL(cnp_class, pair.sent[1][n].priority);
        LONGS_EQUAL(48, pair.sent[1][n].packet.dscp);
    }
    CHECK_TRUE(pair.sent[1][2].packet.opcode == Opcode::acknowledge);
    LONGS_EQUAL(ack_class, pair.sent[1][2].priority);
    CHECK_TRUE(pair.sent[1][3].packet.opcode == Opcode::read_response_first);
    LONGS_EQUAL(data_class, pair.sent[1][3].priority);
}

TEST(Nic, dataKeepsTheRateOfItsQueuePair) {
    NicPair pair;
    pair.settings[0].reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, line);
    pair.flows[0].sizes = MessageSizes::fixed(1'000'000);
    pair.flows[0].messages = 1;
    pair.marks = true;
    pair.run(us(40));
    // A CNP has come: from then on half of the rate.
    const QueuePair& qp = pair.nic(0).queue_pairs()[0];
    LONGS_EQUAL(1, qp.statistics.cnps_received);
    LONGS_EQUAL(line.bits_per_second / 2, qp.reaction().rate().bits_per_second);
    const auto& sent = pair.sent[0];
    const Sent& last = sent.back();
    CHECK_TRUE(last.at - sent[sent.size() - 2].at == pace(wire_bytes(last.bytes), qp.reaction().rate()));
    CHECK_TRUE(sent[2].at - sent[1].at == line.byte_time() * wire_bytes(sent[1].bytes));
}

TEST(Nic, aNewMessageWaitsForTheRate) {
    NicPair pair;
    pair.settings[0].reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, line);
    pair.settings[1].cnp_interval = {};
    pair.flows[0].sizes = MessageSizes::fixed(1000);
    pair.flows[0].messages = UINT64_MAX;
    pair.marks = true;
    pair.run(us(2000));
    // 1098 bytes at 100 Mb/s; a round trip takes 2 us.
    const auto& sent = pair.sent[0];
    const Duration gap = sent.back().at - sent[sent.size() - 2].at;
    CHECK_TRUE(gap >= pace(wire_bytes(sent.back().bytes), {200'000'000}));
}

TEST(Nic, readResponsesKeepTheRateOfTheResponder) {
    NicPair pair;
    pair.settings[1].reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, line);
    pair.flows[0].kind = Kind::read;
    pair.flows[0].sizes = MessageSizes::fixed(1'000'000);
    pair.flows[0].messages = 1;
    pair.marks = true;
    pair.run(us(40));
    LONGS_EQUAL(line.bits_per_second / 2, pair.nic(1).queue_pairs()[0].reaction().rate().bits_per_second);
    const auto& sent = pair.sent[1];
    CHECK_TRUE(sent.back().at - sent[sent.size() - 2].at ==
               pace(wire_bytes(sent.back().bytes), {line.bits_per_second / 2}));
    LONGS_EQUAL(1, pair.nic(0).queue_pairs()[0].statistics.cnps_sent);
}

TEST(Nic, cnpsFollowIntervalScopeAndMisconfiguration) {
    const auto cnps = [](auto change) {
        NicPair pair;
        pair.flows[0].sizes = MessageSizes::fixed(100'000);
        pair.flow_of_qp = {0, 0, 0};
        pair.flows[0].messages = 1;
        pair.marks = true;
        for (NicSettings& each : pair.settings) {
            each.reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, line);
            change(each);
        }
        pair.run(us(50'000));  // at 100 Mb/s a packet takes 88 us
        std::uint64_t sum = 0;
        for (const QueuePair& qp : pair.nic(0).queue_pairs()) sum += qp.statistics.cnps_received;
        return std::pair(sum, pair.nic(0).queue_pairs()[0].reaction().rate() < line);
    };
    constexpr std::uint64_t packets = 3 * 98;
    CHECK_TRUE(cnps([](NicSettings& nic) { nic.cnp_interval = {}; }).first == packets);
    CHECK_TRUE(cnps([](NicSettings& nic) { nic.cnp_interval = seconds(1); }) ==
               std::pair(std::uint64_t{3}, true));
    CHECK_TRUE(cnps([](NicSettings& nic) {
                   nic.cnp_interval = seconds(1);
                   nic.cnp_scope = CnpScope::peer;
               }).first == 1);
    CHECK_TRUE(cnps([](NicSettings& nic) { nic.echo_ce = false; }) == std::pair(std::uint64_t{0}, false));
    const auto deaf = cnps([](NicSettings& nic) { nic.ignore_cnp = true; });
    CHECK_TRUE(deaf.first > 0 && !deaf.second);
}

// What a CE is owed: a CNP, unless one went within the interval.
TEST(Nic, remembersSinceWhenItOwesACnp) {
    const auto owes = [](NicPair& pair) { return pair.nic(1).statistics().unanswered_since; };
    NicPair mute;
    mute.marks = true;
    mute.settings[1].echo_ce = false;
    mute.run(us(3000));
    CHECK_TRUE(owes(mute).has_value() && *owes(mute) < us(5));
    mute.nic(1).set_notification(true, false);
    CHECK_FALSE(owes(mute).has_value());

    NicPair right;
    right.marks = true;
    right.settings[1].cnp_interval = seconds(1);
    right.allowed[1] = 0xFF & ~(1U << cnp_class);
    right.run(us(10));
    CHECK_TRUE(owes(right).has_value());  // its CNP waits
    right.allowed[1] = 0xFF;
    right.run(us(3000));
    LONGS_EQUAL(1, right.nic(1).queue_pairs()[0].statistics.cnps_sent);
    CHECK_TRUE(right.nic(1).queue_pairs()[0].statistics.ce_received > 30);
    CHECK_FALSE(owes(right).has_value());  // the others came within the interval
}

TEST(Nic, cnpsThatWaitAreAllSent) {
    NicPair pair;
    pair.marks = true;
    pair.settings[1].cnp_interval = {};
    pair.allowed[1] = 0xFF & ~(1U << cnp_class);
    pair.run(us(10));
    const QpStatistics& statistics = pair.nic(1).queue_pairs()[0].statistics;
    CHECK_TRUE(statistics.ce_received > 10 && statistics.cnps_sent == 0);
    pair.allowed[1] = 0xFF;
    pair.run(us(3000));
    LONGS_EQUAL(statistics.ce_received, statistics.cnps_sent);
}

TEST(Nic, aMessageThatWaitsForRoomHasTakenAllTheWhile) {
    NicPair pair;
    pair.flows[0].arrivals.kind = ArrivalKind::at_time;
    pair.flows[0].arrivals.start = us(10);
    pair.flows[0].arrivals.depth = 4;
    pair.flows[0].requester.messages = 1;
    pair.run(us(1000));
    const FlowStatistics& flow = pair.nic(0).flow_statistics(0);
    LONGS_EQUAL(4, flow.completion_time.count());
    // In sequence, each with its own round trip: 10 836 bytes, an ACK of 98 and two cables, 2.87 us.
    CHECK_TRUE(flow.completion_time.max() > nanoseconds(11'480) &&
               flow.completion_time.max() < nanoseconds(11'510));
    CHECK_TRUE(flow.slowdown.quantile(1).ps >= 1'000 && flow.slowdown.quantile(1).ps < 1'130);
    CHECK_TRUE(flow.slowdown.max().ps > 3'800 && flow.slowdown.max().ps < 4'300);
}

TEST(Nic, queuePairsTakeTurns) {
    NicPair pair;
    pair.flow_of_qp = {0, 0, 0, 0};
    pair.flows[0].messages = 1;
    pair.run(us(2));
    for (std::size_t n = 0; n < 16; ++n) LONGS_EQUAL(first_qp + n % 4, pair.sent[0][n].packet.qp);
}

TEST(Nic, framesOfAllClassesLeaveInTheOrderOfTheirTurns) {
    NicPair pair;
    pair.flows[0].messages = 1;
    pair.flows.push_back(pair.flows[0]);
    pair.flows[1].data.priority = data_class + 1;
    pair.flow_of_qp = {0, 1};
    pair.run(us(2));
    for (std::size_t n = 0; n < 16; ++n) LONGS_EQUAL(first_qp + n % 2, pair.sent[0][n].packet.qp);
}

TEST(Nic, nothingIsAllocatedPerPacket) {
    NicPair pair;
    pair.flow_of_qp.resize(100);
    pair.flows[0].messages = UINT64_MAX;
    pair.settings[0].reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, line);
    Nic& nic = pair.nic(0);
    std::vector<std::uint8_t> bytes(max_packet_bytes);
    MemoryLeakDetector* detector = MemoryLeakWarningPlugin::getGlobalDetector();
    const unsigned before = detector->getCurrentAllocationNumber();
    nic.expire(us(1));
    for (unsigned n = 0; n < 900; ++n) {
        const auto frame = nic.next_frame(us(2 + n), 0xFF);
        CHECK_TRUE(frame.has_value());
        nic.write(*frame, bytes);
        nic.receive(std::span(bytes).first(frame->bytes), us(2 + n));
    }
    LONGS_EQUAL(before, detector->getCurrentAllocationNumber());
    const auto proof = std::make_unique<int>(0);
    CHECK_TRUE(before < detector->getCurrentAllocationNumber());
}

}  // namespace sluice::nic_test
