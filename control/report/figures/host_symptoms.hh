// Misconfigurations that the figures of a simulated host show, each with the key that mends it.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/host_config.hh"
#include "control/switch/running/running_switch.hh"

namespace sluice {

// `port` is the host's and has caught up. A sentence each.
std::vector<std::string> host_symptoms(const RunningSwitch& running, const HostConfig& host,
                                       const HostPort& port);

}  // namespace sluice
