// Load balancing against the hosts behind it: what reorders, and what does nothing.
#pragma once

#include <vector>

#include "control/fabric/plan/fabric_lint.hh"

namespace sluice::fabric {

// `world`: all hosts and flows. Of switches with the same to say, the first says it.
void check_load_balance(const FabricPlan& plan, const Config& world, bool force,
                        std::vector<FabricFinding>& findings);

}  // namespace sluice::fabric
