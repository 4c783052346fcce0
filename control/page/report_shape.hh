// What the page shows of a report, and of which kind each part is: a report that comes from a file may be
// anything.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

namespace sluice {

// Those parts of a report alone. The error names the first part that is missing or of another kind.
tl::expected<nlohmann::ordered_json, std::string> switch_for_page(const nlohmann::ordered_json& report);
// Of sluice-fabric's report, with its switches, each as above.
tl::expected<nlohmann::ordered_json, std::string> fabric_for_page(const nlohmann::ordered_json& report);

}  // namespace sluice
