// When a port sleeps under the virtual clock: nothing can happen at it by itself.
#pragma once

#include <optional>

#include "dataplane/path/egress.hh"
#include "dataplane/path/watchdog.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

// When a wire lets go of a frame that it holds.
inline std::optional<Time> next_on_wire(const PortContext& port) {
    return port.wire ? port.wire->next_due() : std::nullopt;
}

// True when nothing can happen to the port's pauses and to its watchdog before a pause ends or the watchdog's
// next event, unless a packet enters its queues or leaves them.
inline bool pauses_rest(const PortContext& port, const Policy& policy, Time now) {
    // How busy a port is for others is published at each instant in which it is awake.
    if (port.watchdog.settings_changed || policy.balance.active) return false;
    return port.watchdog.machine.rests(
        map_classes(policy.ports[port.id].map.pfc_priority_to_queue, port.honor.paused(now)));
}

// True when nothing can happen at the port before its next frame arrives or leaves, unless a packet enters
// its queues, a limit of its groups moves, or control changes something.
inline bool can_sleep(const PortContext& port, const Policy& policy, Duration turn, Time now) {
    if (!port.link_up || port.pause_peer || next_on_wire(port)) return false;
    // On a grid of turns its ring is filled at each.
    if (turn.ps != 0) return port.groups_in_use == 0 && is_silent(port) && !is_watched(port);
    return !is_watched(port) || pauses_rest(port, policy, now);
}

}  // namespace sluice
