// A driver's extended statistics (xstats): counters that each driver names in its own way. Read by control.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// By id. Empty: the device has none, or they changed while they were asked for.
std::vector<std::string> extended_names(std::uint16_t device);

// Of these ids; empty: the device does not answer.
std::vector<std::uint64_t> extended_values(std::uint16_t device, std::span<const std::uint64_t> ids);

}  // namespace sluice
