// The state of each port's link, since when, and the cause if it is down: one record for every cause, from
// which events and the report are made. Control looks after each change by command, and now and then at what
// the devices say; the worker of the port follows in its next turn.
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

// Of an event: "port p0 down: its interface eth1 is set down; do: ip link set eth1 up". `device`: null: the
// port is none of a device.
std::string link_text(const std::string& port, const DevicePort* device, const LinkNotice& notice);

class LinkWatch {
  public:
    explicit LinkWatch(std::size_t ports) : ports_(ports) {}

    // Nothing: as it was. Another cause of a link that is down is a notice, and its state goes on.
    std::optional<LinkNotice> look(PortId port, LinkCause cause, Time now);
    LinkCause cause(PortId port) const { return ports_[port].cause; }
    // When it went up or down last; 0: it has been up since the start.
    Time since(PortId port) const { return ports_[port].since; }

  private:
    struct State {
        LinkCause cause = LinkCause::none;
        Time since{};
    };
    std::vector<State> ports_;
};

}  // namespace sluice
