// Finds pauses that can wait for each other in a circle, before anything runs.
//
// A channel is a link in one direction and a lossless class. It waits for another when packets that came by
// it leave by the other and both ends of both carry PFC for the class: a full queue at the second pauses the
// first. Without a circle among them there is no deadlock, whatever the load (Dally and Seitz, "Deadlock-Free
// Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on Computers C-36, 1987).
#pragma once

#include <string>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

constexpr std::size_t max_dependency_cycles = 64;  // that are sought

struct DependencyCycle {
    ClassId priority;
    std::vector<NodeId> switches;    // each pauses the one before it, the first the last
    std::vector<IpPrefix> prefixes;  // whose routes close it, a few
    std::string failed_link;         // that must be down for it; empty: none
};

// With the routes of the plan: circles that together have every channel which is on one, each the shortest
// through one of its channels; `max_dependency_cycles` at most. If there is none, and tiers allow
// one, those with each single link between switches down. The work grows with the tables of routes.
std::vector<DependencyCycle> dependency_cycles(const FabricPlan& plan);

std::string cycle_text(const FabricPlan& plan, const DependencyCycle& cycle);

}  // namespace sluice::fabric
