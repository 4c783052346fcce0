// Misconfigurations that the figures of a simulated host show, each with the key that mends it.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/host_config.hh"

namespace sluice {

class HostPort;
class RunningSwitch;

// `port` is the host's and has caught up. A sentence each.
std::vector<std::string> host_symptoms(const RunningSwitch& running, const HostConfig& host,
                                       const HostPort& port);

}  // namespace sluice
