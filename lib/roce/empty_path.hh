// Time of a message on an empty path: at line rate, store and forward.
//
// A host's switch has a frame when its first bit comes, and every other end of a link when its last bit
// comes, as simulated switches and hosts have it. Times of a link go by its rate alone: nothing waits but for
// the frames before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/values/units.hh"

namespace sluice::roce {

struct PathLink {
    Duration byte_time;
    Duration propagation;
    bool operator==(const PathLink&) const = default;
};

// Frames sent back to back: a first, equal ones, a last. Wire bytes.
struct Train {
    std::uint64_t count;  // in all, >= 1; of one frame only `last` counts
    std::uint32_t first, middle, last;
};

// From the start of the first frame at the first link until the last has come through all; at least one link.
Duration time_through(std::span<const PathLink> links, const Train& train);
// The same, the other way.
Duration time_back(std::span<const PathLink> links, const Train& train);

}  // namespace sluice::roce
