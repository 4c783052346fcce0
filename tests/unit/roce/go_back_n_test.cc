// Go-back-N, packet by packet (rc_traces.hh).
#include "tests/unit/roce/rc_traces.hh"

namespace sluice::go_back_n_test {
namespace {

using namespace sluice::roce;

constexpr std::uint32_t mtu = traced_mtu;

}  // namespace

TEST_GROUP_BASE(GoBackN, sluice::roce::RcTraces){};

TEST(GoBackN, nothingLost) { traces_send(joined(five_packets, {"< ack 4"})); }

TEST(GoBackN, firstLost) {
    lost_requests = {0};
    traces_send({"x send_first 0", "> send_middle 1", "> send_middle 2", "< nak 0", "> send_middle 3",
                 "> send_last 4*", "> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3",
                 "> send_last 4*", "< ack 4"});
}

TEST(GoBackN, middleLost) {
    lost_requests = {2};
    traces_send({"> send_first 0", "> send_middle 1", "x send_middle 2", "> send_middle 3", "> send_last 4*",
                 "< nak 2", "> send_middle 2", "> send_middle 3", "> send_last 4*", "< ack 4"});
}

// Nothing comes behind it, so that only the time-out finds the loss; and nothing was acknowledged.
TEST(GoBackN, lastLost) {
    lost_requests = {4};
    traces_send(
        joined({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "x send_last 4*"},
               joined(five_packets, {"< ack 4"})));
}

TEST(GoBackN, ackLost) {
    lost_answers = {0};
    traces_send(joined(five_packets, joined({"x ack 4"}, joined(five_packets, {"< ack 4"}))));
}

TEST(GoBackN, nakLost) {
    lost_requests = {2};
    lost_answers = {0};
    traces_send(joined({"> send_first 0", "> send_middle 1", "x send_middle 2", "> send_middle 3",
                        "> send_last 4*", "x nak 2"},
                       joined(five_packets, {"< ack 4"})));
}

// Packet 1 comes behind 2: one NAK for the gap; 1 closes it, and 3 opens the next.
TEST(GoBackN, reordered) {
    late_requests = {{1, 2}};
    traces_send({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "< nak 1",
                 "> send_last 4*", "< nak 2", "> send_middle 1", "> send_middle 2", "> send_middle 3",
                 "> send_last 4*", "< ack 4"});
    reorders(requests, 1, 1, 4);  // 1 behind 2; 1, 2, 3 and 4 had come
}

TEST(GoBackN, duplicateIsAcknowledgedAgain) {
    double_request = 0;
    copy_late_us = 5;
    traces({{Kind::write, mtu}}, {"> write_only 0*", "< ack 0", "< ack 0"});
}

TEST(GoBackN, overTheWrap) {
    requester.first_psn = responder.first_psn = 0xFF'FFFE;
    lost_requests = {2};
    traces_send({"> send_first 16777214", "> send_middle 16777215", "x send_middle 0", "> send_middle 1",
                 "> send_last 2*", "< nak 0", "> send_middle 0", "> send_middle 1", "> send_last 2*",
                 "< ack 2"});
}

TEST(GoBackN, failsWhenRetriesAreUsedUp) {
    requester.retry_count = 2;
    for (unsigned n = 0; n < 9; ++n) lost_requests.insert(n);
    const Lines both{"x send_only 0*", "x write_only 1*"};
    traces({{Kind::send, 1}, {Kind::write, 1}}, joined(both, joined(both, both)), true);
}

TEST(GoBackN, receiverNotReady) {
    busy = 1;
    traces({{Kind::send, 2 * mtu}},
           {"> send_first 0", "> send_last 1*", "< rnr 0", "> send_first 0", "> send_last 1*", "< ack 1"});
}

TEST(GoBackN, receiverNotReadyTooOften) {
    busy = 3;
    requester.rnr_retry = 2;
    traces({{Kind::send, 1}},
           {"> send_only 0*", "< rnr 0", "> send_only 0*", "< rnr 0", "> send_only 0*", "< rnr 0"}, true);
}

TEST(GoBackN, halfAWindowAsksForAnAck) {
    requester.window_bytes = 4 * mtu;
    traces({{Kind::send, 6 * mtu}},
           {"> send_first 0", "> send_middle 1*", "> send_middle 2", "< ack 1", "> send_middle 3*", "< ack 3",
            "> send_middle 4", "> send_last 5*", "< ack 5"});
}

TEST(GoBackN, windowBelowAPacketLetsOneGo) {
    requester.window_bytes = 1;
    traces({{Kind::write, 2 * mtu}}, {"> write_first 0*", "< ack 0", "> write_last 1*", "< ack 1"});
}

TEST(GoBackN, someNumberOfPacketsAsksForAnAck) {
    requester.ack_every = 2;
    traces_send({"> send_first 0", "> send_middle 1*", "> send_middle 2", "< ack 1", "> send_middle 3*",
                 "> send_last 4*", "< ack 3", "< ack 4"});
}

TEST(GoBackN, responderCoalescesAcks) {
    responder.ack_every = 2;
    traces_send({"> send_first 0", "> send_middle 1", "> send_middle 2", "< ack 1", "> send_middle 3",
                 "> send_last 4*", "< ack 3", "< ack 4"});
}

TEST(GoBackN, read) {
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "< read_response_last 4"});
}

TEST(GoBackN, readRequestLost) {
    lost_requests = {0};
    traces_read({"x read_request 0", "> read_request 0", "< read_response_first 0",
                 "< read_response_middle 1", "< read_response_middle 2", "< read_response_middle 3",
                 "< read_response_last 4"});
}

TEST(GoBackN, firstResponseLost) {
    lost_answers = {0};
    traces_read({"> read_request 0", "x read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "> read_request 0",
                 "< read_response_last 4", "< read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "< read_response_last 4"});
}

TEST(GoBackN, middleResponseLost) {
    lost_answers = {2};
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "x read_response_middle 2", "< read_response_middle 3", "< read_response_last 4",
                 "> read_request 2", "< read_response_first 2", "< read_response_middle 3",
                 "< read_response_last 4"});
}

TEST(GoBackN, lastResponseLost) {
    lost_answers = {4};
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "x read_response_last 4",
                 "> read_request 4", "< read_response_only 4"});
}

// The request comes again while its responses are being sent: they are begun again.
TEST(GoBackN, duplicateReadIsAnsweredAgain) {
    double_request = 0;
    copy_late_us = 5;
    traces({{Kind::read, 2 * mtu}}, {"> read_request 0", "< read_response_first 0", "< read_response_last 1",
                                     "< read_response_first 0", "< read_response_last 1"});
}

// The ACK of the SEND behind it says that the READ's responses are lost.
TEST(GoBackN, anAckDoesNotCompleteARead) {
    lost_answers = {2};
    traces({{Kind::send, 1}, {Kind::read, 2 * mtu}, {Kind::send, 1}},
           {"> send_only 0*", "> read_request 1", "< ack 0", "> send_only 3*", "< read_response_first 1",
            "x read_response_last 2", "< ack 3", "> read_request 2", "> send_only 3*",
            "< read_response_only 2", "< ack 3"});
}

TEST(GoBackN, responsesAcknowledgeWhatLiesBefore) {
    lost_answers = {0};
    traces({{Kind::send, 1}, {Kind::read, 1}},
           {"> send_only 0*", "> read_request 1", "x ack 0", "< read_response_only 1"});
}

TEST(GoBackN, readsWithinTheirNumber) {
    requester.max_reads = 1;
    traces({{Kind::read, 1}, {Kind::write, 1}, {Kind::read, 1}},
           {"> read_request 0", "> write_only 1*", "< read_response_only 0", "< ack 1", "> read_request 2",
            "< read_response_only 2"});
}

}  // namespace sluice::go_back_n_test
