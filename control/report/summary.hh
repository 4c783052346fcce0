// What a person wants to know first, then the rest: the report as text for a terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

std::string summarize(const nlohmann::ordered_json& report);

}  // namespace sluice
