// Checks of a fabric that parsed: lint of every switch, flows, circles of pauses.
#pragma once

#include <string>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// The findings of one switch, or of the flows of all (empty name).
struct FabricFinding {
    std::string switch_name;
    Finding finding;
    std::size_t others = 0;  // switches that have the same to hear
    std::string text(const std::string& file) const;
};
// Worst first. `force`: what may be forced (control/config/schema/finding.hh), and a circle of pauses, is no
// error; switches remember it.
std::vector<FabricFinding> judge_plan(FabricPlan& plan, bool force, const Stage& stage = tell_nobody);

}  // namespace sluice::fabric
