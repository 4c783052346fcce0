// What at a port goes otherwise than its user may have meant, as sentences that name the key that mends it.
#pragma once

#include <string>
#include <vector>

#include "control/switch/running_switch.hh"

namespace sluice {

// Any time; while workers run, as far as they have counted. Empty: nothing is strange.
std::vector<std::string> port_warnings(const RunningSwitch& running, PortId id);

}  // namespace sluice
