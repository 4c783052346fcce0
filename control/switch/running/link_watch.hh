// The state of each port's link, since when, and the cause if it is down, for events and the report. Control
// calls it after each command, and periodically with the devices' states.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/ports/kernel_interface.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

class DevicePort;

// As the report names it.
std::string_view to_string(LinkCause cause);

struct LinkNotice {
    PortId port;
    LinkCause cause;   // none: up again
    LinkCause before;  // none: it was up
    Duration lasted;   // the state before: up, or down for any cause
    bool is_up() const { return cause == LinkCause::none; }
};

// The text of an event: "port p0 down: its interface eth1 is set down; do: ip link set eth1 up".
std::string link_text(const std::string& port, const DevicePort* device, const LinkNotice& notice);

class LinkWatch {
  public:
    explicit LinkWatch(std::size_t ports) : ports_(ports) {}

    // Nothing: no change. Another cause of a link that is down is a notice, but no new state.
    std::optional<LinkNotice> look(PortId port, LinkCause cause, Time now);
    LinkCause cause(PortId port) const { return ports_[port].cause; }
    // The time of its last change; 0: up since the start.
    Time since(PortId port) const { return ports_[port].since; }

  private:
    struct State {
        LinkCause cause = LinkCause::none;
        Time since{};
    };
    std::vector<State> ports_;
};

}  // namespace sluice
