// Names that a fabric's report will have, as its plan knows them.
#pragma once

#include "control/fabric/plan/fabric_plan.hh"
#include "control/report/figures/figure_path.hh"

namespace sluice::fabric {

// Lives no longer than the plan.
NamesOf names_of(const FabricPlan& plan);

}  // namespace sluice::fabric
