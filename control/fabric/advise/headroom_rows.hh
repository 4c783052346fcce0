// Headroom as it is beside headroom as it is computed.
#pragma once

#include <vector>

#include "control/fabric/advise/space.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// A row for each lossless group of each port, one for ports that are alike, in the order of switches.
std::vector<AdviseHeadroom> headroom_rows(const FabricPlan& plan);

}  // namespace sluice::fabric
