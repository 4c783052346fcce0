// The responder of an RC queue pair (IBTA 9.7): takes requests in the order of their PSNs, delivers new
// payload, and makes the answers: ACKs (coalesced), NAKs (one for a gap, until the expected PSN comes) and
// READ responses, one by one as the caller's wire takes them.
//
// Selective recovery: early payload is placed, its request waits, and a NAK names a lost hole: its PSN is the
// first missing, its MSN field the one behind the last. It acknowledges nothing. So does a NAK for each
// trimmed packet, at once; those beyond `max_trimmed` that wait wait for the time-out. After an RNR NAK early
// packets are dropped, as the requester sends all again.
//
// Answers leave in the order of PSNs: an ACK or NAK waits for the READ responses before it, which acknowledge
// all before them. At most `max_reads` READs wait to be answered; beyond that the oldest is forgotten, which
// a requester within its limit has complete. A repeated request is answered again. After an invalid request
// the QP has failed: it takes nothing more, and answers the same. The host calls `next` when the wire is
// free, after `receive`. No allocation after construction. Sizes are bytes.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/roce/packet.hh"
#include "lib/roce/receive_window.hh"

namespace sluice::roce {

struct ResponderSettings {
    std::uint32_t mtu = 1024;      // the requester's
    std::uint32_t ack_every = 16;  // packets at most that one ACK is for; >= 1
    std::uint32_t max_reads = 16;  // >= 1
    std::uint32_t first_psn = 0;
    RecoverySettings recovery{};
    bool keeps_keys = false;  // of WRITEs that have come
};

class RcResponder {
  public:
    enum class State : std::uint8_t { ready, failed };
    // Between the packets of a message; a READ request is a message of one packet.
    enum class Within : std::uint8_t { nothing, send, write };

    struct Delivery {
        enum class Kind : std::uint8_t { none, payload, read };
        Kind kind = Kind::none;
        std::uint64_t offset = 0;  // of the payload in this QP's stream
        std::uint32_t bytes = 0;
        std::uint32_t messages = 0;  // that end: in order, and all of them has come
    };
    struct Counters {
        std::uint64_t packets = 0;     // taken in order
        std::uint64_t duplicates = 0;  // requests again
        std::uint64_t gaps = 0;        // sequence errors told to the requester
        std::uint64_t early = 0;       // dropped: their turn has not come, nor do they wait for it
        std::uint64_t invalid = 0;
    };

    explicit RcResponder(const ResponderSettings& settings);
    // Before all packets: it has taken so many, which end so many messages.
    void continue_after(std::uint64_t packets, std::uint32_t messages) {
        expected_ += packets;
        msn_ = messages & psn_mask;
    }

    // A request: SEND, WRITE or READ; others are ignored. `rnr`: no receive buffer, so SENDs get an RNR NAK
    // with these low five bits.
    Delivery receive(const Incoming& packet, std::optional<std::uint8_t> rnr = std::nullopt, Time now = {});
    // A request whose payload a switch has cut off. False: it is not asked for.
    bool receive_trimmed(const Incoming& packet, Time now);
    // The ACK, NAK or READ response that is sent now; nothing: none.
    std::optional<Outgoing> next();
    bool has_next() const { return has_response() || reply_ || !trimmed_.empty() || has_hole(); }
    bool has_response() const { return reads_ != 0; }  // of a READ: that is the next

    std::optional<Time> next_timer() const {
        return came_.any(expected_) ? came_.next_timer() : std::nullopt;
    }
    void expire(Time now);

    // The keys of WRITEs that ended since the last call, in order; each is the RETH's.
    std::vector<std::uint32_t> take_keys() { return std::exchange(keys_, {}); }

    State state() const { return state_; }
    const Counters& counters() const { return counters_; }
    const ReceiveWindow::Counters& reordering() const { return came_.counters(); }
    std::uint32_t msn() const { return msn_; }  // messages taken, 24 bits

  private:
    // Responses to a READ that are still to be sent.
    struct Read {
        std::uint64_t next;  // sequence number
        std::uint64_t end;
        std::uint64_t offset;  // of the next response
        std::uint32_t bytes;   // left
        bool begun;
    };

    // The facts of a request, which may wait for its turn.
    struct Request {
        std::uint64_t address;
        std::uint32_t length;  // RETH's, and so is the key
        std::uint32_t key;
        std::uint16_t bytes;  // of payload
        Opcode opcode;
        bool ack_request;
    };

    static Request request_of(const Incoming& packet);
    bool is_selective() const { return !early_.empty(); }
    bool has_hole() const {
        return came_.any(expected_) && came_.has_hole() && state_ == State::ready && !waits_;
    }
    Request& early_at(std::uint64_t sequence) { return early_[sequence & (early_.size() - 1)]; }
    std::uint64_t place_of(std::uint64_t sequence) const {
        return payload_place(sequence, settings_.first_psn, settings_.mtu);
    }
    Delivery take(const Request& request);
    Delivery take_payload(const Request& request);
    Delivery take_read(const Request& request);
    Delivery receive_early(const Incoming& packet, std::uint64_t sequence, bool has_buffer, Time now);
    Delivery refuse();
    void take_early(Delivery& delivery);
    void receive_again(const Incoming& packet, std::uint64_t sequence);
    void acknowledge(bool now);
    void add_read(std::uint64_t sequence, const Reth& reth);
    Outgoing next_response();
    ReceiveWindow::Hole next_hole();
    std::uint32_t packets_of(std::uint32_t bytes) const {
        return (bytes + settings_.mtu - 1) / settings_.mtu;
    }

    ResponderSettings settings_;
    State state_ = State::ready;
    std::uint64_t expected_;  // sequence number
    Within within_ = Within::nothing;
    std::uint64_t write_left_ = 0;  // bytes of the WRITE that is under way
    std::uint32_t write_key_ = 0;   // likewise
    std::uint32_t msn_ = 0;

    std::optional<std::uint8_t> reply_;  // syndrome of the next acknowledgement
    // For the expected PSN, after a NAK (selective: an RNR NAK), without another.
    bool waits_ = false;
    std::uint32_t unacknowledged_ = 0;  // packets
    std::vector<Read> queue_;           // the first `reads_`, in the order of their PSNs
    std::uint32_t reads_ = 0;
    ReceiveWindow came_;
    Counters counters_;
    std::vector<std::uint32_t> keys_;
    std::vector<Request> early_;                     // selective: those that came_ holds, by sequence number
    boost::circular_buffer<std::uint64_t> trimmed_;  // sequence numbers to ask for
};

}  // namespace sluice::roce
