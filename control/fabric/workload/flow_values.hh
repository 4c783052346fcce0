// The values of a flow list: times and sizes as programs print them ("0.1", "2e-05", "10us", "1.5MB").
//
// Sizes have the units of control/config/schema/values.hh, and so have times. A time is rounded to the
// nearest picosecond, because a printed double has more digits; a size must be whole bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "control/config/schema/values.hh"
#include "control/fabric/workload/flow_list.hh"

namespace sluice::fabric {

// `unit`: of a number without one, in picoseconds; scaled, in [0, max_flow_start].
ParsedValue<Duration> parse_flow_time(std::string_view text, std::uint64_t unit, double scale);
// `unit`: in bytes; scaled, in [1, max_flow_bytes].
ParsedValue<std::uint64_t> parse_flow_bytes(std::string_view text, std::uint64_t unit, double scale);
// An integer from low to high.
ParsedValue<std::uint64_t> parse_whole(std::string_view text, std::uint64_t low, std::uint64_t high);

// Without blanks (spaces and tabs) at both ends.
std::string_view trimmed(std::string_view text);
// The text begins a comment, or is empty; trimmed.
inline bool is_blank(std::string_view text) { return text.empty() || text.front() == '#'; }

}  // namespace sluice::fabric
