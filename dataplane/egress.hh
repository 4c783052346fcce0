// The egress half of a packet's way, on the worker that owns the port it leaves by: admit to a queue,
// schedule, put on the wire.
#pragma once

#include <optional>

#include "dataplane/worker_context.hh"

namespace sluice {

// Puts packets that ingress has admitted into their queues, in this order.
void enqueue(WorkerContext& worker, std::span<Packet* const> packets, Time now);

// Fills the out-batch from the queues and sends it; returns the number of frames that left. `Meter`: Laps or
// NoLaps.
template <class Meter>
unsigned egress(WorkerContext& worker, PortContext& port, Time now, Meter& meter);

// Whether a queue holds packets and is neither paused nor held.
bool has_ready_queue(const PortContext& port, const Policy& policy, Time now);

// When egress will next have something to do, if nothing arrives before.
std::optional<Time> next_egress(const PortContext& port, const Policy& policy, Time now);

// The switch stops: XON for whatever this port holds paused. True once nothing is.
bool release_peer(WorkerContext& worker, PortContext& port, Time now);

// An operator takes the port down, after discard_queues: XON, at once, for whatever it holds paused.
void resume_peer(WorkerContext& worker, PortContext& port, Time now);

// Empties a queue; returns the number of packets.
unsigned discard_queue(WorkerContext& worker, PortContext& port, ClassId queue, DropReason reason, Time now);

// The link went down: what is queued for it cannot leave.
void discard_queues(WorkerContext& worker, PortContext& port, Time now);

}  // namespace sluice
