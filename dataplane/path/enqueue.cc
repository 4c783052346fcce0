// Egress admission of any packet, one by one: link, watchdog, WRED, the queue's limit and the pool; counters,
// records, traces. Most packets do not come here: see enqueue_usual.cc.
#include "dataplane/path/congestion.hh"
#include "dataplane/path/drop.hh"
#include "dataplane/path/egress.hh"
#include "dataplane/path/egress_pass.hh"
#include "dataplane/path/post_decisions.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

[[gnu::noinline]] void trace(PortContext& port, ClassId queue, Time now) {
    port.trace->queue[queue].record(now, port.queue[queue].use.used_cells());
}

[[gnu::noinline]] bool admit_shared(EgressQueue& queue, const QueueLimits& limits, PoolBursts& pools,
                                    std::uint32_t cells) {
    return is_admitted(queue.use.admit_beyond(limits, pools[limits.pool], cells));
}

// Takes a packet of so many cells into the queue, or returns why not.
inline DropReason admit(EgressQueue& queue, const QueueLimits& limits, PoolBursts& pools,
                        std::uint32_t cells) {
    return queue.use.admit_reserved(limits, cells) || admit_shared(queue, limits, pools, cells)
               ? DropReason::none
               : DropReason::queue_limit;
}

// The same behind link, watchdog and WRED.
[[gnu::noinline]] DropReason admit_through(WorkerContext& worker, PortContext& port, const PortPolicy& own,
                                           PoolBursts& pools, Packet* packet, Time now) {
    const PacketMeta& info = meta(packet);
    if (!port.link_up) return DropReason::link_down;
    if (port.watchdog.discard(info.queue)) return DropReason::watchdog_drop;
    const bool no_wred = (own.no_wred_at_enqueue[info.treatment.ecn.bits] >> info.queue & 1U) != 0;
    const auto verdict = no_wred ? WredVerdict::pass : congestion_at_enqueue(worker, port, own, info, now);
    if (verdict == WredVerdict::drop) return DropReason::wred_drop;
    const DropReason reason = admit(port.queue[info.queue], own.queue[info.queue], pools, info.cells);
    if (reason == DropReason::none && verdict == WredVerdict::mark) mark(port, packet);
    return reason;
}

// The queue refuses the packet.
[[gnu::noinline, gnu::cold]] void refuse_at_queue(WorkerContext& worker, PortContext& port, Packet* packet,
                                                  DropReason reason) {
    const ClassId queue = meta(packet).queue;
    port.counters.queue[queue].dropped.add(1);
    port.queue[queue].microburst.dropped();
    drop(worker, packet, reason);
}

// Puts packets into their queues, one after the other.
[[gnu::noinline]] void enqueue_each(WorkerContext& worker, std::span<Packet* const> packets,
                                    PoolBursts& pools, Time now) {
    // Packets for one port often follow each other: its context is looked up once.
    unsigned number_of_port = max_ports;  // none yet
    PortContext* port = nullptr;
    const PortPolicy* own = nullptr;
    unsigned open_queues = 0;  // of the port: link and watchdog let packets in
    for (Packet* packet : packets) {
        PacketMeta& info = meta(packet);
        if (info.egress_port != number_of_port) {
            number_of_port = info.egress_port;
            port = worker.shared.ports[number_of_port].get();
            own = &worker.policy->ports[number_of_port];
            open_queues = port->link_up ? ~unsigned{port->watchdog.discards} : 0;
            if (!port->aside.empty()) queue_aside(worker, *port, now);
        }
        const ClassId number = info.queue;
        EgressQueue& queue = port->queue[number];
        if ((info.observed & observed_record) != 0) [[unlikely]]
            record_enqueue(worker, *port, info, pools);
        // Open: only the queue's own limit counts.
        const auto no_wred = own->no_wred_at_enqueue[info.treatment.ecn.bits];
        const bool open = ((open_queues & no_wred) >> number & 1U) != 0;
        const DropReason reason = open ? admit(queue, own->queue[number], pools, info.cells)
                                       : admit_through(worker, *port, *own, pools, packet, now);
        if (reason != DropReason::none) [[unlikely]] {
            refuse_at_queue(worker, *port, packet, reason);
            continue;
        }
        port->backlog = static_cast<std::uint8_t>(port->backlog | 1U << number);
        queue.packets.push(worker.chunks, entry_of(packet));
        info.enqueued = now;
        SLUICE_INVARIANT(queue.holds_its_packets());
        queue.microburst.rose(now, queue.use.used_cells(), info.ingress_port);
        if (port->trace) [[unlikely]]
            trace(*port, number, now);
    }
}

}  // namespace

void enqueue(WorkerContext& worker, std::span<Packet* const> packets, Time now) {
    const auto others = packets.subspan(enqueue_usual(worker, packets, now));
    if (others.empty()) [[likely]]
        return;
    std::uint32_t bound = 0;
    if (!worker.shared.exclusive)
        for (Packet* packet : others) bound += meta(packet).cells;
    PoolBursts pools(worker.shared.egress_use, worker.policy->egress_pools, bound);
    enqueue_each(worker, others, pools, now);
}

}  // namespace sluice
