// The report of a fabric: one JSON object. Its keys are a contract (README).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/fabric/run/fabric.hh"

namespace sluice::fabric {

nlohmann::ordered_json make_report(Fabric& fabric, bool interrupted);

// The same for a terminal: a table by tier, the slowest flows, links by load.
std::string summarise(const nlohmann::ordered_json& report);

}  // namespace sluice::fabric
