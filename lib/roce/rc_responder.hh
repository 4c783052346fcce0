// The responder of one RC queue pair (IBTA 9.7): takes requests in the order of their PSNs, says which
// payload is new, and says what to send back: ACKs (coalesced), NAKs (one for a gap, until the expected PSN
// comes) and READ responses, one by one as the caller's wire takes them.
//
// Answers leave in the order of PSNs: an ACK or NAK waits for the READ responses before it, which acknowledge
// what lies before them. READs are kept to be answered, at most `most_reads`; of more, the oldest is
// forgotten, which a requester within its limit has complete. A request again that is answered already is
// answered again. After an invalid request the QP has failed: it takes nothing more, and answers the same.
// Caller: a host. It asks `next` when the wire is free, after `receive`. No clock, no allocation after
// construction. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/roce/packet.hh"

namespace sluice::roce {

struct ResponderSettings {
    std::uint32_t mtu = 1024;       // the requester's
    std::uint32_t ack_every = 16;   // packets at most that one ACK is for; >= 1
    std::uint32_t most_reads = 16;  // >= 1
    std::uint32_t first_psn = 0;
};

class RcResponder {
  public:
    enum class State : std::uint8_t { ready, failed };
    // Between the packets of a message; a READ request is a message of one packet.
    enum class Within : std::uint8_t { nothing, send, write };

    struct Delivery {
        enum class Kind : std::uint8_t { none, payload, read };
        Kind kind = Kind::none;
        std::uint64_t offset = 0;  // of the payload in the stream of this QP's SENDs and WRITEs
        std::uint32_t bytes = 0;
        bool ends_message = false;
    };
    struct Counters {
        std::uint64_t packets = 0;     // taken in order
        std::uint64_t duplicates = 0;  // requests again
        std::uint64_t gaps = 0;        // sequence errors told to the requester
        std::uint64_t early = 0;       // dropped: their turn has not come
        std::uint64_t invalid = 0;
    };

    explicit RcResponder(const ResponderSettings& settings);

    // A request: SEND, WRITE or READ; others are ignored. `rnr`: there is no receive buffer, and SENDs are
    // told to come again after the time that these low five bits of the syndrome name.
    Delivery receive(const Incoming& packet, std::optional<std::uint8_t> rnr = std::nullopt);
    // The ACK, NAK or READ response that is sent now; nothing: none.
    std::optional<Outgoing> next();
    bool has_next() const { return has_response() || reply_ != Reply::none; }
    bool has_response() const { return reads_ != 0; }  // of a READ: that is the next

    State state() const { return state_; }
    const Counters& counters() const { return counters_; }
    std::uint32_t msn() const { return msn_; }  // messages taken, 24 bits

  private:
    enum class Reply : std::uint8_t { none, ack, sequence_error, rnr, invalid };
    // Responses to a READ that are still to be sent.
    struct Read {
        std::uint64_t next;  // sequence number
        std::uint64_t end;
        std::uint64_t offset;  // of the next response
        std::uint32_t bytes;   // left
        bool begun;
    };

    Delivery take(const Incoming& packet, bool is_send);
    Delivery take_read(const Reth& reth);
    Delivery refuse();
    void receive_again(const Incoming& packet, std::uint64_t sequence);
    void acknowledge(bool now);
    void add_read(std::uint64_t sequence, const Reth& reth);
    Outgoing next_response();
    std::uint32_t packets_of(std::uint32_t bytes) const {
        return (bytes + settings_.mtu - 1) / settings_.mtu;
    }

    ResponderSettings settings_;
    State state_ = State::ready;
    std::uint64_t expected_;  // sequence number
    Within within_ = Within::nothing;
    std::uint64_t write_left_ = 0;  // bytes of the WRITE that is under way
    std::uint64_t offset_ = 0;      // of the next payload in the stream
    std::uint32_t msn_ = 0;

    Reply reply_ = Reply::none;
    std::uint8_t rnr_ = 0;
    bool waits_ = false;                // for the expected PSN, after a NAK: nothing more is said meanwhile
    std::uint32_t unacknowledged_ = 0;  // packets
    std::vector<Read> queue_;           // the first `reads_`, in the order of their PSNs
    std::uint32_t reads_ = 0;
    Counters counters_;
};

}  // namespace sluice::roce
