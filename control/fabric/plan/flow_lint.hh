// Flows and the ways of their packets: hosts between which no route leads, or not every one of its ways.
#pragma once

#include <vector>

#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/plan/forwarding.hh"

namespace sluice::fabric {

// Of each flow and collective the first such pair, there or back. `force`: it may run all the same.
void check_flow_ways(const FabricPlan& plan, const Forwarding& forwarding, bool force,
                     std::vector<FabricFinding>& findings);

}  // namespace sluice::fabric
