// The ingress half of a packet's way, on the worker that owns the ingress port: receive, parse, classify,
// route and rewrite, admit, hand off. Its steps are functions over a batch (ingress_stages.hh).
#pragma once

#include "dataplane/path/worker_context.hh"
#include "lib/buffer/pool_bounds.hh"

namespace sluice {

// Takes back the cells that egress workers have released for this port. Every turn, for all ports, before any
// group is judged.
void collect_releases(WorkerContext& worker, PortContext& port, Time now);
inline void take_releases(WorkerContext& worker, PortContext& port, Time now) {
    if (port.pause_peer || port.groups_in_use != 0) collect_releases(worker, port, now);
}

// XOFF and XON for every group in use, at the pools' present occupancy: after each burst of arrivals and each
// batch of releases. The decisions wait in want_xoff and want_xon until egress sends a PFC frame.
void judge_groups_in_use(WorkerContext& worker, PortContext& port, Time now);
inline void judge_groups(WorkerContext& worker, PortContext& port, Time now) {
    if ((port.groups_in_use & port.groups_judged) != 0) judge_groups_in_use(worker, port, now);
}

// The virtual clock: sets within which of its pools' free cells the port's groups need not be judged anew;
// returns its groups in XOFF.
std::uint8_t bound_groups(const WorkerContext& worker, const PortContext& port, PoolBounds& bounds);

// Records the groups in use of a traced port, as judging them does.
void trace_groups(const WorkerContext& worker, PortContext& port, Time now);

// Routes a packet that came in by the port before and that control kept, or drops it for `reason`. It has
// been counted as received, and pauses nobody.
void route_again(WorkerContext& worker, PortContext& port, Packet* packet, DropReason reason);

// Releases held frames of a wire that are due, or all with `all`, whatever the port's link is; returns how
// many. Only of a port with a wire.
unsigned release_from_wire(WorkerContext& worker, PortContext& port, Time now, bool all);

// Takes one burst that has arrived by `now`; returns the number of frames, 0 when there is none. `Meter`:
// Laps or NoLaps.
template <class Meter>
unsigned ingress(WorkerContext& worker, PortContext& port, Time now, Meter& meter);

// The same for a port with several receive queues, in two halves: the worker that polls a queue beyond the
// first does the steps that need the frame only; the port's owner does the rest.
template <class Meter>
unsigned receive_for_owner(WorkerContext& worker, ReceiveQueue& queue, Time now, Meter& meter);
template <class Meter>
unsigned receive_handed_off(WorkerContext& worker, PortContext& port, Time now, Meter& meter);

}  // namespace sluice
