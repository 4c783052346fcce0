#include "dataplane/path/egress.hh"

#include <rte_prefetch.h>

#include <algorithm>
#include <bit>

#include "dataplane/path/congestion.hh"
#include "dataplane/path/drop.hh"
#include "dataplane/path/egress_pass.hh"
#include "dataplane/path/mirror.hh"
#include "dataplane/path/post_decisions.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

// The depth is `cells` now.
inline void depth_fell(WorkerContext& worker, PortContext& port, ClassId queue, std::uint32_t cells,
                       Time now) {
    auto burst = port.queue[queue].microburst.fell(now, cells);
    if (!burst) [[likely]]
        return;
    burst->port = port.id;
    burst->queue = queue;
    if (port.recorder) port.recorder->microburst(*burst);
    if (!worker.microbursts) return;
    worker.microbursts->post(*burst);
    worker.microbursts_ended.add(1);
}

inline void give_back(EgressQueue& queue, const QueueLimits& limits, PoolBursts& pools, std::uint32_t cells) {
    if (!queue.use.release_reserved(cells)) queue.use.release(pools[limits.pool], cells);
}

// The queue's last packet has been taken.
void became_empty(PortContext& port, ClassId queue, Time now) {
    port.backlog = static_cast<std::uint8_t>(port.backlog & ~(1U << queue));
    port.scheduler.became_empty(queue);
    port.queue[queue].wred.became_empty(now);
}

// Takes packets of so many cells off the front of a queue. The caller gives their ingress charges back.
[[gnu::always_inline]] inline void take_off(WorkerContext& worker, PortContext& port,
                                            const PortPolicy& policy, PoolBursts& pools, ClassId number,
                                            std::uint32_t packets, std::uint32_t cells, Time now) {
    EgressQueue& queue = port.queue[number];
    queue.packets.pop(worker.chunks, packets);
    if (queue.packets.empty()) became_empty(port, number, now);
    give_back(queue, policy.queue[number], pools, cells);
    SLUICE_INVARIANT(queue.holds_its_packets());
}

// Takes the first `frames` off the out-batch, which the driver has, and counts them.
void settle(PortContext& port, unsigned frames) {
    std::uint64_t all = 0;
    port.out.sent(frames, [&](unsigned queue, unsigned count, std::uint32_t bytes) {
        all += bytes;
        if (queue != no_queue) port.counters.queue[queue].tx.add(count, bytes);
    });
    port.counters.tx.add(frames, all);
}

std::uint8_t ready_queues(const PortContext& port, const PortPolicy& policy, Time now) {
    const std::uint8_t paused = map_classes(policy.map.pfc_priority_to_queue, port.honor.paused(now));
    return static_cast<std::uint8_t>(port.backlog & ~policy.held & ~paused);
}

// The PFC frame of this turn, if one is due: ahead of all data, behind the frame under way.
void put_pfc(WorkerContext& worker, PortContext& port, Time now) {
    const PortPolicy& policy = worker.policy->ports[port.id];
    const auto told = static_cast<std::uint8_t>(~port.watchdog.mutes);
    const auto map =
        port.generator.decide(port.want_xoff & policy.pfc_send.lossless & told, port.want_xon & told, now);
    port.want_xoff = port.want_xon = 0;
    if (!map) [[likely]]
        return;
    if (port.trace) port.trace->pauses_changed(now, port.generator.asserted());
    Packet* packet = rte_pktmbuf_alloc(worker.packet_pool);
    assert(packet != nullptr && "the pool is sized for one PFC frame a port beside all the buffer holds");
    auto* bytes = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(packet, pfc_frame_bytes));
    build_pfc_frame(std::span<std::uint8_t, pfc_frame_bytes>(bytes, pfc_frame_bytes), policy.station.mac,
                    *map);
    meta(packet) = PacketMeta{};
    meta(packet).ingress_port = port.id;
    if (worker.policy->mirrors.wants(MirrorEvent::pause)) mirror_pause(worker, port.id, packet, *map, true);
    meta(packet).departure = port.link.start(now, pfc_frame_bytes);
    port.counters.generated.add(1);
    port.out.put_first(packet, pfc_frame_bytes);
}

void send_pfc(WorkerContext& worker, PortContext& port, Time now) {
    if ((port.want_xoff | port.want_xon | port.generator.asserted()) == 0) [[likely]]
        return;
    // A ring takes it at any time; on a bare wire it waits for the end of the frame under way.
    if (port.out.room() == 0 || !(port.link.has_ring() || port.link.can_start(now))) return;
    put_pfc(worker, port, now);
}

// A packet that has waited in a long queue is in no cache any more.
void prefetch(const QueueEntry& entry) {
    auto* packet = static_cast<std::uint8_t*>(entry.packet());
    for (unsigned line = 0; line < 2; ++line) rte_prefetch0(packet + line * 64);  // the mbuf, with its meta
}

// Takes frames from the front of a queue of `cells`, whose head has room: as many as there is room and credit
// for. Returns the credit that is left. A function of its own, so that all of it stays in registers.
[[gnu::noinline]] std::int32_t take_run(std::span<const QueueEntry> run, ClassId queue, std::uint32_t cells,
                                        std::int32_t credit, Picking& picking, Time now) {
    Picked* next = picking.next;
    Picked* const end = picking.end;
    LinkTransmitter link = picking.link;
    for (const QueueEntry& entry : run) {
        const std::uint32_t frame = entry.frame_bytes();
        const auto wire = static_cast<std::int32_t>(wire_bytes(frame));
        if (next != picking.next && (next == end || !link.can_start(now) || credit < wire)) break;
        prefetch(entry);
        cells -= entry.cells();
        credit -= wire;
        // Written field by field: a copy of the whole would wait for the stores.
        next->entry = entry;
        next->departure = link.start(now, frame);
        next->behind_cells = cells;
        next->queue = queue;
        ++next;
    }
    picking.next = next;
    picking.link = link;
    return credit;
}

// Takes the only frame of the only ready queue, where there is room for it. False, and nothing is done, where
// there is a choice.
[[gnu::noinline]] bool pick_only(WorkerContext& worker, PortContext& port, const PortPolicy& policy,
                                 std::uint8_t ready, Picked& next, Time now) {
    if (!std::has_single_bit(ready) || !port.out.empty()) return false;
    const auto number = static_cast<ClassId>(std::countr_zero(ready));
    EgressQueue& queue = port.queue[number];
    if (queue.packets.packets() != 1 || !port.scheduler.send_only(number)) return false;
    const QueueEntry entry = queue.packets.front();
    prefetch(entry);
    next.entry = entry;
    next.departure = port.link.start(now, entry.frame_bytes());
    next.behind_cells = 0;
    next.queue = number;
    port.out.add_run(number, 1, entry.frame_bytes());
    PoolBursts pools(worker.shared.egress_use, worker.policy->egress_pools, 0);
    take_off(worker, port, policy, pools, number, 1, entry.cells(), now);
    return true;
}

// Takes frames from the queues, as many as there is room for; returns how many. It reads the queues' entries
// only: while it picks later ones, the first packets come into the cache.
[[gnu::noinline]] unsigned pick_frames(WorkerContext& worker, PortContext& port, const PortPolicy& policy,
                                       std::uint8_t ready, std::array<Picked, burst_size>& picked, Time now) {
    PoolBursts pools(worker.shared.egress_use, worker.policy->egress_pools, 0);
    Picking picking{picked.data(), picked.data() + port.out.room(), port.link};
    const auto head = [&](unsigned queue) {
        return wire_bytes(port.queue[queue].packets.front().frame_bytes());
    };
    while (picking.has_room(now)) {
        const int next = port.scheduler.pick(ready, head, now);
        if (next < 0) break;
        const auto number = static_cast<ClassId>(next);
        EgressQueue& queue = port.queue[number];
        const std::uint32_t used = queue.use.used_cells();
        const std::int32_t credit = port.scheduler.credit(next);
        const Picked* const first = picking.next;
        // A run that goes on in the queue's next chunk is picked once more.
        const std::int32_t left = take_run(queue.packets.run(), number, used, credit, picking, now);
        const auto frames = static_cast<std::uint32_t>(picking.next - first);
        const auto on_wire = static_cast<std::uint32_t>(credit - left);
        port.out.add_run(number, frames, on_wire - frames * wire_overhead_bytes);
        port.scheduler.sent(next, on_wire, now);
        take_off(worker, port, policy, pools, number, frames, used - picking.next[-1].behind_cells, now);
        ready = static_cast<std::uint8_t>(ready & port.backlog);
    }
    port.link = picking.link;
    return static_cast<unsigned>(picking.next - picked.data());
}

// Releases the cells that ingress charged for the picked frames, and puts the frames into the out-batch.
template <std::size_t frames>
[[gnu::noinline]] void release_stage(WorkerContext& worker, PortContext& port,
                                     std::span<const Picked, frames> picked, Time now) {
    const ReleaseBoard::Poster releases = worker.shared.releases.poster(worker.id);
    Packet** place = port.out.extend(static_cast<unsigned>(picked.size())).data();
    for (const Picked& frame : picked) {
        const QueueEntry& entry = frame.entry;
        release(worker, releases, static_cast<Packet*>(entry.packet()),
                {entry.ingress_port(), entry.priority_group(), port.id, frame.queue}, entry.cells(),
                entry.flags());
        *place++ = static_cast<Packet*>(entry.packet());
    }
    if (!port.trace) [[likely]]
        return;
    for (const Picked& frame : picked) port.trace->queue[frame.queue].record(now, frame.behind_cells);
}

// For the picked frames: the time they waited, and their marks.
template <std::size_t frames>
[[gnu::noinline]] void depart_stage(WorkerContext& worker, PortContext& port,
                                    std::span<const Picked, frames> picked, Time now) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    const std::uint64_t cell_bytes = policy.cell.bytes();
    if (policy.mirrors_delays) [[unlikely]]
        mirror_delays(worker, picked, now);
    DequeueTally tally(port.counters);
    std::uint64_t unmarked_below = 0;  // of the kind of packet that the tally counts
    for (const Picked& frame : picked) {
        auto* packet = static_cast<Packet*>(frame.entry.packet());
        PacketMeta& info = meta(packet);
        // The buffer is soon this worker's to receive into, and its frame another core's line.
        rte_prefetch0_write(next_frame(packet));
        const Duration sojourn = now - info.enqueued;
        info.departure = frame.departure;
        if (tally.add(frame.queue, info.treatment.ecn, sojourn))
            unmarked_below = unmarked_below_bytes(policy, own.wred[frame.queue], info.treatment.ecn);
        depth_fell(worker, port, frame.queue, frame.behind_cells, now);
        if ((frame.entry.flags() & observed_record) == 0 && frame.behind_cells * cell_bytes < unmarked_below)
            [[likely]]
            continue;
        congestion_at_dequeue(worker, port, own.wred[frame.queue], packet, frame.behind_cells, sojourn);
    }
}

template <std::size_t frames, class Meter>
void send_on(WorkerContext& worker, PortContext& port, std::span<const Picked, frames> picked, Time now,
             Meter& meter) {
    release_stage(worker, port, picked, now);
    meter.lap(Stage::schedule, static_cast<unsigned>(picked.size()));
    depart_stage(worker, port, picked, now);
    meter.lap(Stage::congestion, static_cast<unsigned>(picked.size()));
}

template <class Meter>
void fill(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    if (!port.aside.empty()) {
        // A pause may have come since they were put aside.
        if (const unsigned passed = is_watched(port) ? 0 : pass(worker, port, now); passed != 0) {
            meter.lap(Stage::pass, passed);
            return;
        }
        queue_aside(worker, port, now);
    }
    if (port.backlog == 0 || !port.link.can_start(now)) return;
    const PortPolicy& policy = worker.policy->ports[port.id];
    const std::uint8_t ready = ready_queues(port, policy, now);
    if (ready == 0) return;
    PickedFrames frames;
    const std::span<const Picked, burst_size> all(frames.frame);
    if (pick_only(worker, port, policy, ready, frames.frame[0], now)) {
        send_on(worker, port, all.first<1>(), now, meter);
        return;
    }
    const unsigned count = pick_frames(worker, port, policy, ready, frames.frame, now);
    send_on(worker, port, all.first(count), now, meter);
}

// The charges went back when the frames left their queues.
void discard_out(WorkerContext& worker, PortContext& port) {
    port.out.discard([&](Packet* packet) { drop(worker, packet, DropReason::link_down, true); });
}

}  // namespace

template <class Meter>
unsigned send_queued(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    send_pfc(worker, port, now);
    fill(worker, port, now, meter);
    if (port.out.empty()) return 0;
    const DeparturePost departures(worker, port.out);
    const unsigned sent = port.io->transmit(port.out.packets());
    departures.post(worker, sent);
    settle(port, sent);
    meter.lap(Stage::send, sent);
    return sent;
}

template unsigned send_queued(WorkerContext&, PortContext&, Time, NoLaps&);
template unsigned send_queued(WorkerContext&, PortContext&, Time, Laps&);

bool has_ready_queue(const PortContext& port, const Policy& policy, Time now) {
    return port.link_up && ready_queues(port, policy.ports[port.id], now) != 0;
}

Duration until_sending(const PortContext& port, const Policy& policy, Time now) {
    Duration wait{INT64_MAX};
    const auto consider = [&](Time at) { wait = std::min(wait, at - now); };
    const Time wire_free = max(port.link.next_start(), now);
    if ((port.want_xoff | port.want_xon) != 0) consider(port.link.has_ring() ? now : wire_free);
    if (port.pause_peer) consider(now + Duration{1});  // the next turn checks whether it still falls behind
    if (const auto refresh = port.generator.next_refresh()) consider(max(*refresh, wire_free));
    if (port.backlog != 0) {
        if (const std::uint8_t ready = ready_queues(port, policy.ports[port.id], now); ready != 0)
            consider(max(port.scheduler.next_eligible(ready, now).value_or(now), wire_free));
        if (const auto expiry = port.honor.next_expiry()) consider(max(*expiry, wire_free));
    }
    return wait;
}

bool release_peer(WorkerContext& worker, PortContext& port, Time now) {
    for (PriorityGroup& group : port.group) group.stop();
    port.want_xoff = 0;
    port.want_xon = port.generator.asserted();
    NoLaps unmetered;
    egress(worker, port, now, unmetered);
    return (port.generator.asserted() == 0 && port.out.empty()) || !port.link_up;
}

void resume_peer(WorkerContext& worker, PortContext& port, Time now) {
    port.want_xoff = 0;
    port.want_xon = port.generator.asserted();
    if (port.want_xon == 0) return;
    put_pfc(worker, port, now);
    settle(port, port.io->transmit(port.out.packets()));
    discard_out(worker, port);
}

unsigned discard_queue(WorkerContext& worker, PortContext& port, ClassId queue, DropReason reason, Time now) {
    PoolBursts pools(worker.shared.egress_use, worker.policy->egress_pools, 0);
    const unsigned packets = port.queue[queue].packets.packets();
    while (!port.queue[queue].packets.empty()) {
        port.queue[queue].microburst.dropped();
        const QueueEntry entry = port.queue[queue].packets.front();
        take_off(worker, port, worker.policy->ports[port.id], pools, queue, 1, entry.cells(), now);
        const std::uint32_t behind_cells = port.queue[queue].use.used_cells();
        if (port.trace) port.trace->queue[queue].record(now, behind_cells);
        depth_fell(worker, port, queue, behind_cells, now);
        port.counters.queue[queue].dropped.add(1);
        drop(worker, static_cast<Packet*>(entry.packet()), reason);
    }
    return packets;
}

void discard_queues(WorkerContext& worker, PortContext& port, Time now) {
    discard_out(worker, port);
    for_each_class(port.backlog,
                   [&](ClassId queue) { discard_queue(worker, port, queue, DropReason::link_down, now); });
}

}  // namespace sluice
