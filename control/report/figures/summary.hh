// The report as text for a terminal: the result first, then the details.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

std::string summarize(const nlohmann::ordered_json& report);
// A line on the time-outs of a report's `flows`, a list or by name; empty: all have the least default.
std::string timeouts_text(const nlohmann::ordered_json& flows);
// Its beginning: the frames, whether it was lossless, and the warnings.
std::string verdict_text(const nlohmann::ordered_json& report);

}  // namespace sluice
