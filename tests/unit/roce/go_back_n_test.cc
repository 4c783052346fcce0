// The packets of two end points, one by one: `>` a request, `<` an answer, `x` either one that the wire
// loses, `*` asks for an acknowledgement. Each sends at most one a microsecond, answers first; a flight takes
// two, so an answer to what is sent at 0 is sent at 2, and read at 4.
#include <set>

#include "tests/unit/roce/rc_pair.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;
using namespace sluice::roce;
using Kind = Requester::Kind;
using Lines = std::vector<std::string>;

constexpr std::uint32_t mtu = 256;

Lines joined(Lines first, const Lines& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

const Lines five_packets{"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3",
                         "> send_last 4*"};

}  // namespace

TEST_GROUP(GoBackN) {
    RequesterSettings requester{.mtu = mtu, .timeout = microseconds(50)};
    ResponderSettings responder{.mtu = mtu};
    std::set<unsigned> lost_requests, lost_answers;  // by the order of sending
    unsigned late_request = ~0U, late_us = 0, double_request = ~0U;
    unsigned busy = 0;  // SENDs that find no receive buffer

    Fate fate(bool there, unsigned n) const {
        Fate fate;
        if ((there ? lost_requests : lost_answers).count(n) != 0) fate.copies = 0;
        if (there && n == late_request) fate.late_us = late_us;
        if (there && n == double_request) fate = {.copies = 2, .copy_late_us = late_us};
        return fate;
    }

    void traces(const std::vector<std::pair<Kind, std::uint32_t>>& messages, const Lines& wanted,
                bool fails = false) {
        RcPair pair(requester, responder);
        pair.fate = [&](bool there, unsigned n) { return fate(there, n); };
        pair.rnr = [&]() -> std::optional<std::uint8_t> {
            if (busy == 0) return std::nullopt;
            --busy;
            return std::uint8_t{1};
        };
        for (const auto& [kind, bytes] : messages) CHECK_TRUE(pair.post(kind, bytes));
        pair.run(seconds(1));
        STRCMP_EQUAL("", pair.complaint().c_str());
        for (std::size_t n = 0; n < std::min(wanted.size(), pair.trace().size()); ++n)
            STRCMP_EQUAL(wanted[n].c_str(), pair.trace()[n].c_str());
        LONGS_EQUAL(wanted.size(), pair.trace().size());
        LONGS_EQUAL(messages.size(), pair.completions().size());
        for (const auto& completion : pair.completions()) CHECK_EQUAL(fails, completion.failed);
        LONGS_EQUAL(0, pair.requester().outstanding_bytes() * (fails ? 0 : 1));
        CHECK_FALSE(pair.requester().next_timer().has_value());
    }
    // Of a SEND of five packets.
    void traces_send(const Lines& wanted) { traces({{Kind::send, 5 * mtu}}, wanted); }
    void traces_read(const Lines& wanted) { traces({{Kind::read, 5 * mtu}}, wanted); }
};

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
    late_request = 1;
    late_us = 2;
    traces_send({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "< nak 1",
                 "> send_last 4*", "< nak 2", "> send_middle 1", "> send_middle 2", "> send_middle 3",
                 "> send_last 4*", "< ack 4"});
}

TEST(GoBackN, duplicateIsAcknowledgedAgain) {
    double_request = 0;
    late_us = 5;
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
    late_us = 5;
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
    requester.most_reads = 1;
    traces({{Kind::read, 1}, {Kind::write, 1}, {Kind::read, 1}},
           {"> read_request 0", "> write_only 1*", "< read_response_only 0", "< ack 1", "> read_request 2",
            "< read_response_only 2"});
}
