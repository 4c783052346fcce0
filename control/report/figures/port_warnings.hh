// Warnings about a port that may not do what its user meant, as sentences that name the key to change.
#pragma once

#include <string>
#include <vector>

#include "lib/values/ids.hh"

namespace sluice {

class RunningSwitch;

// Any time; while workers run, as far as they have counted. Empty: nothing is strange.
std::vector<std::string> port_warnings(const RunningSwitch& running, PortId id);

}  // namespace sluice
