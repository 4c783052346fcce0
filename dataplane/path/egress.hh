// The egress half of a packet's way, on the worker that owns the egress port: admit to a queue, schedule, put
// on the wire.
#pragma once

#include <optional>

#include "dataplane/path/note_spells.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

// Puts packets that ingress has admitted into their queues, in this order.
void enqueue(WorkerContext& worker, std::span<Packet* const> packets, Time now);

// True when the port has nothing to send, and no pause to refresh.
inline bool is_silent(const PortContext& port) {
    return (port.backlog | port.want_xoff | port.want_xon | port.generator.asserted()) == 0 &&
           port.out.empty();
}

// Fills the out-batch from the queues and sends it; returns the number of frames that left. `Meter`: Laps or
// NoLaps.
template <class Meter>
unsigned send_queued(WorkerContext& worker, PortContext& port, Time now, Meter& meter);
template <class Meter>
inline unsigned egress(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    if (!port.link_up) return 0;
    port.link.settle(now);
    if (port.honor.expires(now)) [[unlikely]]
        end_pauses(port, now);
    if (port.trace) port.trace->obeyed_changed(now, port.honor.unexpired());
    return is_silent(port) ? 0 : send_queued(worker, port, now, meter);
}

// True when a queue holds packets and is neither paused nor held.
bool has_ready_queue(const PortContext& port, const Policy& policy, Time now);

// Time from `now` until the egress of a port that is not silent, or pauses its peer, has something to do, if
// nothing arrives before; never: the longest Duration.
Duration until_sending(const PortContext& port, const Policy& policy, Time now);

// The switch stops: sends XON for all priorities that this port pauses. True once there is none.
bool release_peer(WorkerContext& worker, PortContext& port, Time now);

// An operator takes the port down, after discard_queues: sends XON, at once, for all priorities that it
// pauses.
void resume_peer(WorkerContext& worker, PortContext& port, Time now);

// Empties a queue; returns the number of packets.
unsigned discard_queue(WorkerContext& worker, PortContext& port, ClassId queue, DropReason reason, Time now);

// The link went down: packets queued for it cannot leave.
void discard_queues(WorkerContext& worker, PortContext& port, Time now);

}  // namespace sluice
