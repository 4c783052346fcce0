// Selective recovery: packet by packet (rc_traces.hh; "nak 2-3" names a hole, its end excluded), both ends
// alone, and over wires that only reorder.
#include "lib/values/rng.hh"
#include "tests/unit/roce/incoming.hh"
#include "tests/unit/roce/rc_traces.hh"

namespace sluice::selective_test {
namespace {

using namespace sluice::roce;
using State = Requester::State;

constexpr std::uint32_t mtu = traced_mtu;
static_assert(mtu == incoming_mtu);
constexpr RecoverySettings at_once{Recovery::selective, min_receive_window, {}};
constexpr RecoverySettings patient{Recovery::selective, min_receive_window, microseconds(5)};
}  // namespace

TEST_GROUP_BASE(Selective, sluice::roce::RcTraces){void setup() override{recovers(at_once);
}  // namespace sluice::selective_test
void recovers(const RecoverySettings& recovery) { requester.recovery = responder.recovery = recovery; }
}
;

TEST(Selective, nothingLost) { traces_send(joined(five_packets, {"< ack 4"})); }

TEST(Selective, firstLost) {
    lost_requests = {0};
    traces_send({"x send_first 0", "> send_middle 1", "> send_middle 2", "< nak 0-1", "> send_middle 3",
                 "> send_last 4*", "> send_first 0*", "< ack 4"});
}

TEST(Selective, middleLost) {
    lost_requests = {2};
    traces_send({"> send_first 0", "> send_middle 1", "x send_middle 2", "> send_middle 3", "> send_last 4*",
                 "< nak 2-3", "> send_middle 2*", "< ack 4"});
}

// Nothing comes behind it, so that only the time-out finds the loss. The oldest packet asks how far all came.
TEST(Selective, lastLost) {
    lost_requests = {4};
    traces_send({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "x send_last 4*",
                 "> send_first 0*", "< ack 3", "> send_last 4*", "< ack 4"});
    LONGS_EQUAL(1, timeouts);
    reorders(requests, 0, 0, 1);
}

TEST(Selective, ackLost) {
    lost_answers = {0};
    traces_send(joined(five_packets, {"x ack 4", "> send_first 0*", "< ack 4"}));
}

TEST(Selective, nakLost) {
    lost_requests = {2};
    lost_answers = {0};
    traces_send({"> send_first 0", "> send_middle 1", "x send_middle 2", "> send_middle 3", "> send_last 4*",
                 "x nak 2-3", "> send_first 0*", "< ack 1", "> send_middle 2*", "< ack 4"});
}

TEST(Selective, twoHoles) {
    lost_requests = {1, 3};
    traces_send({"> send_first 0", "x send_middle 1", "> send_middle 2", "x send_middle 3", "< nak 1-2",
                 "> send_last 4*", "< nak 3-4", "> send_middle 1*", "< ack 2", "> send_middle 3*",
                 "< ack 4"});
}

TEST(Selective, aHoleOfThree) {
    lost_requests = {1, 2, 3};
    traces_send({"> send_first 0", "x send_middle 1", "x send_middle 2", "x send_middle 3", "> send_last 4*",
                 "< nak 1-4", "> send_middle 1", "> send_middle 2", "> send_middle 3*", "< ack 4"});
}

TEST(Selective, resendLost) {
    lost_requests = {2, 5};
    traces_send({"> send_first 0", "> send_middle 1", "x send_middle 2", "> send_middle 3", "> send_last 4*",
                 "< nak 2-3", "x send_middle 2*", "> send_first 0*", "< ack 1", "> send_middle 2*",
                 "< ack 4"});
}

TEST(Selective, reorderedWithinTheWindow) {
    recovers(patient);
    late_requests = {{1, 4}, {3, 1}};
    traces_send(joined(five_packets, {"< ack 4"}));
    // Order: 0, 2, 3 and 4 at 6 us, 1 at 7 us.
    reorders(requests, 1, 3, 0);
}

// 2 comes at 4 us, so that 1 is lost at 9; 1 comes then, and the NAK is not true any more.
TEST(Selective, reorderedToTheEndOfTheWindow) {
    recovers(patient);
    late_requests = {{1, 6}};
    traces_send(joined(five_packets, {"< ack 4"}));
    late_requests = {{1, 7}};
    traces_send(joined(five_packets, {"< nak 1-2", "< ack 4", "> send_middle 1*", "< ack 4"}));
    reorders(requests, 1, 3, 1);
}

TEST(Selective, reorderedBeyondTheWindow) {
    late_requests = {{1, 2}};
    traces_send({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "< nak 1-2",
                 "> send_last 4*", "< ack 4", "> send_middle 1*", "< ack 4"});
    reorders(requests, 1, 1, 1);
}

TEST(Selective, overTheWrap) {
    requester.first_psn = responder.first_psn = 0xFF'FFFE;
    lost_requests = {1};
    traces_send({"> send_first 16777214", "x send_middle 16777215", "> send_middle 0", "> send_middle 1",
                 "< nak 16777215-0", "> send_last 2*", "> send_middle 16777215*", "< ack 2"});
}

TEST(Selective, failsWhenRetriesAreUsedUp) {
    requester.retry_count = 2;
    for (unsigned n = 0; n < 9; ++n) lost_requests.insert(n);
    traces({{Kind::send, 1}, {Kind::write, 1}},
           {"x send_only 0*", "x write_only 1*", "x send_only 0*", "x send_only 0*"}, true);
}

// As what came early is dropped while there is no buffer, all is sent again.
TEST(Selective, receiverNotReady) {
    busy = 1;
    traces({{Kind::send, 2 * mtu}},
           {"> send_first 0", "> send_last 1*", "< rnr 0", "> send_first 0", "> send_last 1*", "< ack 1"});
}

TEST(Selective, firstResponseLost) {
    lost_answers = {0};
    traces_read({"> read_request 0", "x read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "> read_request 0",
                 "< read_response_last 4", "< read_response_only 0"});
}

TEST(Selective, middleResponseLost) {
    lost_answers = {2};
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "x read_response_middle 2", "< read_response_middle 3", "< read_response_last 4",
                 "> read_request 2", "< read_response_only 2"});
}

TEST(Selective, lastResponseLost) {
    lost_answers = {4};
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "x read_response_last 4",
                 "> read_request 4", "< read_response_only 4"});
}

TEST(Selective, responsesReordered) {
    recovers(patient);
    late_answers = {{1, 2}};
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "< read_response_middle 2", "< read_response_middle 3", "< read_response_last 4"});
    reorders(responses, 1, 1, 0);
}

TEST(Selective, anAckShowsThatAResponseIsLost) {
    lost_answers = {1};
    traces({{Kind::read, 2 * mtu}, {Kind::send, 1}},
           {"> read_request 0", "> send_only 2*", "< read_response_first 0", "x read_response_last 1",
            "< ack 2", "> read_request 1", "< read_response_only 1"});
    LONGS_EQUAL(0, timeouts);
}

TEST(Selective, readRequestLost) {
    lost_requests = {0};
    traces({{Kind::read, 2 * mtu}, {Kind::write, 1}},
           {"x read_request 0", "> write_only 2*", "< nak 0-2", "> read_request 0", "< read_response_first 0",
            "< read_response_last 1", "< ack 2"});
}

TEST(Selective, anEarlyReadHasAllItsPsns) {
    lost_requests = {0};
    traces({{Kind::send, 1}, {Kind::read, 2 * mtu}, {Kind::write, 1}},
           {"x send_only 0*", "> read_request 1", "> write_only 3*", "< nak 0-1", "> send_only 0*",
            "< read_response_first 1", "< read_response_last 2", "< ack 3"});
}

TEST(Selective, requestsReordered) {
    recovers(patient);
    late_requests = {{0, 2}};
    traces({{Kind::read, 2 * mtu}, {Kind::read, 1}},
           {"> read_request 0", "> read_request 2", "< read_response_first 0", "< read_response_last 1",
            "< read_response_only 2"});
    reorders(requests, 1, 2, 0);
}

// Events of PSNs 100 to 102 (SEND), 103 and 104 (READ), of which all are sent, in every state: the state
// after it, the PSNs sent then, and whether a timer runs.
TEST(Selective, everyStateWithEveryEvent) {
    struct Row {
        State state;
        const char* event;
        State then;
        std::vector<std::uint32_t> sends;
        bool timer = true;
    };
    const std::vector<std::uint32_t> none;
    const std::vector<Row> rows = {
        {State::ready, "stale ACK", State::ready, none},
        {State::ready, "ACK", State::ready, none},
        {State::ready, "ACK of a READ", State::ready, none},
        {State::ready, "stale NAK", State::ready, none},
        {State::ready, "NAK", State::ready, {101}},
        {State::ready, "NAK twice", State::ready, {101}},
        {State::ready, "NAK half stale", State::ready, {100, 101}},
        {State::ready, "NAK of all", State::ready, {100, 101, 102, 103}},
        {State::ready, "NAK of what is not sent", State::ready, none},
        {State::ready, "NAK of nothing", State::ready, none},
        {State::ready, "NAK backwards", State::ready, none},
        {State::ready, "RNR", State::waiting, none},
        {State::ready, "NAK, then RNR, then timer", State::ready, {100, 101, 102, 103}},
        {State::ready, "invalid request", State::failed, none, false},
        {State::ready, "response to a SEND", State::ready, none},
        {State::ready, "response", State::ready, none},
        {State::ready, "response of a wrong size", State::ready, none},
        {State::ready, "second response", State::ready, {103}},
        {State::ready, "second response, then the first", State::ready, {103}, false},
        {State::ready, "early timer", State::ready, none},
        {State::ready, "timer", State::ready, {100}},
        {State::ready, "timer, then ACK", State::ready, {102}},
        {State::waiting, "stale ACK", State::waiting, none},
        {State::waiting, "ACK", State::waiting, none},
        {State::waiting, "NAK", State::waiting, none},
        {State::waiting, "RNR", State::waiting, none},
        {State::waiting, "invalid request", State::failed, none, false},
        {State::waiting, "response", State::waiting, none},
        {State::waiting, "second response", State::waiting, none},
        {State::waiting, "early timer", State::waiting, none},
        {State::waiting, "timer", State::ready, {100, 101, 102, 103}},
        {State::failed, "ACK", State::failed, none, false},
        {State::failed, "NAK", State::failed, none, false},
        {State::failed, "RNR", State::failed, none, false},
        {State::failed, "response", State::failed, none, false},
        {State::failed, "second response", State::failed, none, false},
        {State::failed, "timer", State::failed, none, false},
    };
    requester.messages = 4;
    requester.first_psn = 100;
    for (const Row& row : rows) {
        Time now{};
        Requester end(requester);
        CHECK_TRUE(end.post(Kind::send, 3 * mtu, 0) && end.post(Kind::read, 2 * mtu, 1));
        while (end.next(now)) {
        }
        if (row.state == State::waiting) end.receive_aeth(100, {syndrome_rnr | 1}, now);
        if (row.state == State::failed) end.receive_aeth(100, {syndrome_invalid_request}, now);
        const std::string event = row.event;
        now = Time{} + microseconds(5);
        const auto aeth = [&](std::uint32_t psn, std::uint8_t syndrome, std::uint32_t msn = 0) {
            end.receive_aeth(psn, {syndrome, msn}, now);
        };
        const auto nak = [&](std::uint32_t first, std::uint32_t until) {
            aeth(first, syndrome_sequence_error, until);
        };
        const auto time_out = [&] {
            now = end.next_timer().value_or(now);
            end.expire(now);
        };
        if (event == "stale ACK") aeth(99, syndrome_ack);
        if (event == "ACK") aeth(101, syndrome_ack);
        if (event == "ACK of a READ") aeth(104, syndrome_ack);
        if (event == "stale NAK") nak(98, 100);
        if (event == "NAK") nak(101, 102);
        if (event == "NAK twice") nak(101, 102), nak(101, 102);
        if (event == "NAK half stale") nak(98, 102);
        if (event == "NAK of all") nak(100, 105);
        if (event == "NAK of what is not sent") nak(104, 106);
        if (event == "NAK of nothing") nak(101, 101);
        if (event == "NAK backwards") nak(102, 101);
        if (event == "NAK, then RNR, then timer") {
            nak(102, 103);
            aeth(100, syndrome_rnr | 1);
            time_out();
        }
        if (event == "RNR") aeth(100, syndrome_rnr | 1);
        if (event == "invalid request") aeth(100, syndrome_invalid_request);
        const auto respond = [&](std::uint32_t psn, std::uint32_t bytes) {
            return end.receive_response(psn, bytes, now).bytes;
        };
        const std::uint32_t taken = row.state == State::failed ? 0 : mtu;
        if (event == "response to a SEND") LONGS_EQUAL(0, respond(100, mtu));
        if (event == "response") LONGS_EQUAL(taken, respond(103, mtu));
        if (event == "response of a wrong size") LONGS_EQUAL(0, respond(104, mtu - 1));
        if (event.starts_with("second response")) {
            LONGS_EQUAL(taken, respond(104, mtu));
            LONGS_EQUAL(0, respond(104, mtu));
        }
        if (event == "early timer") end.expire(Time{} + microseconds(9));
        if (event.starts_with("timer")) time_out();
        if (event == "timer, then ACK") {
            LONGS_EQUAL(100, end.next(now)->psn);
            aeth(101, syndrome_ack);
        }
        std::vector<std::uint32_t> psns;
        while (const auto sent = end.next(now)) psns.push_back(sent->psn);
        if (event == "second response, then the first") {
            LONGS_EQUAL(mtu, respond(103, mtu));
            LONGS_EQUAL(0, respond(103, mtu));
        }
        if (row.then != end.state()) FAIL(("state after " + event).c_str());
        if (row.sends != psns) FAIL(("packets after " + event).c_str());
        if (row.timer != end.next_timer().has_value()) FAIL(("timer after " + event).c_str());
    }
}

TEST(Selective, aHoleThatIsToldStartsTheTimeOutAnew) {
    Requester end(requester);
    CHECK_TRUE(end.post(Kind::send, 3 * mtu, 0));
    while (end.next(Time{})) {
    }
    const Time now = Time{} + microseconds(5);
    end.receive_aeth(1, {syndrome_sequence_error, 2}, now);
    CHECK_TRUE(end.next_timer() == now + requester.timeout);
}

// What was sent behind it is on its way.
TEST(Selective, anAckOfAllThatTimedOutSendsNothingAgain) {
    Requester end(requester);
    CHECK_TRUE(end.post(Kind::send, 1, 0));
    LONGS_EQUAL(0, end.next(Time{})->psn);
    const Time now = end.next_timer().value();
    end.expire(now);
    LONGS_EQUAL(0, end.next(now)->psn);
    CHECK_TRUE(end.post(Kind::send, 1, 1));
    LONGS_EQUAL(1, end.next(now)->psn);
    end.receive_aeth(0, {syndrome_ack}, now);
    CHECK_FALSE(end.next(now).has_value());
}

TEST(Selective, anAckBeyondAReadShowsItsHole) {
    Requester end(requester);
    CHECK_TRUE(end.post(Kind::read, 2 * mtu, 0) && end.post(Kind::send, 1, 1));
    while (end.next(Time{})) {
    }
    end.receive_aeth(2, {syndrome_ack}, Time{});
    const auto again = end.next(Time{});
    CHECK_TRUE(again && again->opcode == Opcode::read_request && again->reth.length == 2 * mtu);
    CHECK_FALSE(end.next(Time{}).has_value());
}

TEST(Selective, sendsNoMoreThanTheReceiverKeeps) {
    Requester end(requester);
    CHECK_TRUE(end.post(Kind::write, 100 * mtu, 0));
    unsigned sent = 0;
    while (end.next(Time{})) ++sent;
    LONGS_EQUAL(min_receive_window, sent);
    end.receive_aeth(1, {syndrome_ack}, Time{});
    while (end.next(Time{})) ++sent;
    LONGS_EQUAL(min_receive_window + 2, sent);
}

TEST(Selective, keepsNoMoreThanItsWindow) {
    RcResponder end(responder);
    LONGS_EQUAL(0, end.receive(send_only(min_receive_window)).bytes);
    LONGS_EQUAL(1, end.counters().early);
    CHECK_FALSE(end.has_next());
    const auto last = end.receive(send_only(min_receive_window - 1));
    CHECK_TRUE(last.bytes == mtu && last.offset == std::uint64_t{min_receive_window - 1} * mtu);
    LONGS_EQUAL(0, last.messages);
    const auto nak = end.next();
    LONGS_EQUAL(0, nak->psn);
    LONGS_EQUAL(min_receive_window - 1, nak->aeth.msn);
    CHECK_FALSE(end.has_next());
    LONGS_EQUAL(0, end.receive(send_only(min_receive_window - 1)).bytes);
    LONGS_EQUAL(1, end.counters().duplicates);
    CHECK_TRUE(end.receive(send_only(0)).messages == 1);
}

// What comes early is judged at its turn. Rows: within nothing, a SEND, a WRITE of 300 bytes more.
TEST(Selective, everyOpcodeEarlyWithinEveryMessage) {
    for (unsigned within = 0; within < 3; ++within)
        for (unsigned n = 0; n < std::size(request_opcodes); ++n) {
            RcResponder end(responder);
            const bool is_read = request_opcodes[n] == Opcode::read_request;
            const bool is_last = request_opcodes[n] == Opcode::write_last && within == 2;
            const std::uint32_t psn = is_last ? 2 : 1;
            const std::uint32_t bytes = is_read ? 0 : is_last ? 44 : mtu;
            end.receive(
                packet(request_opcodes[n], psn, bytes, request_opcodes[n] == Opcode::write_only ? mtu : 600));
            CHECK_TRUE(end.state() == RcResponder::State::ready);
            if (is_last) end.receive(packet(Opcode::write_middle, 1));
            if (within == 0) end.receive(send_only(0));
            if (within == 1) end.receive(packet(Opcode::send_first, 0));
            if (within == 2) end.receive(packet(Opcode::write_first, 0, mtu, mtu + 300));
            const bool is_taken = taken_within[within][n] == 'o';
            CHECK_EQUAL(is_taken, end.state() == RcResponder::State::ready);
            LONGS_EQUAL(psn + (is_taken ? 1 : 0), end.counters().packets);
        }
}

TEST(Selective, judgesLengthsOfWhatComesEarly) {
    const auto fails = [&](const Incoming& in) {
        RcResponder end(responder);
        LONGS_EQUAL(0, end.receive(in).messages);
        LONGS_EQUAL(1, end.receive(send_only(0)).messages);
        CHECK_TRUE(end.state() == RcResponder::State::failed);
    };
    fails(packet(Opcode::send_only, 1, mtu + 1));
    fails(packet(Opcode::send_first, 1, mtu - 1));
    fails(packet(Opcode::write_only, 1, 9, 10));
    fails(packet(Opcode::read_request, 1, 0, 0));
    fails(packet(Opcode::read_request, 1, 0, max_message_bytes + 1));
}

// Wires that only reorder: nothing is sent again while the reorder window is above the lateness.
TEST(Selective, reorderingAloneSendsNothingAgain) {
    std::uint64_t inversions = 0, depth = 0, again = 0;
    for (const Recovery kind : {Recovery::selective, Recovery::go_back_n})
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            std::uint64_t drawn = 0;
            const auto below = [&](std::uint64_t n) { return scramble(seed << 32 | drawn++) % n; };
            requester.timeout = milliseconds(1);
            requester.retry_count = unlimited_retries;
            recovers({kind, 256, microseconds(31)});
            RcPair pair(requester, responder);
            pair.traces = false;
            pair.fate = [&](bool, unsigned) {
                return Fate{.late_us = static_cast<unsigned>(below(3) == 0 ? below(31) : 0)};
            };
            for (unsigned n = 0; n < 20; ++n)
                CHECK_TRUE(
                    pair.post(static_cast<Kind>(below(3)), 1 + static_cast<std::uint32_t>(below(9999))));
            pair.run();
            STRCMP_EQUAL("", pair.complaint().c_str());
            LONGS_EQUAL(20, pair.completions().size());
            const auto& counters = pair.requester().counters();
            if (kind == Recovery::go_back_n) {
                again += counters.retransmissions;
                continue;
            }
            LONGS_EQUAL(0, counters.retransmissions + counters.timeouts + counters.sequence_errors);
            for (const auto* each : {&pair.requester().reordering(), &pair.responder().reordering()}) {
                inversions += each->inversions;
                depth = std::max(depth, each->max_depth);
                LONGS_EQUAL(0, each->repeated);
            }
        }
    CHECK_TRUE(inversions > 10'000 && depth > 20 && again > 10'000);
}

}  // namespace sluice::selective_test
