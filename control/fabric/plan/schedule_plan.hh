// The schedule of a workload for the hosts of a fabric: which algorithm each of its collectives takes, with
// which settings. Private to the makers of a plan.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/hosts.hh"
#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

// `first_group`: see SchedulePlan. `hosts`: by rank. An error's text with what to do.
//
// Ranks of a server (`server` of them, in their order) do not use the network for a collective that stays
// within it, nor for their part of an all-reduce over whole servers: it is hierarchical. A collective gets at
// least the bytes that its algorithm can share.
tl::expected<SchedulePlan, std::string> plan_schedule(const Schedule& schedule,
                                                      const WorkloadConfig& workload,
                                                      std::vector<std::string> hosts,
                                                      std::uint32_t first_group);
// The flow that stands for it; `plan.flow` need not be there.
FlowConfig flow_of(const WorkloadConfig& workload, const SchedulePlan& plan);
// The queue pairs that it has, of each pair of hosts once.
std::uint64_t queue_pairs_of(const SchedulePlan& plan);

}  // namespace sluice::fabric
