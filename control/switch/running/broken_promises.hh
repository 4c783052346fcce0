// Why the configuration of a switch does not promise to be lossless: what it says, what was forced, peers
// that do not obey, injected faults.
#pragma once

#include <string>
#include <vector>

namespace sluice {

class RunningSwitch;

// A sentence each; empty when it does.
std::vector<std::string> broken_promises(const RunningSwitch& running);

}  // namespace sluice
