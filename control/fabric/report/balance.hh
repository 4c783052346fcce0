// How evenly the members of each ECMP group are loaded.
#pragma once

#include <nlohmann/json.hpp>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// One entry for every set of cables among which a switch chooses in the routes that the plan begins with,
// the most uneven first. `links`: of the report. What other routes put on the cables counts, too.
nlohmann::ordered_json balance_json(const FabricPlan& plan, const nlohmann::ordered_json& links);

}  // namespace sluice::fabric
