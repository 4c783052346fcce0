// The requester of an RC queue pair (IBTA 9.7): chooses the next packet, and handles ACKs, NAKs and READ
// responses. Go-back-N: after a loss it sends all again from the oldest unacknowledged PSN. Selective: it
// sends again the hole that a NAK names (rc_responder.hh) and asks again for missing READ responses; after a
// time-out, the oldest packet, and from then on the oldest again for each ACK that stops short of the PSNs
// sent before the time-out, as in RFC 6582. After an RNR NAK both go back.
//
// A READ request takes one PSN for each packet of its response; the responses acknowledge all before, and
// only they acknowledge a READ. Messages end in the order of their posting. The host, with `now` that never
// goes back, calls `next` when the wire is free, `expire` at `next_timer`, and `take_completion` after each
// event. Sizes are bytes; nothing allocates after construction. States: ready, waiting (RNR), failed (for
// good; nothing more is sent, and every incomplete message has failed).
#pragma once

#include <boost/circular_buffer.hpp>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "lib/roce/packet.hh"
#include "lib/roce/receive_window.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

inline constexpr std::uint32_t max_message_bytes = 1U << 30;
inline constexpr unsigned unlimited_retries = ~0U;

// IBTA has the powers of two; experiments want packets of other sizes, too.
constexpr bool valid_mtu(std::uint32_t mtu) {
    return mtu >= min_path_mtu && mtu <= max_path_mtu && mtu % 4 == 0;
}

struct RequesterSettings {
    std::uint32_t mtu = 1024;  // see valid_mtu
    std::uint64_t window_bytes =
        0;                         // payload outstanding; one packet or READ is always allowed; 0: unlimited
    std::uint32_t ack_every = 64;  // packets until one asks for an acknowledgement; >= 1
    std::uint32_t max_reads = 16;  // outstanding; >= 1, and not above the responder's
    std::uint32_t messages = 64;   // posted and not yet taken; >= 1
    Duration timeout = microseconds(500);  // of an answer that was asked for
    unsigned retry_count = 7;              // of time-outs and sequence errors without progress
    unsigned rnr_retry = unlimited_retries;
    std::uint32_t first_psn = 0;
    RecoverySettings recovery{};
};

class Requester {
  public:
    enum class Kind : std::uint8_t { send, write, read };
    enum class State : std::uint8_t { ready, waiting, failed };

    struct Completion {
        std::uint64_t cookie;  // the poster's
        Kind kind;
        bool failed;  // the peer may have got it, or not
        std::uint64_t bytes;
        std::uint32_t retransmissions;  // packets of it that were sent again
    };
    // Payload of a READ response; 0 bytes: drop it.
    struct ReadData {
        std::uint64_t offset = 0;  // in the stream of this QP
        std::uint32_t bytes = 0;
    };
    struct Counters {
        std::uint64_t packets = 0;          // sent, those sent again included
        std::uint64_t retransmissions = 0;  // packets sent again
        std::uint64_t timeouts = 0;
        std::uint64_t sequence_errors = 0;  // NAKs, and gaps among responses
        std::uint64_t rnr_naks = 0;
        std::uint64_t early = 0;  // READ responses dropped: an earlier one is missing
    };

    explicit Requester(const RequesterSettings& settings);  // which outlive it

    // False: no room, or the QP has failed. `bytes` is from 1 to max_message_bytes.
    // `key`: of a WRITE, which the responder hands on.
    bool post(Kind kind, std::uint32_t bytes, std::uint64_t cookie, std::uint32_t key = 0);
    // The packet that is sent now; nothing: none may be.
    std::optional<Outgoing> next(Time now);
    bool has_next() const;

    void receive_aeth(std::uint32_t psn, const Aeth& aeth, Time now);  // of an ACK or NAK
    ReadData receive_response(std::uint32_t psn, std::uint32_t bytes, Time now);
    // A READ response whose payload a switch has cut off. False: it is not asked for.
    bool receive_trimmed_response(std::uint32_t psn, Time now);

    std::optional<Time> next_timer() const {
        std::optional<Time> next = timer_;
        if (came_.any(acknowledged_.sequence) && state_ != State::failed) [[unlikely]] {
            if (const auto hole = came_.next_timer()) take_earlier(next, *hole);
        }
        return next;
    }
    void expire(Time now);  // does nothing before next_timer()

    std::optional<Completion> take_completion();

    State state() const { return state_; }
    const Counters& counters() const { return counters_; }
    const ReceiveWindow::Counters& reordering() const { return came_.counters(); }  // of READ responses
    std::uint64_t outstanding_bytes() const;  // sent or asked for, and not acknowledged
    std::uint64_t acknowledged_psns() const {
        return acknowledged_.sequence - first_sequence(settings_->first_psn);
    }
    std::uint64_t outstanding_psns() const { return sent_end_ - acknowledged_.sequence; }
    std::uint32_t posted() const { return static_cast<std::uint32_t>(tail_ - head_); }

  private:
    struct Message {
        Kind kind;
        std::uint32_t bytes;
        std::uint32_t packets;
        std::uint32_t retransmissions;
        std::uint32_t key;
        std::uint64_t first;         // sequence number
        std::uint64_t bytes_before;  // of all kinds, since the first message
        std::uint64_t reads_before;
        std::uint64_t cookie;
        std::uint64_t end() const { return first + packets; }
    };
    // A place among the packets of all messages: a sequence number, and the message that it is in.
    struct Place {
        std::uint64_t sequence;
        std::uint64_t message;  // counted since the start; `tail_` at the end of all
    };

    Message& at(std::uint64_t message) { return ring_[message & (ring_.size() - 1)]; }
    const Message& at(std::uint64_t message) const { return ring_[message & (ring_.size() - 1)]; }
    void move(Place& place, std::uint64_t sequence) const;
    std::uint64_t bytes_until(const Place& place) const;
    // A part of a message, from a place on: a packet, or all of a READ up to an end.
    struct Part {
        std::uint32_t done;  // bytes of the message before it
        std::uint32_t left;  // and from it on
        std::uint32_t bytes;
        std::uint32_t packets;
    };
    Part part_at(const Place& place, std::uint64_t end) const;
    Part next_part() const { return part_at(next_, posted_end_); }
    Outgoing packet_at(const Place& place, const Part& part) const;
    void note_sent(std::uint64_t message, std::uint64_t end, bool again, bool asks, Time now);
    std::uint64_t place_of(std::uint64_t sequence) const {
        return payload_place(sequence, settings_->first_psn, settings_->mtu);
    }
    bool fits(const Message& message, const Part& part) const;
    bool asks_for_ack(bool last, std::uint32_t bytes);
    bool acknowledge_until(std::uint64_t sequence, Time now);
    void progress_to(std::uint64_t sequence, Time now);
    void go_back();
    void retry(Time now);
    void fail();

    // Selective recovery: what is to be sent again before all else.
    struct Resends {
        boost::circular_buffer<ReceiveWindow::Hole> holes;  // none empty, the first not acknowledged
        std::uint64_t timed_out_end = 0;                    // all before it was sent before the last time-out
    };
    bool has_resend() const { return resends_ != nullptr && !resends_->holes.empty(); }
    Outgoing resend(Time now);
    void add_hole(std::uint64_t first, std::uint64_t end);
    void trim_holes();
    void take_holes();
    void resend_oldest();
    void continue_after_timeout();
    void mark_acknowledged(std::uint64_t end, Time now);
    ReadData take_response(std::uint64_t sequence, std::uint64_t message, std::uint32_t bytes, Time now);

    const RequesterSettings* settings_;
    boost::container::small_vector<Message, 2> ring_;  // a power of two; few lie beside the rest
    std::uint64_t head_ = 0;                           // the oldest message not taken
    std::uint64_t tail_ = 0;                           // behind the newest
    std::uint64_t posted_end_;
    std::uint64_t posted_bytes_ = 0;
    std::uint64_t posted_reads_ = 0;

    State state_ = State::ready;
    Place acknowledged_;      // all before it is
    Place next_;              // sent next; >= acknowledged_
    std::uint64_t sent_end_;  // behind the newest ever sent; >= next_
    // Behind the newest that asks for an answer: while that is not acknowledged, the timer runs.
    std::uint64_t asked_end_;
    // A gap among responses counts as one sequence error until progress or a time-out.
    bool gap_known_ = false;
    std::uint64_t unasked_bytes_ = 0;  // sent since an acknowledgement was asked for
    std::uint32_t unasked_packets_ = 0;
    unsigned retries_ = 0;  // since progress
    unsigned rnr_retries_ = 0;
    std::optional<Time> timer_;
    std::unique_ptr<Resends> resends_;  // nothing: go-back-N
    // READ responses past the acknowledged; selective: also packets that ACKs beyond an incomplete READ
    // acknowledge.
    ReceiveWindow came_;
    Counters counters_;
};

// The delay in the low five bits of an RNR NAK's syndrome (IBTA 9.7).
Duration rnr_delay(std::uint8_t syndrome);
// The bits for the shortest time that is not below `delay`, or for the longest.
std::uint8_t rnr_syndrome(Duration delay);
inline constexpr Duration max_rnr_delay = microseconds(655'360);

}  // namespace sluice::roce
