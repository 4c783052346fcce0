// The responder alone: what it refuses, each opcode within each message, its answers and their order.
#include "lib/roce/rc_responder.hh"

#include <string>
#include <vector>

#include "lib/roce/packet.hh"
#include "lib/roce/requester.hh"
#include "tests/unit/roce/incoming.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::rc_responder_test {
namespace {

using namespace sluice::roce;
using Kind = RcResponder::Delivery::Kind;
using State = RcResponder::State;

constexpr std::uint32_t mtu = incoming_mtu;
Incoming read_of(std::uint32_t psn, std::uint32_t length) {
    return packet(Opcode::read_request, psn, 0, length);
}

}  // namespace

TEST_GROUP(RcResponder) {
    ResponderSettings settings{.mtu = mtu, .max_reads = 2};
    RcResponder made() const { return RcResponder(settings); }

    // Its next answer.
    void answers(RcResponder & responder, Opcode opcode, std::uint32_t psn,
                 std::uint8_t syndrome = syndrome_ack) {
        CHECK_TRUE(responder.has_next());
        const auto answer = responder.next();
        LONGS_EQUAL(static_cast<int>(opcode), static_cast<int>(answer->opcode));
        LONGS_EQUAL(psn, answer->psn);
        if (opcode != Opcode::read_response_middle) LONGS_EQUAL(syndrome, answer->aeth.syndrome);
    }
    void is_silent(RcResponder & responder) {
        CHECK_FALSE(responder.has_next());
        CHECK_FALSE(responder.next().has_value());
    }
};

// Rows: within nothing, a SEND, a WRITE of which 300 bytes are left. `o` is taken.
TEST(RcResponder, everyOpcodeWithinEveryMessage) {
    for (unsigned within = 0; within < 3; ++within)
        for (unsigned n = 0; n < std::size(request_opcodes); ++n) {
            RcResponder responder = made();
            std::uint32_t psn = 0;
            if (within == 1) responder.receive(packet(Opcode::send_first, psn++));
            if (within == 2) responder.receive(packet(Opcode::write_first, psn++, mtu, mtu + 300));
            const bool ends =
                request_opcodes[n] == Opcode::write_last || request_opcodes[n] == Opcode::write_only;
            Incoming in =
                packet(request_opcodes[n], psn, mtu, request_opcodes[n] == Opcode::write_only ? mtu : 600);
            if (ends && within == 2) {
                // 300 are left: no last packet of 256 ends them, one behind a middle packet does.
                responder.receive(packet(Opcode::write_middle, psn++));
                in = packet(request_opcodes[n], psn, 44);
            }
            const bool is_taken = responder.receive(in).kind != Kind::none;
            CHECK_EQUAL(taken_within[within][n] == 'o', is_taken);
            CHECK_TRUE(responder.state() == (is_taken ? State::ready : State::failed));
            if (is_taken) continue;
            answers(responder, Opcode::acknowledge, psn, syndrome_invalid_request);
            LONGS_EQUAL(1, responder.counters().invalid);
        }
}

TEST(RcResponder, refusesWrongLengths) {
    const auto refuses = [&](std::initializer_list<Incoming> packets) {
        RcResponder responder = made();
        std::size_t taken = 0;
        for (const Incoming& in : packets) taken += responder.receive(in).kind != Kind::none ? 1 : 0;
        LONGS_EQUAL(packets.size() - 1, taken);
        CHECK_TRUE(responder.state() == State::failed);
    };
    refuses({packet(Opcode::send_first, 0, mtu - 1)});
    refuses({packet(Opcode::send_only, 0, mtu + 1)});
    refuses({packet(Opcode::send_first, 0), packet(Opcode::send_middle, 1, mtu + 4)});
    refuses({packet(Opcode::send_first, 0), packet(Opcode::send_last, 1, 0)});
    refuses({packet(Opcode::write_only, 0, 9, 10)});
    refuses({packet(Opcode::write_only, 0, 10, 9)});
    refuses({packet(Opcode::write_first, 0, mtu, mtu)});
    refuses({packet(Opcode::write_first, 0, mtu, 2 * mtu), packet(Opcode::write_last, 1, mtu - 1)});
    refuses({packet(Opcode::write_first, 0, mtu, 2 * mtu), packet(Opcode::write_middle, 1, mtu)});
    refuses({read_of(0, 0)});
    refuses({read_of(0, max_message_bytes + 1)});
}

TEST(RcResponder, hasFailedForGood) {
    RcResponder responder = made();
    responder.receive(send_only(0));
    responder.receive(packet(Opcode::send_last, 1));
    answers(responder, Opcode::acknowledge, 1, syndrome_invalid_request);
    is_silent(responder);
    CHECK_TRUE(responder.receive(send_only(1)).kind == Kind::none);
    answers(responder, Opcode::acknowledge, 1, syndrome_invalid_request);
    responder.receive(send_only(2));
    is_silent(responder);
    LONGS_EQUAL(1, responder.counters().invalid);
}

TEST(RcResponder, isNotAskedByAnswers) {
    RcResponder responder = made();
    for (const Opcode opcode : {Opcode::acknowledge, Opcode::read_response_only, Opcode::cnp})
        CHECK_TRUE(responder.receive(packet(opcode, 0)).kind == Kind::none);
    is_silent(responder);
    CHECK_TRUE(responder.receive(send_only(0)).kind == Kind::payload);
}

// A gap gets one NAK; when the expected PSN has come, the next gap gets its own.
TEST(RcResponder, oneNakAGap) {
    RcResponder responder = made();
    responder.receive(send_only(1));
    answers(responder, Opcode::acknowledge, 0, syndrome_sequence_error);
    responder.receive(send_only(2));
    responder.receive(send_only(1));
    is_silent(responder);
    responder.receive(send_only(0));
    answers(responder, Opcode::acknowledge, 0);
    responder.receive(send_only(3));
    answers(responder, Opcode::acknowledge, 1, syndrome_sequence_error);
    LONGS_EQUAL(2, responder.counters().gaps);
    LONGS_EQUAL(4, responder.counters().early);
}

TEST(RcResponder, takesBackANakThatIsNotSent) {
    RcResponder responder = made();
    responder.receive(send_only(1));
    responder.receive(packet(Opcode::send_first, 0));
    is_silent(responder);
}

TEST(RcResponder, rnrUntilThereIsABuffer) {
    RcResponder responder = made();
    for (unsigned n = 0; n < 2; ++n) {
        CHECK_TRUE(responder.receive(send_only(0), std::uint8_t{9}).kind == Kind::none);
        responder.receive(send_only(1));
        answers(responder, Opcode::acknowledge, 0, syndrome_rnr | 9);
        is_silent(responder);
    }
    CHECK_TRUE(responder.receive(send_only(0)).kind == Kind::payload);
    CHECK_TRUE(responder.receive(packet(Opcode::write_only, 1, 4, 4), std::uint8_t{9}).kind == Kind::payload);
    CHECK_TRUE(responder.receive(packet(Opcode::send_first, 2)).kind == Kind::payload);
    CHECK_TRUE(responder.receive(packet(Opcode::send_last, 3), std::uint8_t{9}).kind == Kind::payload);
    LONGS_EQUAL(3, responder.msn());
}

TEST(RcResponder, refusesAMessageInsideOfAnotherWithoutABufferToo) {
    for (const Opcode opcode : {Opcode::send_first, Opcode::send_only}) {
        RcResponder responder = made();
        responder.receive(packet(Opcode::send_first, 0));
        responder.receive(packet(opcode, 1), std::uint8_t{9});
        answers(responder, Opcode::acknowledge, 1, syndrome_invalid_request);
    }
}

TEST(RcResponder, aReadIsAMessageOfItsOwn) {
    RcResponder responder = made();
    responder.receive(read_of(0, 1));
    LONGS_EQUAL(1, responder.next()->aeth.msn);
    responder.receive(send_only(1));
    LONGS_EQUAL(2, responder.next()->aeth.msn);
}

TEST(RcResponder, coalescesAcksAndCountsMessages) {
    settings.ack_every = 3;
    RcResponder responder = made();
    responder.receive(packet(Opcode::send_first, 0));
    responder.receive(packet(Opcode::send_middle, 1));
    is_silent(responder);
    responder.receive(packet(Opcode::send_middle, 2));
    answers(responder, Opcode::acknowledge, 2);
    Incoming asks = packet(Opcode::send_middle, 3);
    asks.ack_request = true;
    responder.receive(asks);
    answers(responder, Opcode::acknowledge, 3);
    LONGS_EQUAL(0, responder.msn());
    const auto last = responder.receive(packet(Opcode::send_last, 4, 5));
    CHECK_TRUE(last.messages == 1 && last.offset == std::uint64_t{4} * mtu && last.bytes == 5);
    responder.receive(send_only(5));
    const auto both = responder.next();
    LONGS_EQUAL(5, both->psn);
    LONGS_EQUAL(2, both->aeth.msn);
    is_silent(responder);
}

TEST(RcResponder, acksAndNaksWaitForResponses) {
    RcResponder responder = made();
    responder.receive(read_of(0, 2 * mtu + 1));
    responder.receive(send_only(3));
    responder.receive(send_only(5));
    answers(responder, Opcode::read_response_first, 0);
    answers(responder, Opcode::read_response_middle, 1);
    answers(responder, Opcode::read_response_last, 2);
    answers(responder, Opcode::acknowledge, 4, syndrome_sequence_error);
    is_silent(responder);
}

TEST(RcResponder, responsesAcknowledge) {
    RcResponder responder = made();
    responder.receive(send_only(0));
    responder.receive(read_of(1, 1));
    answers(responder, Opcode::read_response_only, 1);
    is_silent(responder);
}

TEST(RcResponder, readAgainGoesBackButNotForwards) {
    RcResponder responder = made();
    responder.receive(read_of(0, 4 * mtu));
    answers(responder, Opcode::read_response_first, 0);
    responder.receive(read_of(1, 3 * mtu));  // still to come
    answers(responder, Opcode::read_response_middle, 1);
    answers(responder, Opcode::read_response_middle, 2);
    responder.receive(read_of(1, 3 * mtu));
    answers(responder, Opcode::read_response_first, 1);
    answers(responder, Opcode::read_response_middle, 2);
    answers(responder, Opcode::read_response_last, 3);
    is_silent(responder);
    responder.receive(read_of(3, mtu));
    answers(responder, Opcode::read_response_only, 3);
    responder.receive(read_of(3, mtu + 1));  // goes beyond what was asked for
    responder.receive(read_of(3, 0));
    is_silent(responder);
}

TEST(RcResponder, readsAreAnsweredInOrderAndTheOldestIsForgotten) {
    RcResponder responder = made();
    for (std::uint32_t psn = 0; psn < 4; ++psn) responder.receive(read_of(psn, 1));
    answers(responder, Opcode::read_response_only, 2);
    responder.receive(read_of(1, 1));
    answers(responder, Opcode::read_response_only, 1);
    responder.receive(read_of(2, 1));
    responder.receive(read_of(0, 1));  // no room, and older than all
    answers(responder, Opcode::read_response_only, 2);
    answers(responder, Opcode::read_response_only, 3);
    is_silent(responder);
}

}  // namespace sluice::rc_responder_test
