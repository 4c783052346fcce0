// Egress admission of any packet, one by one: link, watchdog, WRED, the queue's limit and the pool; counters,
// records, traces. Most packets do not come here: see enqueue_usual.cc.
#include "dataplane/base/described.hh"
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

// Puts a packet into its queue, which has admitted it.
[[gnu::always_inline]] inline void put(WorkerContext& worker, PortContext& port, Packet* packet, Time now) {
    PacketMeta& info = meta(packet);
    const ClassId number = info.queue;
    EgressQueue& queue = port.queue[number];
    port.backlog = static_cast<std::uint8_t>(port.backlog | 1U << number);
    queue.packets.push(worker.chunks, entry_of(packet));
    info.enqueued = now;
    SLUICE_INVARIANT(queue.holds_its_packets());
    queue.microburst.rose(now, queue.use.used_cells(), info.ingress_port);
    if (port.trace) [[unlikely]]
        trace(port, number, now);
}

void count_refusal(PortContext& port, ClassId queue) {
    port.counters.queue[queue].dropped.add(1);
    port.queue[queue].microburst.dropped();
}

// The rule for a packet that the limit of its queue refuses; null: it is not trimmed.
const TrimPolicy* trim_policy(const Policy& policy, const PacketMeta& info) {
    if (policy.trim.empty() || info.treatment.ecn.is_exempt()) return nullptr;
    const TrimPolicy& of_port = policy.trim[info.egress_port];
    return (of_port.queues >> info.queue & 1U) != 0 ? &of_port : nullptr;
}

// Cuts the packet behind its headers; false, and nothing is done, when these say not to. What it was is
// dropped and what is left is a packet of ours, which no record follows.
bool cut(const Policy& policy, Packet* packet, TrimPolicy to) {
    if (is_described(packet)) to.bytes = std::min(to.bytes, packet->data_len);
    const auto bytes = trim_headers({frame_bytes(packet), packet->data_len}, packet->pkt_len, to);
    if (!bytes) return false;
    cut_packet(packet, *bytes);
    PacketMeta& info = meta(packet);
    info.frame_bytes = static_cast<std::uint16_t>(*bytes);
    // A frame may have got a tag since it was charged.
    info.cells = std::min(info.cells, static_cast<std::uint16_t>(policy.cell.cells(*bytes)));
    info.queue = to.queue;
    info.observed = 0;
    info.treatment.traffic_class = to.traffic_class;
    info.treatment.ecn = EcnBits::of(info.treatment.ecn.ecn(), color_of(to.dscp), false);
    info.treatment.lossless = false;
    return true;
}

// Trims a packet that the limit of its queue refuses: it is counted as dropped, and its short form asks the
// queue of trimmed packets once.
void trim(WorkerContext& worker, PortContext& port, PoolBursts& pools, Packet* packet,
          const TrimPolicy& policy, Time now) {
    const PacketMeta whole = meta(packet);
    count_drop(worker, packet, DropReason::queue_limit);
    if (!cut(*worker.policy, packet, policy)) return discard(worker, packet, DropReason::queue_limit);
    const PacketMeta& info = meta(packet);
    const PortPolicy& own = worker.policy->ports[port.id];
    const bool sent = admit_through(worker, port, own, pools, packet, now) == DropReason::none;
    if (whole.observed != 0)
        post_drop(worker, whole, {DropReason::queue_limit, Trimmed{info.frame_bytes, info.queue, sent}});
    if (whole.cells != info.cells)
        worker.shared.releases.post(worker.id, whole.ingress_port, whole.priority_group,
                                    std::uint32_t{whole.cells} - info.cells);
    TrimCounters& counters = port.counters.trim[whole.queue];
    if (sent) {
        counters.sent.add(1);
        return put(worker, port, packet, now);
    }
    counters.dropped.add(1);
    count_refusal(port, info.queue);
    drop(worker, packet, DropReason::trim_limit);
}

// The queue refuses the packet.
[[gnu::noinline, gnu::cold]] void refuse_at_queue(WorkerContext& worker, PortContext& port, PoolBursts& pools,
                                                  Packet* packet, DropReason reason, Time now) {
    const PacketMeta& info = meta(packet);
    count_refusal(port, info.queue);
    if (reason == DropReason::queue_limit)
        if (const TrimPolicy* policy = trim_policy(*worker.policy, info))
            return trim(worker, port, pools, packet, *policy, now);
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
            refuse_at_queue(worker, *port, pools, packet, reason, now);
            continue;
        }
        put(worker, *port, packet, now);
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
