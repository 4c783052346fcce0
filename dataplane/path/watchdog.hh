// The PFC watchdog's actions at a port: the owner's part of lib/pfc/pfc_watchdog.hh.
//
// `drop`: the queue is emptied and gets nothing, its priorities' PFC is neither obeyed nor sent. A pause that
// we had asserted for them gets no XON, so the peer resumes when it expires; when the action ends, groups in
// XOFF send it again. `forward`: the peer's pauses are not obeyed. `alert`: nothing. Received PFC is counted
// in all of them; pauses that still run when the action ends are obeyed again.
#pragma once

#include "dataplane/path/worker_context.hh"

namespace sluice {

// Takes up a new policy's watched and cut queues. At the start of a turn, before its packets.
void take_up_settings(WorkerContext& worker, PortContext& port, Time now);
inline void take_up_watchdog(WorkerContext& worker, PortContext& port, Time now) {
    if (port.watchdog.settings_changed) [[unlikely]]
        take_up_settings(worker, port, now);
}

unsigned watch_queues(WorkerContext& worker, PortContext& port, Time now);

// True when there is a pause or a storm, or new settings.
inline bool is_watched(const PortContext& port) {
    return (port.honor.unexpired() | port.watchdog.machine.awake()) != 0 || port.watchdog.settings_changed;
}

// Before egress, each turn; returns the number of actions that began or ended. Without a pause and a storm it
// is two comparisons.
inline unsigned watch(WorkerContext& worker, PortContext& port, Time now) {
    if (!is_watched(port)) [[likely]]
        return 0;
    return watch_queues(worker, port, now);
}

// The link went down, which ends a storm. Called when all else of the port has been reset.
void watch_link_down(WorkerContext& worker, PortContext& port, Time now);

// When the next storm begins or ends, if nothing else happens before.
inline std::optional<Time> next_watchdog(const PortContext& port) {
    const PfcWatchdog& machine = port.watchdog.machine;
    return machine.awake() == 0 ? std::nullopt : machine.next_event();
}

}  // namespace sluice
