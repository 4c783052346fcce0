// The requester alone: what it ignores, every state with every event, its limits and timers.
#include "lib/roce/requester.hh"

#include <string>
#include <vector>

#include "lib/roce/packet.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::requester_test {
namespace {

using namespace sluice::roce;
using Kind = Requester::Kind;
using State = Requester::State;

constexpr std::uint32_t mtu = 256;
constexpr std::uint8_t rnr_10_us = syndrome_rnr | 1;

}  // namespace

TEST_GROUP(Requester) {
    RequesterSettings settings{.mtu = mtu, .messages = 4, .timeout = microseconds(50), .first_psn = 100};
    Time now{};

    Requester made() const { return Requester(settings); }
    // All that may go now.
    std::vector<std::uint32_t> sent(Requester & requester) const {
        std::vector<std::uint32_t> psns;
        while (const auto packet = requester.next(now)) psns.push_back(packet->psn);
        return psns;
    }
    void sends(Requester & requester, const std::vector<std::uint32_t>& wanted) const {
        const auto psns = sent(requester);
        LONGS_EQUAL(wanted.size(), psns.size());
        for (std::size_t n = 0; n < wanted.size(); ++n) LONGS_EQUAL(wanted[n], psns[n]);
    }
};

// Events of PSNs 100 to 102 (SEND), 103 and 104 (READ), of which all are sent, in every state: the state
// after it, the PSNs sent then, and whether a timer runs.
TEST(Requester, everyStateWithEveryEvent) {
    struct Row {
        State state;
        const char* event;
        State then;
        std::vector<std::uint32_t> sends;
        bool timer;
    };
    const std::vector<std::uint32_t> none, all{100, 101, 102, 103}, from_101{101, 102, 103};
    const std::vector<Row> rows = {
        {State::ready, "stale ACK", State::ready, none, true},
        {State::ready, "ACK", State::ready, none, true},
        {State::ready, "ACK of what is not sent", State::ready, none, true},
        {State::ready, "ACK beyond a READ", State::ready, {103}, true},
        {State::ready, "stale NAK", State::ready, none, true},
        {State::ready, "NAK of the first", State::ready, all, true},
        {State::ready, "NAK", State::ready, from_101, true},
        {State::ready, "NAK of what is not sent", State::ready, none, true},
        {State::ready, "RNR", State::waiting, none, true},
        {State::ready, "RNR beyond a READ", State::waiting, none, true},
        {State::ready, "RNR of what is not sent", State::ready, none, true},
        {State::ready, "invalid request", State::failed, none, false},
        {State::ready, "remote access error", State::failed, none, false},
        {State::ready, "reserved syndrome", State::ready, none, true},
        {State::ready, "response to a SEND", State::ready, none, true},
        {State::ready, "response", State::ready, none, true},
        {State::ready, "response of a wrong size", State::ready, none, true},
        {State::ready, "second response", State::ready, {103}, true},
        {State::ready, "early timer", State::ready, none, true},
        {State::ready, "timer", State::ready, all, true},
        {State::waiting, "stale ACK", State::waiting, none, true},
        {State::waiting, "ACK", State::waiting, none, true},
        {State::waiting, "ACK beyond a READ", State::waiting, none, true},
        {State::waiting, "NAK of the first", State::waiting, none, true},
        {State::waiting, "NAK", State::waiting, none, true},
        {State::waiting, "RNR", State::waiting, none, true},
        {State::waiting, "invalid request", State::failed, none, false},
        {State::waiting, "response", State::waiting, none, true},
        {State::waiting, "second response", State::waiting, none, true},
        {State::waiting, "early timer", State::waiting, none, true},
        {State::waiting, "timer", State::ready, all, true},
        {State::failed, "ACK", State::failed, none, false},
        {State::failed, "ACK beyond a READ", State::failed, none, false},
        {State::failed, "NAK", State::failed, none, false},
        {State::failed, "RNR", State::failed, none, false},
        {State::failed, "invalid request", State::failed, none, false},
        {State::failed, "response", State::failed, none, false},
        {State::failed, "timer", State::failed, none, false},
    };
    for (const Row& row : rows) {
        now = Time{};
        Requester requester = made();
        CHECK_TRUE(requester.post(Kind::send, 3 * mtu, 0) && requester.post(Kind::read, 2 * mtu, 1));
        sends(requester, all);
        if (row.state == State::waiting) requester.receive_aeth(100, {rnr_10_us}, now);
        if (row.state == State::failed) requester.receive_aeth(100, {syndrome_invalid_request}, now);
        const std::string event = row.event;
        now = Time{} + microseconds(5);
        const auto aeth = [&](std::uint32_t psn, std::uint8_t syndrome) {
            requester.receive_aeth(psn, {syndrome}, now);
        };
        if (event == "stale ACK") aeth(99, syndrome_ack);
        if (event == "ACK") aeth(101, syndrome_ack);
        if (event == "ACK of what is not sent") aeth(105, syndrome_ack);
        if (event == "ACK beyond a READ") aeth(104, syndrome_ack);
        if (event == "stale NAK") aeth(99, syndrome_sequence_error);
        if (event == "NAK of the first") aeth(100, syndrome_sequence_error);
        if (event == "NAK") aeth(101, syndrome_sequence_error);
        if (event == "NAK of what is not sent") aeth(105, syndrome_sequence_error);
        if (event == "RNR") aeth(100, rnr_10_us);
        if (event == "RNR beyond a READ") aeth(104, rnr_10_us);
        if (event == "RNR of what is not sent") aeth(105, rnr_10_us);
        if (event == "invalid request") aeth(100, syndrome_invalid_request);
        if (event == "remote access error") aeth(100, 0x62);
        if (event == "reserved syndrome") aeth(100, 0x40);
        if (event == "response to a SEND") LONGS_EQUAL(0, requester.receive_response(100, mtu, now).bytes);
        if (event == "response")
            LONGS_EQUAL(row.state == State::failed ? 0 : mtu,
                        requester.receive_response(103, mtu, now).bytes);
        if (event == "response of a wrong size")
            LONGS_EQUAL(0, requester.receive_response(103, mtu - 1, now).bytes);
        if (event == "second response") LONGS_EQUAL(0, requester.receive_response(104, mtu, now).bytes);
        if (event == "early timer") requester.expire(Time{} + microseconds(9));
        if (event == "timer") {
            now = requester.next_timer().value_or(now);
            requester.expire(now);
        }
        if (row.then != requester.state()) FAIL(("state after " + event).c_str());
        sends(requester, row.sends);
        if (row.timer != requester.next_timer().has_value()) FAIL(("timer after " + event).c_str());
        CHECK_EQUAL(row.then != State::failed, requester.post(Kind::send, 1, 2));
    }
}

TEST(Requester, refusesMoreThanItsRoom) {
    const std::vector<std::uint32_t> psns{100, 101, 102, 103};
    for (const std::uint32_t room : {3U, 4U}) {
        settings.messages = room;
        Requester requester = made();
        for (std::uint64_t n = 0; n < room; ++n) CHECK_TRUE(requester.post(Kind::send, 1, n));
        CHECK_FALSE(requester.post(Kind::send, 1, room));
        sends(requester, {psns.begin(), psns.begin() + room});
        requester.receive_aeth(100, {syndrome_ack}, now);
        CHECK_FALSE(requester.post(Kind::send, 1, room));  // it is complete, and not taken
        LONGS_EQUAL(0, requester.take_completion()->cookie);
        CHECK_FALSE(requester.take_completion().has_value());
        CHECK_TRUE(requester.post(Kind::send, 1, room));
        LONGS_EQUAL(room, requester.posted());
    }
}

TEST(Requester, failsAfterItsRetriesAndSaysSoOfEveryMessage) {
    settings.retry_count = 7;
    Requester requester = made();
    for (std::uint64_t n = 0; n < 3; ++n) requester.post(Kind::write, 1, n);
    sends(requester, {100, 101, 102});
    requester.receive_aeth(100, {syndrome_ack}, now);
    for (unsigned n = 0; n < 7; ++n) {
        now = requester.next_timer().value();
        CHECK_TRUE(now == Time{} + microseconds(50) * (n + 1));
        requester.expire(now);
        sends(requester, {101, 102});
    }
    CHECK_TRUE(requester.state() == State::ready);
    requester.expire(requester.next_timer().value());
    CHECK_TRUE(requester.state() == State::failed);
    LONGS_EQUAL(8, requester.counters().timeouts);
    LONGS_EQUAL(14, requester.counters().retransmissions);
    for (std::uint64_t n = 0; n < 3; ++n) {
        const auto completion = requester.take_completion();
        LONGS_EQUAL(n, completion->cookie);
        CHECK_EQUAL(n > 0, completion->failed);
        LONGS_EQUAL(n > 0 ? 7 : 0, completion->retransmissions);
    }
    CHECK_FALSE(requester.take_completion().has_value());
}

TEST(Requester, waitsOnlyForWhatItAskedFor) {
    settings.ack_every = 2;
    Requester requester = made();
    requester.post(Kind::send, 4 * mtu, 0);
    LONGS_EQUAL(100, requester.next(now)->psn);
    CHECK_FALSE(requester.next_timer().has_value());
    now = Time{} + microseconds(1000);
    CHECK_TRUE(requester.next(now)->ack_request);
    CHECK_TRUE(requester.next_timer() == now + microseconds(50));
    LONGS_EQUAL(102, requester.next(now)->psn);
    requester.receive_aeth(101, {syndrome_ack}, now);
    CHECK_FALSE(requester.next_timer().has_value());
    requester.receive_aeth(102, {syndrome_sequence_error}, now);
    CHECK_FALSE(requester.next_timer().has_value());
    sends(requester, {102, 103});
    CHECK_TRUE(requester.next_timer() == now + microseconds(50));
    requester.receive_aeth(102, {syndrome_sequence_error}, now);
    LONGS_EQUAL(102, requester.next(now)->psn);
    requester.receive_aeth(102, {syndrome_ack}, now);  // what was asked for is forgotten
    CHECK_FALSE(requester.next_timer().has_value());
}

TEST(Requester, aLaterQuestionDoesNotPutTheTimeOutOff) {
    settings.ack_every = 1;
    Requester requester = made();
    requester.post(Kind::send, 2 * mtu, 0);
    CHECK_TRUE(requester.next(now)->ack_request);
    now = Time{} + microseconds(10);
    CHECK_TRUE(requester.next(now)->ack_request);
    CHECK_TRUE(requester.next_timer() == Time{} + microseconds(50));
}

TEST(Requester, progressMakesRetriesAnew) {
    settings.retry_count = 1;
    Requester requester = made();
    requester.post(Kind::send, 5 * mtu, 0);
    sent(requester);
    for (std::uint32_t psn = 101; psn < 104; ++psn) {
        requester.receive_aeth(psn, {syndrome_sequence_error}, now);
        sent(requester);
    }
    CHECK_TRUE(requester.state() == State::ready);
    requester.receive_aeth(103, {syndrome_sequence_error}, now);
    CHECK_TRUE(requester.state() == State::failed);
}

TEST(Requester, progressMakesRnrRetriesAnew) {
    settings.rnr_retry = 1;
    Requester requester = made();
    requester.post(Kind::send, 3 * mtu, 0);
    const auto is_refused = [&](std::uint32_t psn) {
        sent(requester);
        requester.receive_aeth(psn, {rnr_10_us}, now);
        if (requester.state() == State::waiting) requester.expire(now = requester.next_timer().value());
    };
    is_refused(100);
    is_refused(101);
    CHECK_TRUE(requester.state() == State::ready);
    is_refused(101);
    CHECK_TRUE(requester.state() == State::failed);
}

// The first response behind a lost one asks again; after progress, so does the first behind the next gap.
TEST(Requester, oneRequestAgainForAGapAmongResponses) {
    Requester requester = made();
    requester.post(Kind::read, 5 * mtu, 0);
    sends(requester, {100});
    requester.receive_response(101, mtu, now);
    sends(requester, {100});
    requester.receive_response(102, mtu, now);
    sends(requester, {});
    LONGS_EQUAL(mtu, requester.receive_response(100, mtu, now).bytes);
    requester.receive_response(103, mtu, now);
    sends(requester, {101});
    LONGS_EQUAL(2, requester.counters().sequence_errors);
    requester.expire(now = requester.next_timer().value());
    sends(requester, {101});
    requester.receive_response(102, mtu, now);
    sends(requester, {101});  // nothing was known of this gap
}

TEST(Requester, aLateAckSparesSendingAgain) {
    Requester requester = made();
    requester.post(Kind::send, 5 * mtu, 0);
    sends(requester, {100, 101, 102, 103, 104});
    requester.expire(now = requester.next_timer().value());
    LONGS_EQUAL(100, requester.next(now)->psn);
    requester.receive_aeth(102, {syndrome_ack}, now);
    sends(requester, {103, 104});
}

// Codes in the order of their times, but for 0, the longest.
TEST(Requester, rnrTimes) {
    CHECK_TRUE(rnr_delay(syndrome_rnr) == microseconds(655'360));
    for (std::uint8_t code = 0; code < 32; ++code) LONGS_EQUAL(code, rnr_syndrome(rnr_delay(code)));
    LONGS_EQUAL(1, rnr_syndrome({}));
    LONGS_EQUAL(15, rnr_syndrome(rnr_delay(14) + picoseconds(1)));
    LONGS_EQUAL(0, rnr_syndrome(max_rnr_delay * 2));
    CHECK_TRUE(rnr_delay(syndrome_rnr | 1) == microseconds(10));
    CHECK_TRUE(rnr_delay(syndrome_rnr | 14) == microseconds(1280));
    CHECK_TRUE(rnr_delay(syndrome_rnr | 31) == microseconds(491'520));
    for (std::uint8_t code = 1; code < 31; ++code)
        CHECK_TRUE(rnr_delay(code) < rnr_delay(static_cast<std::uint8_t>(code + 1)));
}

TEST(Requester, windowCountsPayloadAndWholeReads) {
    settings.window_bytes = 3 * mtu;
    Requester requester = made();
    requester.post(Kind::send, mtu + 1, 0);
    requester.post(Kind::read, 2 * mtu, 1);
    sends(requester, {100, 101});
    LONGS_EQUAL(mtu + 1, requester.outstanding_bytes());
    requester.receive_aeth(100, {syndrome_ack}, now);
    sends(requester, {102});
    LONGS_EQUAL(2 * mtu + 1, requester.outstanding_bytes());
    requester.receive_response(102, mtu, now);
    LONGS_EQUAL(mtu, requester.outstanding_bytes());
    CHECK_TRUE(requester.next_timer().has_value());
    requester.receive_response(103, mtu, now);
    LONGS_EQUAL(0, requester.outstanding_bytes());
    CHECK_FALSE(requester.next_timer().has_value());
}

// Two greatest READs take 2^23 PSNs: all that may be outstanding.
TEST(Requester, hasHalfOfThePsnsOutstandingAtMost) {
    Requester requester = made();
    for (std::uint64_t n = 0; n < 2; ++n) CHECK_TRUE(requester.post(Kind::read, max_message_bytes, n));
    CHECK_TRUE(requester.post(Kind::send, 2 * mtu, 2));
    const std::uint32_t psns = max_message_bytes / mtu;
    sends(requester, {100, psn_of(100 + psns)});
    CHECK_EQUAL(std::uint64_t{max_message_bytes} * 2, requester.outstanding_bytes());
    for (std::uint32_t n = 0; n < 2; ++n) {
        LONGS_EQUAL(mtu, requester.receive_response(100 + n, mtu, now).bytes);
        sends(requester, {psn_of(100 + 2 * psns + n)});
    }
    CHECK_FALSE(requester.take_completion().has_value());
}

}  // namespace sluice::requester_test
