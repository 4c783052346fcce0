// Simulated hosts and their flows, as the report has them.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "control/switch/running_switch.hh"

namespace sluice {

// By host and by flow, in the configuration's order; both empty where there are none.
nlohmann::ordered_json hosts_json(const RunningSwitch& running);
nlohmann::ordered_json flows_json(const RunningSwitch& running);
// Flows of hosts at any switches; `world` has the flows, `hosts` have caught up.
nlohmann::ordered_json flows_json(const Config& world, const std::vector<const HostPort*>& hosts, Time now);

}  // namespace sluice
