// Results of scenarios as a JUnit file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::fabric {

struct ScenarioResult {
    std::string name;
    nlohmann::ordered_json report;    // null: there was no run
    std::vector<std::string> errors;  // why there was none, or what went wrong beside it
};

std::string junit_text(const std::vector<ScenarioResult>& results);

}  // namespace sluice::fabric
