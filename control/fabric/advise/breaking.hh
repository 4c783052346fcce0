// What may break a set of values first: changes of the fabric beside them, each tried by a run of its own.
//
// Longer cables, twice the senders, the first switch of each tier down, another MTU of hosts, no congestion
// control. Each is a list of --set, so it is an edit that a person can make, too.
#pragma once

#include <string>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

struct Breaking {
    std::string name;               // "cables x 1.5"
    std::vector<std::string> sets;  // after those of the point
};

struct Breakings {
    std::vector<Breaking> list;
    std::vector<std::string> left_out;  // sentences: what cannot be tried, and why
};

// Those of the file, as `plan` has it whole. `half`: half of a run's time, at which a switch goes down; the
// names do not depend on it.
Breakings breakings_of(const FabricConfig& file, const FabricPlan& plan, Duration half);

}  // namespace sluice::fabric
