// The third step of the ingress half: a place in the buffer, packet by packet. Most bursts take a shortcut:
// see ingress_admit_usual.cc.
#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/note_spells.hh"
#include "dataplane/path/post_decisions.hh"
#include "lib/values/invariant.hh"

namespace sluice {

[[gnu::cold]] DropReason no_place(PortContext& port, ClassId group, Admission admission) {
    GroupCounters& counters = port.counters.group[group];
    counters.dropped.add(1);
    if (admission == Admission::ingress_limit) return DropReason::ingress_limit;
    if (port.watchdog.takes_overrun(group)) return DropReason::watchdog_drop;
    counters.headroom_overruns.add(1);
    return DropReason::headroom_overrun;
}

namespace {

// True when admission by sums of groups is likely to be faster.
bool pays_by_group(PortContext& port, unsigned packets) {
    constexpr unsigned many = 8;
    if (packets < many) return false;
    if (port.bursts_by_packet == 0) return true;
    --port.bursts_by_packet;
    return false;
}

// In place of an AdmissionPost where nothing is recorded.
struct NoRecord {
    NoRecord(const PriorityGroup&, const GroupLimits&, PoolBursts&, std::uint32_t) {}
    void post(WorkerContext&, const PortContext&, PacketMeta&, Admission) const {}
};

// `Record`: AdmissionPost or NoRecord.
template <class Record>
[[gnu::always_inline]] inline void admit_each(WorkerContext& worker, PortContext& port, Batch& batch) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    PoolBursts pools(worker.shared.ingress_use, policy.ingress_pools, batch.all_cells);
    unsigned in_use = port.groups_in_use;
    filter(worker, batch, [&](unsigned i, Packet* packet) {
        PacketMeta& info = meta(packet);
        const ClassId number = info.priority_group;
        const GroupLimits& limits = own.group[number];
        PriorityGroup& group = port.group[number];
        const std::uint32_t cells = batch.cells[i];
        const Record record(group, limits, pools, cells);
        Admission admission = Admission::reserved;
        if (!group.admit_reserved(limits, cells))
            admission = group.admit_beyond(limits, pools[limits.pool], cells);
        SLUICE_INVARIANT(info.cells == 0 && "a packet has one charge");
        DropReason reason = DropReason::none;
        if (is_admitted(admission)) [[likely]] {
            info.cells = static_cast<std::uint16_t>(cells);
            in_use |= 1U << number;
        } else {
            reason = no_place(port, number, admission);
        }
        record.post(worker, port, info, admission);
        return reason;
    });
    port.groups_in_use = static_cast<std::uint8_t>(in_use);
    SLUICE_INVARIANT(others_are_empty(port));
}

}  // namespace

void admit_stage(WorkerContext& worker, PortContext& port, Batch& batch) {
    if (is_recording(worker)) [[unlikely]]
        admit_each<AdmissionPost>(worker, port, batch);
    else if (batch.count == 1 && worker.shared.exclusive)
        admit_alone(worker, port, batch);
    else if (!pays_by_group(port, batch.count) || !admit_by_group(worker, port, batch))
        admit_each<NoRecord>(worker, port, batch);
    sample(worker, port, std::span(batch.packet).first(batch.count));
}

}  // namespace sluice
