// The requester of one RC queue pair (IBTA 9.7): which packet it sends next, and what it makes of what comes
// back. Go-back-N: after a loss it sends all again from the oldest unacknowledged PSN.
//
// A READ takes one PSN for each packet of its response, sent by one request; its responses acknowledge what
// lies before, and nothing acknowledges a READ but its responses. Messages end in the order of their posting.
// Caller: a host, with `now` that never goes back. It asks `next` when the wire is free, `next_timer` when
// to call `expire`, and `take_completion` after each event. Sizes are bytes; nothing allocates after
// construction. States: ready, waiting (RNR), failed (for good; nothing more is sent, and every message that
// is not complete has failed). `go_back` is the one place that decides what is sent again.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>

#include "lib/roce/packet.hh"
#include "lib/units.hh"

namespace sluice::roce {

inline constexpr std::uint32_t most_message_bytes = 1U << 30;
inline constexpr unsigned unlimited_retries = ~0U;

// IBTA has the powers of two; experiments want packets of other sizes, too.
constexpr bool valid_mtu(std::uint32_t mtu) {
    return mtu >= least_mtu && mtu <= greatest_mtu && mtu % 4 == 0;
}

struct RequesterSettings {
    std::uint32_t mtu = 1024;  // see valid_mtu
    std::uint64_t window_bytes =
        0;                          // payload outstanding; one packet or READ is always allowed; 0: unlimited
    std::uint32_t ack_every = 64;   // packets until one asks for an acknowledgement; >= 1
    std::uint32_t most_reads = 16;  // outstanding; >= 1, and not above the responder's
    std::uint32_t messages = 64;    // posted and not yet taken; >= 1
    Duration timeout = microseconds(500);  // of an answer that was asked for
    unsigned retry_count = 7;              // of time-outs and sequence errors without progress
    unsigned rnr_retry = unlimited_retries;
    std::uint32_t first_psn = 0;
};

class Requester {
  public:
    enum class Kind : std::uint8_t { send, write, read };
    enum class State : std::uint8_t { ready, waiting, failed };

    struct Completion {
        std::uint64_t cookie;  // the poster's
        Kind kind;
        bool failed;  // the peer may have got it, or not
        std::uint32_t bytes;
        std::uint32_t retransmissions;  // packets of it that were sent again
    };
    // Payload of a READ response that came in order; nothing (0 bytes): to be dropped.
    struct ReadData {
        std::uint64_t offset = 0;  // in the stream of this QP's READs
        std::uint32_t bytes = 0;
    };
    struct Counters {
        std::uint64_t packets = 0;          // sent, those sent again included
        std::uint64_t retransmissions = 0;  // packets sent again
        std::uint64_t timeouts = 0;
        std::uint64_t sequence_errors = 0;  // NAKs, and gaps among responses
        std::uint64_t rnr_naks = 0;
    };

    explicit Requester(const RequesterSettings& settings);  // which outlive it

    // False: no room, or the QP has failed. `bytes` is from 1 to most_message_bytes.
    bool post(Kind kind, std::uint32_t bytes, std::uint64_t cookie);
    // The packet that is sent now; nothing: none may be.
    std::optional<Outgoing> next(Time now);
    bool has_next() const;

    void receive_aeth(std::uint32_t psn, std::uint8_t syndrome, Time now);  // of an ACK or NAK
    ReadData receive_response(std::uint32_t psn, std::uint32_t bytes, Time now);

    std::optional<Time> next_timer() const { return timer_; }
    void expire(Time now);  // does nothing before next_timer()

    std::optional<Completion> take_completion();

    State state() const { return state_; }
    const Counters& counters() const { return counters_; }
    std::uint64_t outstanding_bytes() const;  // sent or asked for, and not acknowledged
    std::uint32_t posted() const { return static_cast<std::uint32_t>(tail_ - head_); }

  private:
    struct Message {
        Kind kind;
        std::uint32_t bytes;
        std::uint32_t packets;
        std::uint32_t retransmissions;
        std::uint64_t first;         // sequence number
        std::uint64_t offset;        // in its stream
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

    Message& at(std::uint64_t message) { return ring_[message % ring_.size()]; }
    const Message& at(std::uint64_t message) const { return ring_[message % ring_.size()]; }
    void move(Place& place, std::uint64_t sequence) const;
    std::uint64_t bytes_until(const Place& place) const;
    // Of the next message, from next_ on: a packet, or all that is left of a READ.
    struct Part {
        std::uint32_t done;  // bytes of the message before it
        std::uint32_t left;  // and from it on
        std::uint32_t bytes;
        std::uint32_t packets;
    };
    Part next_part() const;
    bool fits(const Message& message, const Part& part) const;
    bool asks_for_ack(bool last, std::uint32_t bytes);
    bool acknowledge_until(std::uint64_t sequence, Time now);
    void progress_to(std::uint64_t sequence, Time now);
    void go_back();
    void retry();
    void fail();

    const RequesterSettings* settings_;
    boost::container::small_vector<Message, 2> ring_;  // few messages lie beside the rest
    std::uint64_t head_ = 0;                           // the oldest message not taken
    std::uint64_t tail_ = 0;                           // behind the newest
    std::uint64_t posted_end_;
    std::uint64_t posted_bytes_ = 0;
    std::uint64_t posted_reads_ = 0;
    std::uint64_t request_offset_ = 0;  // of the next SEND or WRITE in its stream
    std::uint64_t read_offset_ = 0;

    State state_ = State::ready;
    Place acknowledged_;      // all before it is
    Place next_;              // sent next; >= acknowledged_
    std::uint64_t sent_end_;  // behind the newest ever sent; >= next_
    // Behind the newest that asks for an answer: while that is not acknowledged, the timer runs. A sender
    // that is paced slowly may be silent for long before it asks.
    std::uint64_t asked_end_;
    // One gap among responses is one sequence error: nothing more about it until progress or a time-out.
    bool gap_known_ = false;
    std::uint64_t unasked_bytes_ = 0;  // sent since an acknowledgement was asked for
    std::uint32_t unasked_packets_ = 0;
    unsigned retries_ = 0;  // since progress
    unsigned rnr_retries_ = 0;
    std::optional<Time> timer_;
    Counters counters_;
};

// The delay in the low five bits of an RNR NAK's syndrome (IBTA 9.7).
Duration rnr_delay(std::uint8_t syndrome);
// Those bits for the shortest of its times that is not below `delay`; for a longer one, of the longest.
std::uint8_t rnr_syndrome(Duration delay);
inline constexpr Duration longest_rnr_delay = microseconds(655'360);

}  // namespace sluice::roce
