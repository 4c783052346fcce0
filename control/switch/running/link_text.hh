// A port's link that went up or down, as an event says it: why, and the command that mends it.
#pragma once

#include <string>

#include "control/switch/kernel/link_watch.hh"

namespace sluice {

class DevicePort;

// `device`: null where the port is none of a device.
std::string link_text(const std::string& port, const DevicePort* device, const LinkNotice& notice);

}  // namespace sluice
