// Cut-through at an idle port: packets that come and leave in one turn skip the queues. After egress
// admission they stay aside; then all are put in the order in which the scheduler would have picked them.
// Counters, marks, records and times are the same as if they had been queued; where sums cannot show that,
// they are queued after all.
//
// Private to the egress stages.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/path/watchdog.hh"
#include "dataplane/path/worker_context.hh"
#include "lib/clock/link.hh"
#include "lib/queue/packet_queue.hh"
#include "lib/values/ids.hh"

namespace sluice {

// A frame taken from its queue, with the state of wire and queue then.
struct Picked {
    QueueEntry entry;
    Time departure;
    std::uint32_t behind_cells;  // that stayed in the queue
    ClassId queue;
};

// Left uninitialized: only the frames that are picked mean something.
struct PickedFrames {
    PickedFrames() {}  // NOLINT(modernize-use-equals-default): the union has no default
    union {
        std::array<Picked, burst_size> frame;
    };
};

// Where the next frame goes, and when.
struct Picking {
    Picked* next;
    Picked* end;
    LinkTransmitter link;

    bool has_room(Time now) const { return next != end && link.can_start(now); }
};

// True when the next packet for the port may stay aside: no packet waits, no queue is held back, no mirror
// asks for delays, and several packets may leave at a moment. `fill` sees a pause that comes later.
inline bool may_pass(const Policy& policy, const PortContext& port) {
    const PortPolicy& own = policy.ports[port.id];
    return !port.aside.empty() ||
           (port.backlog == 0 && port.out.empty() && port.link.takes_bursts() && own.held == 0 &&
            !policy.mirrors_delays && !is_watched(port) && !port.scheduler.has_rates());
}

inline QueueEntry entry_of(Packet* packet) {
    const PacketMeta& info = meta(packet);
    return {packet, info.frame_bytes, info.cells, info.ingress_port, info.priority_group, info.observed};
}

// Gives back the cells that ingress charged for a packet that leaves its queue; `observed` as in its meta.
inline void release(WorkerContext& worker, const ReleaseBoard::Poster& releases, Packet* packet,
                    const FillPlace& place, std::uint32_t cells, std::uint8_t observed) {
    if ((observed & observed_fill) != 0) [[unlikely]]
        worker.shared.fill->left(place, cells);
    SLUICE_INVARIANT(meta(packet).cells == cells);
    releases.post(place.ingress_port, place.group, cells);
    if constexpr (checks_invariants) meta(packet).cells = 0;
}

// Puts the packets aside into the out-batch; returns how many. 0: nothing was done, they must be queued.
unsigned pass(WorkerContext& worker, PortContext& port, Time now);

// Puts them into their queues after all.
void queue_aside(WorkerContext& worker, PortContext& port, Time now);

// Puts packets into their queues, or aside where they pass, up to the first that needs more than its queue's
// reserved cells; returns how many.
std::size_t enqueue_usual(WorkerContext& worker, std::span<Packet* const> packets, Time now);

}  // namespace sluice
