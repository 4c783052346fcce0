// The cause of a port's link being down.
#pragma once

#include <cstdint>

namespace sluice {

enum class LinkCause : std::uint8_t {
    none,            // the link is up
    command,         // an operator's, or the configuration's
    interface_down,  // of the kernel: `ip link set ... down`
    no_carrier,      // the interface is up, and its peer's end or the cable is not
    interface_gone,
    device_gone,
    no_link,           // a device that is no interface of the kernel says so
    program_removed,   // of an XDP port, and it cannot be attached again
    program_replaced,  // likewise, by somebody else's, which is left alone
};

}  // namespace sluice
