// Figures of a host's queue pairs, flows and NIC. Written by the NIC's thread; histograms may be read by any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/frame/ip_address.hh"
#include "lib/peer/pause_sender.hh"
#include "lib/threads/histogram.hh"

namespace sluice::roce {

struct QpStatistics {
    std::uint64_t completed = 0;        // messages, at the requester
    std::uint64_t retried = 0;          // of those: some of their packets were sent again
    std::uint64_t failed = 0;           // messages, at the requester
    std::uint64_t completed_bytes = 0;  // likewise, payload
    Duration completion_time{};         // of those, summed
    std::uint64_t delivered = 0;        // messages in order: SENDs and WRITEs, and READs that were asked for
    std::uint64_t delivered_bytes = 0;  // payload taken: at the responder, and of READs at the requester
    Time last_delivered{};              // when some of it came last
    std::uint64_t wrong_payload = 0;    // packets of those
    std::uint64_t data_packets = 0;     // sent: of the paced kind
    std::uint64_t data_wire_bytes = 0;
    Duration recovering{};               // of that, packets paced by a rate whose last cut is 2 ms ago
    Rate recovering_from{};              // the lowest rate of those; 0: there was none
    std::uint64_t ce_received = 0;       // data packets with CE
    std::uint64_t not_ect_received = 0;  // data packets that no switch may mark
    std::uint64_t acks_sent = 0;         // and NAKs
    std::uint64_t acks_received = 0;     // likewise
    std::uint64_t cnps_sent = 0;
    std::uint64_t cnps_received = 0;
    std::uint64_t trimmed_asked = 0;  // trimmed packets that were asked for

    // Sums; `recovering` stays that of one queue pair.
    void add(const QpStatistics& other) {
        using Qp = QpStatistics;
        for (const auto counter :
             {&Qp::completed, &Qp::retried, &Qp::failed, &Qp::completed_bytes, &Qp::delivered,
              &Qp::delivered_bytes, &Qp::wrong_payload, &Qp::data_packets, &Qp::data_wire_bytes,
              &Qp::ce_received, &Qp::not_ect_received, &Qp::acks_sent, &Qp::acks_received, &Qp::cnps_sent,
              &Qp::cnps_received, &Qp::trimmed_asked})
            this->*counter += other.*counter;
        completion_time = completion_time + other.completion_time;
        last_delivered = max(last_delivered, other.last_delivered);
    }
};

// A message that has ended, at its requester.
struct MessageResult {
    Time came, ended;
    std::uint64_t bytes;
    Duration ideal;   // on an empty path (empty_path.hh)
    Duration paused;  // how long its class was paused at the host meanwhile
    IpAddress peer;
    std::uint32_t peer_qp;          // its number there
    std::uint32_t flow;             // index of the host's flows
    std::uint32_t number;           // its place on the queue pair, from 0
    std::uint32_t qp;               // number of the queue pair
    std::uint32_t retransmissions;  // packets
    std::uint32_t cnps;             // that came meanwhile
    bool failed;
};

// A slowdown as a histogram has it: 1 ps stands for 1/1000.
constexpr Duration slowdown_of(Duration took, Duration ideal) {
    return {took.ps / (ideal.ps < 1000 ? 1 : ideal.ps / 1000)};
}

// Results of messages, where they are asked for.
struct MessageLog {
    const PauseSender* wire = nullptr;  // whose pauses count
    std::vector<MessageResult> ended;   // in order of time; the reader clears it
};

// Figures of the requesters of a flow at this host. A message takes from its arrival until it is
// acknowledged.
struct FlowStatistics {
    Histogram completion_time;
    Histogram slowdown;         // against the empty path: slowdown_of
    MessageLog* log = nullptr;  // the NIC's; null: none is kept
};

struct NicStatistics {
    std::uint64_t frames_sent = 0;
    std::uint64_t frames_received = 0;
    std::uint64_t refused = 0;     // no packet of an end point: corrupted, or another protocol's
    std::uint64_t trimmed = 0;     // of data, without its payload
    std::uint64_t strangers = 0;   // for an address or a queue pair that is not here, or from another peer
    std::optional<Time> last_cnp;  // that was sent
    // The first packet with CE for which a CNP is due (none was sent in the CNP interval before it) and not
    // sent. A notification point sends it within the time of a few frames.
    std::optional<Time> unanswered_since;
    std::uint8_t not_ect_dscp = 0;  // of the last packet of not_ect_received
};

}  // namespace sluice::roce
