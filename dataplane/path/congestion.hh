// WRED and ECN for a packet: lib/queue/wred.hh applied to its queue, its counters and its record.
#pragma once

#include <limits>

#include "dataplane/path/post_decisions.hh"
#include "lib/frame/checksum.hh"
#include "lib/values/rng.hh"

namespace sluice {

constexpr std::uint32_t wred_stream = 0xEC00;  // of draws; part of what a seed means

// A packet's draw: the same on every worker.
inline std::uint32_t wred_draw(std::uint64_t seed, const PacketMeta& info) {
    return static_cast<std::uint32_t>(draw({seed, wred_stream, info.ingress_port, info.sequence}) >> 32);
}

inline void mark(PortContext& port, Packet* packet) {
    const PacketMeta& info = meta(packet);
    set_ce(frame_bytes(packet) + info.l3_offset);
    port.counters.queue[info.queue].marked[static_cast<unsigned>(info.treatment.ecn.color())].add(1);
    port.queue[info.queue].microburst.marked();
}

// A 64-byte frame's time on this link: the average of an idle queue falls once in this time.
inline Duration idle_packet(const PortPolicy& policy) { return policy.speed.byte_time() * 84; }

inline void record_decision(WorkerContext& worker, const PacketMeta& info, MarkPlace place,
                            std::uint64_t length_bytes, Duration sojourn, const WredDecision& decision) {
    constexpr std::array outcomes{MarkOutcome::passed, MarkOutcome::marked, MarkOutcome::dropped};
    post_mark(worker, info,
              {place, outcomes[static_cast<unsigned>(decision.verdict)], length_bytes,
               place == MarkPlace::sojourn ? 0 : decision.looked_at, sojourn, decision.probability,
               decision.drawn});
}

// WRED's verdict on a packet before it enters its queue, unless PortPolicy::no_wred_at_enqueue exempts it.
// `mark`: once the queue has taken it.
inline WredVerdict congestion_at_enqueue(WorkerContext& worker, PortContext& port, const PortPolicy& own,
                                         const PacketMeta& info, Time now) {
    if (own.wred[info.queue] == 0) return WredVerdict::pass;
    const Policy& policy = *worker.policy;
    const WredProfile& profile = policy.wred[own.wred[info.queue] - 1U];
    const std::uint64_t length = std::uint64_t{port.queue[info.queue].use.used_cells()} * policy.cell.bytes();
    const WredDecision decision = port.queue[info.queue].wred.arrival(
        profile, info.treatment.ecn, own.queue[info.queue].lossless, length, now, idle_packet(own),
        [&] { return wred_draw(policy.seed, info); });
    if (decision.looked && info.observed != 0) [[unlikely]]
        record_decision(worker, info, MarkPlace::enqueue, length, {}, decision);
    if (decision.verdict == WredVerdict::drop) [[unlikely]]
        port.counters.queue[info.queue].wred_dropped[static_cast<unsigned>(info.treatment.ecn.color())].add(
            1);
    return decision.verdict;
}

// Counts packets taken from a queue that are alike.
inline void count_taken(PortCounters& port, ClassId queue, EcnBits ecn, Duration sojourn, unsigned packets) {
    QueueCounters& counters = port.queue[queue];
    counters.taken[ecn.bits & (ecn_kinds - 1)].add(packets);
    counters.latency.record(sojourn, packets);
    if (ecn.is_exempt()) [[unlikely]]
        port.cnp_latency.record(sojourn, packets);
}

// Counts together consecutive packets that have spent the same time in a queue, as those of a burst do.
class DequeueTally {
  public:
    explicit DequeueTally(PortCounters& port) : port_(port) {}
    ~DequeueTally() { count(); }
    DequeueTally(const DequeueTally&) = delete;
    DequeueTally& operator=(const DequeueTally&) = delete;

    // True when the packet is not of the kind of the one before.
    bool add(ClassId queue, EcnBits ecn, Duration sojourn) {
        // A single number: a load that spans several stores waits for them.
        const std::uint32_t kind = std::uint32_t{queue} << 8 | ecn.bits;
        const bool differs = packets_ == 0 || kind != kind_ || sojourn != sojourn_;
        if (differs) {
            count();
            packets_ = 0;
            kind_ = kind;
            sojourn_ = sojourn;
        }
        ++packets_;
        return differs;
    }

  private:
    void count() const {
        if (packets_ != 0)
            count_taken(port_, static_cast<ClassId>(kind_ >> 8), {static_cast<std::uint8_t>(kind_)}, sojourn_,
                        packets_);
    }

    PortCounters& port_;
    Duration sojourn_{};
    unsigned packets_ = 0;
    std::uint32_t kind_ = 0;  // queue and ECN
};

// No packet with such ECN is marked when it leaves fewer bytes behind in a queue of this profile.
inline std::uint64_t unmarked_below_bytes(const Policy& policy, unsigned number, EcnBits ecn) {
    if (number == 0 || !WredQueue::looks_at_departure(policy.wred[number - 1], ecn))
        return std::numeric_limits<std::uint64_t>::max();
    return policy.wred[number - 1].unmarked_below_bytes(ecn);
}

// The packet has left its queue, in which `behind_cells` stayed; `number`: the queue's profile, as
// PortPolicy::wred names it.
inline void congestion_at_dequeue(WorkerContext& worker, PortContext& port, unsigned number, Packet* packet,
                                  std::uint32_t behind_cells, Duration sojourn) {
    if (number == 0) return;
    const Policy& policy = *worker.policy;
    const PacketMeta& info = meta(packet);
    const WredProfile& profile = policy.wred[number - 1];
    const std::uint64_t behind = std::uint64_t{behind_cells} * policy.cell.bytes();
    const WredDecision decision = port.queue[info.queue].wred.departure(
        profile, info.treatment.ecn, behind, sojourn, [&] { return wred_draw(policy.seed, info); });
    if (decision.looked && info.observed != 0) [[unlikely]]
        record_decision(worker, info,
                        profile.mark_at == MarkAt::sojourn ? MarkPlace::sojourn : MarkPlace::dequeue, behind,
                        sojourn, decision);
    if (decision.verdict == WredVerdict::mark) [[unlikely]]
        mark(port, packet);
}

}  // namespace sluice
