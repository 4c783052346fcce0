// Packet trimming: a packet that its queue refuses goes on with its headers alone, so that its receiver
// learns of the loss (UEC 1.0.3, 4.1; SAI's DROP_AND_TRIM). The rule of an egress port, and the change of
// headers; the caller frees the bytes behind the cut and asks the new queue.
//
// SAI has IP length and checksum updated, SONiC's test plan has them left (its limitation 4): we follow SAI.
// UDP length, ECN and TTL stay, so the UDP length tells the receiver how much was cut.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/values/ids.hh"

namespace sluice {

constexpr std::uint16_t min_trim_bytes = 64, max_trim_bytes = 1024;

// The rule for packets that leave by a port.
struct TrimPolicy {
    std::uint64_t trimmable = 0;  // bit n: packets of DSCP n may be trimmed
    std::uint16_t bytes = 128;    // of the frame that stay, in [min_trim_bytes, max_trim_bytes], without FCS
    std::uint8_t queues = 0;      // bit n: queue n trims the packets that its limit refuses
    std::uint8_t dscp = 0;        // of trimmed packets
    ClassId traffic_class = 0;    // likewise
    ClassId queue = 0;            // likewise
    bool operator==(const TrimPolicy&) const = default;
};

// Sets DSCP, PCP, IP length and checksum of a frame of `frame_bytes`; returns the bytes of it that stay: all
// of a short one, and never less than its IP header. `head`: its first bytes, with the IP header. nullopt,
// and nothing is changed: no unicast IP packet of a trimmable DSCP.
std::optional<std::uint32_t> trim_headers(std::span<std::uint8_t> head, std::uint32_t frame_bytes,
                                          const TrimPolicy& policy);

}  // namespace sluice
