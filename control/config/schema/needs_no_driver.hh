// Tells by a look at a file, before it is read as a configuration, whether its run needs a driver of DPDK.
#pragma once

#include <string>

namespace sluice {

// True when the file asks for the virtual clock and has no arguments for EAL: its ports are captures and
// simulated hosts. False in doubt, and of what can be read once only, such as a pipe.
bool needs_no_driver(const std::string& path);

}  // namespace sluice
