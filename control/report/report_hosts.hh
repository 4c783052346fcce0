// Simulated hosts and their flows, as the report has them.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "control/switch/running_switch.hh"
#include "lib/roce/nic_statistics.hh"

namespace sluice {

// By host and by flow, in the configuration's order; both empty where there are none.
nlohmann::ordered_json hosts_json(const RunningSwitch& running);
nlohmann::ordered_json flows_json(const RunningSwitch& running);
// How long messages took, by flow of the configuration `world`.
std::vector<roce::FlowStatistics> flow_statistics(const Config& world,
                                                  const std::vector<const HostPort*>& hosts);
// `completion_ns` and `slowdown_permille`; of no message null.
nlohmann::ordered_json durations_json(const roce::FlowStatistics& statistics);
// Flows of hosts at any switches; `world` has the flows, `hosts` have caught up.
nlohmann::ordered_json flows_json(const Config& world, const std::vector<const HostPort*>& hosts, Time now);

}  // namespace sluice
