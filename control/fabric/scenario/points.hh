// The points of a sweep: the cross product of what varies, or a sample of it, each with its seeds.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

struct SweepPoint {
    std::vector<std::string> values;  // of each axis, as a file has them
    std::uint64_t seed = 1;

    // What --set takes.
    std::vector<std::string> sets(const VaryConfig& vary) const;
    // "switch.default.buffer.size = 4MB, seed 2".
    std::string text(const VaryConfig& vary) const;
};

inline constexpr std::uint64_t max_points = 1'000'000;

// In order: the last axis changes first, seeds before it. An error: there are too many.
tl::expected<std::vector<SweepPoint>, std::string> sweep_points(const FabricConfig& file);

// A value as people read it: without its quotes.
std::string plain(const std::string& value);

}  // namespace sluice::fabric
