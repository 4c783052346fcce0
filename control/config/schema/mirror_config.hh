// Mirrors, as the file has them: [mirror.NAME]. Empty lists choose all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/frame/drop_reason.hh"
#include "lib/frame/ip_address.hh"
#include "lib/punt/punt.hh"
#include "lib/record/mirror.hh"
#include "lib/values/units.hh"

namespace sluice {

struct MirrorConfig {
    bool enabled = true;
    std::vector<MirrorEvent> on{MirrorEvent::drop};
    std::string file;  // one of the three is given
    std::string fifo;
    std::optional<IpAddress> collector;
    std::uint64_t file_bytes = 64'000'000;  // of a file, before the next one
    std::uint8_t dscp = 8;                  // of packets to the collector: CS1, below best effort
    std::uint16_t session = 1;              // of them, of ERSPAN
    std::uint16_t snap_bytes = 128;         // of a frame, in [64, max_mirrored_bytes]
    Duration delay = microseconds(100);     // in its queue, from which a packet is delayed
    PuntLimit limit{1000, 1000};            // frames a second, and at once; a rate of 0: no limit
    std::vector<std::string> ports;         // ingress or egress
    std::vector<ClassId> classes;           // traffic classes, priorities of pauses
    std::vector<DropReason> reasons;        // of drops
    bool operator==(const MirrorConfig&) const = default;

    const std::string& path() const { return file.empty() ? fifo : file; }
};

}  // namespace sluice
