// The report as text for a terminal: the result first, then the details.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

std::string summarize(const nlohmann::ordered_json& report);

}  // namespace sluice
