// Queue pairs of a NIC that come and go with the flows of a list.
#include <algorithm>
#include <vector>

#include "tests/tries.hh"
#include "tests/unit/roce/nic_pair.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::nic_test {
namespace {

// Without queue pairs that are there from the start, and flows that post by themselves.
NicPair transfers_only(std::vector<ListedTransfer> transfers) {
    NicPair pair;
    pair.flow_of_qp.clear();
    pair.flows[0].arrivals.kind = ArrivalKind::at_time;
    pair.flows[0].arrivals.depth = 0;
    pair.flows[0].requester.messages = 2;
    pair.transfers = std::move(transfers);
    return pair;
}
ListedTransfer transfer(std::uint64_t bytes, Time start) { return {bytes, start, 0, 0, 0, 0}; }

}  // namespace

TEST_GROUP(Transfers){};

TEST(Transfers, transfersComeAndGo) {
    std::vector<ListedTransfer> list;
    std::uint64_t bytes = 0;
    for (std::uint32_t n = 0; n < 100; ++n) {
        // Not in the order of their start; three at a time.
        list.push_back(transfer(1 + 997 * n, us((n * 37 % 100) / 3 * 20)));
        bytes += list.back().bytes;
    }
    NicPair pair = transfers_only(list);
    LONGS_EQUAL(0, pair.nic(0).open_queue_pairs());
    std::size_t most = 0;
    for (unsigned n = 0; n < 1000; ++n) {
        pair.run(us(n));
        most = std::max(most, pair.nic(0).open_queue_pairs());
    }
    CHECK_TRUE(most >= 3 && most < 16);
    for (unsigned end = 0; end < 2; ++end) {
        pair.nic(end).expire(pair.now);
        LONGS_EQUAL(0, pair.nic(end).open_queue_pairs());
        CHECK_FALSE(pair.nic(end).next_timer().has_value());
        LONGS_EQUAL(0, pair.nic(end).ready().size());
    }
    const QpTotals &sent = pair.nic(0).gone()[0], &came = pair.nic(1).gone()[0];
    LONGS_EQUAL(100, sent.requesters);
    LONGS_EQUAL(100, sent.qp.completed);
    LONGS_EQUAL(bytes, sent.qp.completed_bytes);
    LONGS_EQUAL(100, came.qp.delivered);
    LONGS_EQUAL(bytes, came.qp.delivered_bytes);
    LONGS_EQUAL(0, came.qp.wrong_payload);
    LONGS_EQUAL(100, pair.nic(0).flow_statistics(0).completion_time.count());
    LONGS_EQUAL(0, pair.nic(0).statistics().strangers + pair.nic(1).statistics().strangers);
}

TEST(Transfers, aTransferStartsWhenThoseThatItWaitsForHaveEnded) {
    NicPair pair =
        transfers_only({transfer(100'000, us(5)), transfer(50'000, us(1)), transfer(1'000, us(3))});
    pair.transfers[2].waits = 2;
    pair.order = {{0, 2}, {1, 2}};
    pair.run(us(1000));
    pair.nic(0).expire(pair.now);
    LONGS_EQUAL(3, pair.nic(0).gone()[0].qp.completed);
    // The last acknowledgement of the first comes, 3 us pass, the third begins.
    const auto first_of = [&](std::uint32_t qp) {
        return std::ranges::find(pair.sent[0], qp, [](const Sent& each) { return each.packet.qp; })->at;
    };
    Time ended{};
    for (const Sent& each : pair.sent[1])
        if (each.packet.qp == first_qp) ended = each.at + line.byte_time() * wire_bytes(each.bytes) + cable;
    LONGS_EQUAL((ended + microseconds(3)).ps, first_of(first_qp + 2).ps);
}

TEST(Transfers, aRepeatedPacketOfATransferThatHasGoneIsAnswered) {
    for (const Recovery recovery : {Recovery::go_back_n, Recovery::selective}) {
        NicPair pair = transfers_only({transfer(10'000, us(5))});
        pair.flows[0].requester.recovery.kind = pair.flows[0].responder.recovery.kind = recovery;
        unsigned acks = 0;
        pair.loses = [&acks](unsigned end, const Incoming&) { return end == 1 && ++acks == 1; };
        pair.run(us(100));
        pair.nic(1).expire(pair.now);
        LONGS_EQUAL(0, pair.nic(1).open_queue_pairs());
        LONGS_EQUAL(1, pair.nic(0).open_queue_pairs());
        pair.run(us(2000));
        for (unsigned end = 0; end < 2; ++end) {
            pair.nic(end).expire(pair.now);
            LONGS_EQUAL(0, pair.nic(end).open_queue_pairs());
        }
        LONGS_EQUAL(1, pair.nic(0).gone()[0].qp.completed);
        LONGS_EQUAL(1, pair.nic(1).gone()[0].qp.delivered);
        LONGS_EQUAL(10'000, pair.nic(1).gone()[0].qp.delivered_bytes);
        CHECK_TRUE(pair.nic(1).gone()[0].duplicates > 0);
    }
}

TEST(Transfers, aCnpForATransferThatHasGoneIsCounted) {
    NicPair pair = transfers_only({transfer(10'000, us(5))});
    pair.marks = true;
    pair.settings[1].cnp_interval = {};
    pair.allowed[1] = 0xFF & ~(1U << cnp_class);
    pair.run(us(100));
    pair.nic(0).expire(pair.now);
    LONGS_EQUAL(0, pair.nic(0).open_queue_pairs());
    LONGS_EQUAL(1, pair.nic(1).open_queue_pairs());  // its CNPs wait
    pair.allowed[1] = 0xFF;
    pair.run(us(200));
    pair.nic(1).expire(pair.now);
    LONGS_EQUAL(0, pair.nic(1).open_queue_pairs());
    LONGS_EQUAL(10, pair.nic(1).gone()[0].qp.cnps_sent);
    LONGS_EQUAL(10, pair.nic(0).gone()[0].qp.cnps_received);
}

TEST(Transfers, aStopKeepsTransfersThatHaveNotStarted) {
    NicPair pair =
        transfers_only({transfer(10'000, us(5)), transfer(10'000, us(50)), transfer(10'000, us(0))});
    pair.transfers[2].waits = 1;
    pair.order = {{0, 2}};
    pair.run(us(5));
    pair.nic(0).stop(pair.now);
    pair.run(us(1000));
    pair.nic(0).expire(pair.now);
    LONGS_EQUAL(1, pair.nic(0).gone()[0].qp.completed);
    CHECK_FALSE(pair.nic(0).next_timer().has_value());
}

TEST(Transfers, noTransferOfAFlowBeginsAtItsStopOrLater) {
    NicPair pair =
        transfers_only({transfer(10'000, us(5)), transfer(10'000, us(50)), transfer(10'000, us(49)),
                        transfer(10'000, us(44)), transfer(10'000, us(0))});
    pair.transfers[3].waits = pair.transfers[4].waits = 1;
    pair.order = {{0, 3}, {0, 4}};  // the first ends between 6 us and 44 us
    pair.flows[0].stop = us(50);
    pair.run(us(1000));
    pair.nic(0).expire(pair.now);
    LONGS_EQUAL(3, pair.nic(0).gone()[0].qp.completed);
    LONGS_EQUAL(0, pair.nic(0).open_queue_pairs());
    CHECK_FALSE(pair.nic(0).next_timer().has_value());
}

// SLUICE_LONG=1: it is 655 361 packets.
TEST(Transfers, aTransferOfSeveralMessagesEndsOnce) {
    if (!is_long()) return;
    constexpr std::uint64_t bytes = 2'684'354'561;
    NicPair pair = transfers_only({transfer(bytes, us(5)), transfer(1'000, us(0))});
    pair.transfers[1].waits = 1;
    pair.order = {{0, 1}};
    pair.flows[0].requester.mtu = pair.flows[0].responder.mtu = 4096;
    pair.traces = false;
    pair.run(us(1'000'000));
    for (unsigned end = 0; end < 2; ++end) {
        pair.nic(end).expire(pair.now);
        LONGS_EQUAL(0, pair.nic(end).open_queue_pairs());
    }
    LONGS_EQUAL(2, pair.nic(0).gone()[0].qp.completed);
    CHECK_TRUE(bytes + 1'000 == pair.nic(0).gone()[0].qp.completed_bytes);
    CHECK_TRUE(bytes + 1'000 == pair.nic(1).gone()[0].qp.delivered_bytes);
    LONGS_EQUAL(2, pair.nic(0).flow_statistics(0).completion_time.count());
}

}  // namespace sluice::nic_test
