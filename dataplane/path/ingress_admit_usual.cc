#include "dataplane/path/ingress_stages.hh"

#include "lib/buffer/burst_admission.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

[[gnu::noinline, gnu::cold]] void refuse_one(WorkerContext& worker, PortContext& port, Batch& batch,
                                             Admission admission) {
    Refused refused;
    refused.add(0, no_place(port, meta(batch.packet[0]).priority_group, admission));
    drop_refused(worker, batch, refused);
}

}  // namespace

// Opens the pool only when the reserved part is full.
void admit_alone(WorkerContext& worker, PortContext& port, Batch& batch) {
    PacketMeta& info = meta(batch.packet[0]);
    const ClassId number = info.priority_group;
    const GroupLimits& limits = worker.policy->ports[port.id].group[number];
    PriorityGroup& group = port.group[number];
    const std::uint32_t cells = batch.cells[0];
    SLUICE_INVARIANT(info.cells == 0 && "a packet has one charge");
    Admission admission = Admission::reserved;
    if (!group.admit_reserved(limits, cells)) {
        PoolBurst pool(worker.shared.ingress_use[limits.pool], worker.policy->ingress_pools[limits.pool],
                       cells);
        admission = group.admit_beyond(limits, pool, cells);
    }
    if (is_admitted(admission)) [[likely]] {
        info.cells = static_cast<std::uint16_t>(cells);
        port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use | 1U << number);
    } else {
        refuse_one(worker, port, batch, admission);
    }
    SLUICE_INVARIANT(others_are_empty(port));
}

bool admit_by_group(WorkerContext& worker, PortContext& port, const Batch& batch) {
    constexpr std::uint8_t rest = 16;
    BurstCells burst;
    std::uint32_t differences = 0;
    for (unsigned i = 0; i < batch.count; ++i) {
        PacketMeta& info = meta(batch.packet[i]);
        SLUICE_INVARIANT(info.cells == 0 && "a packet has one charge");
        burst.add(info.priority_group, batch.cells[i]);
        differences |= batch.cells[i] ^ batch.cells[0];
        info.cells = static_cast<std::uint16_t>(batch.cells[i]);
    }
    if (differences == 0) burst.of_each = batch.cells[0];
    PoolBursts pools(worker.shared.ingress_use, worker.policy->ingress_pools, batch.all_cells);
    if (!admit_together(port.group, worker.policy->ports[port.id].group, pools, burst)) {
        for (unsigned i = 0; i < batch.count; ++i) meta(batch.packet[i]).cells = 0;
        port.bursts_by_packet = rest;
        return false;
    }
    port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use | burst.groups);
    SLUICE_INVARIANT(others_are_empty(port));
    return true;
}

}  // namespace sluice
