// Simulated hosts and their flows, as the report has them.
#pragma once

#include <nlohmann/json.hpp>

#include "control/switch/running_switch.hh"

namespace sluice {

// By host and by flow, in the configuration's order; both empty where there are none.
nlohmann::ordered_json hosts_json(const RunningSwitch& running);
nlohmann::ordered_json flows_json(const RunningSwitch& running);

}  // namespace sluice
