// WRED and ECN on a packet's way: the mechanism is lib/wred.hh; here it meets the packet, its queue, its
// counters and its record.
#pragma once

#include "dataplane/decisions.hh"
#include "lib/checksum.hh"
#include "lib/rng.hh"

namespace sluice {

constexpr std::uint32_t wred_stream = 0xEC00;  // of draws; part of what a seed means

// A packet's draw: the same on whatever worker.
inline std::uint32_t wred_draw(std::uint64_t seed, const PacketMeta& info) {
    return static_cast<std::uint32_t>(draw({seed, wred_stream, info.ingress_port, info.sequence}) >> 32);
}

inline void mark(PortContext& port, Packet* packet) {
    const PacketMeta& info = meta(packet);
    set_ce(frame_bytes(packet) + info.l3_offset);
    port.counters.queue[info.queue].marked[static_cast<unsigned>(info.ecn.colour())].add(1);
    port.microburst[info.queue].marked();
}

inline std::uint64_t queue_bytes(const Policy& policy, const PortContext& port, ClassId queue) {
    return std::uint64_t{port.queue_use[queue].used_cells()} * policy.cell.bytes();
}

// A 64-byte frame's time on this link: what an idle queue's average falls by.
inline Duration idle_packet(const PortPolicy& policy) { return policy.speed.byte_time() * 84; }

inline void record_decision(WorkerContext& worker, const PortContext& port, const PacketMeta& info,
                            MarkPlace place, Duration sojourn, const WredDecision& decision) {
    constexpr std::array outcomes{MarkOutcome::passed, MarkOutcome::marked, MarkOutcome::dropped};
    record_mark(
        worker, info,
        {place, outcomes[static_cast<unsigned>(decision.verdict)],
         queue_bytes(*worker.policy, port, info.queue), place == MarkPlace::sojourn ? 0 : decision.looked_at,
         sojourn, decision.probability, decision.drawn});
}

// Before the packet enters its queue: whether WRED drops it, and whether it is to be marked once the queue
// takes it.
inline WredVerdict congestion_at_enqueue(WorkerContext& worker, PortContext& port, const PacketMeta& info,
                                         Time now) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    const unsigned number = own.wred[info.queue];
    if (number == 0) return WredVerdict::pass;
    const WredProfile& profile = policy.wred[number - 1];
    const WredDecision decision = port.wred[info.queue].arrival(
        profile, info.ecn, own.queue[info.queue].lossless, queue_bytes(policy, port, info.queue), now,
        idle_packet(own), [&] { return wred_draw(policy.seed, info); });
    if (decision.looked && info.observed != 0) [[unlikely]]
        record_decision(worker, port, info, MarkPlace::enqueue, {}, decision);
    if (decision.verdict == WredVerdict::drop) [[unlikely]]
        port.counters.queue[info.queue].wred_dropped[static_cast<unsigned>(info.ecn.colour())].add(1);
    return decision.verdict;
}

// The packet has left its queue.
inline void congestion_at_dequeue(WorkerContext& worker, PortContext& port, Packet* packet, Time now) {
    const Policy& policy = *worker.policy;
    const PacketMeta& info = meta(packet);
    const Duration sojourn = now - info.enqueued;
    QueueCounters& counters = port.counters.queue[info.queue];
    counters.taken[info.ecn.bits & (ecn_kinds - 1)].add(1);
    counters.latency.record(sojourn);
    if (info.ecn.is_exempt()) [[unlikely]]
        port.counters.cnp_latency.record(sojourn);
    const unsigned number = policy.ports[port.id].wred[info.queue];
    if (number == 0) return;
    const WredProfile& profile = policy.wred[number - 1];
    const WredDecision decision =
        port.wred[info.queue].departure(profile, info.ecn, queue_bytes(policy, port, info.queue), sojourn,
                                        [&] { return wred_draw(policy.seed, info); });
    if (decision.looked && info.observed != 0) [[unlikely]]
        record_decision(worker, port, info,
                        profile.mark_at == MarkAt::sojourn ? MarkPlace::sojourn : MarkPlace::dequeue, sojourn,
                        decision);
    if (decision.verdict == WredVerdict::mark) [[unlikely]]
        mark(port, packet);
}

}  // namespace sluice
