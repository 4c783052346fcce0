// The third step of the ingress half: a place in the buffer; and with it XOFF and XON of the priority groups
// and the cells that come back.
#include <algorithm>
#include <optional>

#include "dataplane/path/decisions.hh"
#include "dataplane/path/ingress.hh"
#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/recorder.hh"
#include "lib/buffer/burst_admission.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

// Why the buffer has no place for a packet.
[[gnu::cold]] DropReason no_place(PortContext& port, ClassId group, Admission admission) {
    GroupCounters& counters = port.counters.group[group];
    counters.dropped.add(1);
    if (admission == Admission::ingress_limit) return DropReason::ingress_limit;
    if (port.watchdog.takes_overrun(group)) return DropReason::watchdog_drop;
    counters.headroom_overruns.add(1);
    return DropReason::headroom_overrun;
}

[[gnu::noinline, gnu::cold]] void refuse_one(WorkerContext& worker, PortContext& port, Batch& batch,
                                             Admission admission) {
    Refused refused;
    refused.add(0, no_place(port, meta(batch.packet[0]).priority_group, admission));
    drop_refused(worker, batch, refused);
}

// Apart, so that the groups of a port that is not traced cost nothing for it.
[[gnu::noinline]] void trace_group(PortContext& port, ClassId n, std::uint32_t limit_cells, Time now) {
    port.trace->group[n].record(now, port.group[n].used_cells());
    port.trace->headroom[n].record(now, port.group[n].headroom_cells());
    port.trace->limit[n].record(now, limit_cells);
}

[[gnu::noinline]] void record_signal(WorkerContext& worker, PortContext& port, ClassId group, PoolView pool,
                                     XoffSignal signal) {
    if (is_recording(worker)) record_pause(worker, port, group, pool, signal);
    if (port.recorder) note_pause(worker, port, group, pool, signal);
}

// A group that is not in use has no cells: it is neither judged nor asked for released cells.
[[maybe_unused]] bool others_are_empty(const PortContext& port) {
    for (unsigned n = 0; n < classes; ++n)
        if ((port.groups_in_use >> n & 1U) == 0 && port.group[n].used_cells() != 0) return false;
    return true;
}

// The only packet of its burst, where nobody else looks at the pool: no sums, and one pool that is opened
// only for a packet that asks it.
[[gnu::noinline]] void admit_alone(WorkerContext& worker, PortContext& port, Batch& batch) {
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

// Whether a burst pays for looking at its groups first.
bool pays_by_group(PortContext& port, unsigned packets) {
    constexpr unsigned many = 8;
    if (packets < many) return false;
    if (port.bursts_by_packet == 0) return true;
    --port.bursts_by_packet;
    return false;
}

// All of a burst by the sums of its groups. False: nothing was done, and for some bursts it is not to be
// tried again, as it is in vain where groups are full.
[[gnu::noinline]] bool admit_by_group(WorkerContext& worker, PortContext& port, const Batch& batch) {
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

template <bool recording>
[[gnu::always_inline]] inline void admit_all(WorkerContext& worker, PortContext& port, Batch& batch) {
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
        std::conditional_t<recording, std::optional<AdmissionRecord>, std::nullptr_t> record{};
        if constexpr (recording) record.emplace(group, limits, pools[limits.pool].view(), cells);
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
        if constexpr (recording) record->post(worker, port, info, admission);
        return reason;
    });
    port.groups_in_use = static_cast<std::uint8_t>(in_use);
    SLUICE_INVARIANT(others_are_empty(port));
}

}  // namespace

void admit_stage(WorkerContext& worker, PortContext& port, Batch& batch) {
    if (is_recording(worker)) [[unlikely]]
        admit_all<true>(worker, port, batch);
    else if (batch.count == 1 && worker.shared.exclusive)
        admit_alone(worker, port, batch);
    else if (!pays_by_group(port, batch.count) || !admit_by_group(worker, port, batch))
        admit_all<false>(worker, port, batch);
    sample(worker, port, std::span(batch.packet).first(batch.count));
}

void pause_peer(WorkerContext& worker, PortContext& port, bool behind) {
    if (behind == port.pause_peer) return;
    port.pause_peer = behind;
    if (behind) {
        port.counters.behind.add(1);
        worker.falls_behind.add(1);
    }
    port.groups_in_use |= port.groups_judged;  // each is judged anew, with or without cells
}

bool is_any_poller_behind(const PortContext& port) {
    return std::any_of(port.more_receive_queues.begin(), port.more_receive_queues.end(),
                       [](const auto& queue) { return queue->is_behind.load(std::memory_order_relaxed); });
}

void judge_groups_in_use(WorkerContext& worker, PortContext& port, Time now) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    unsigned idle = 0;
    unsigned lossy = 0;
    for_each_class(port.groups_in_use & port.groups_judged, [&](ClassId n) {
        const GroupLimits& limits = own.group[n];
        PriorityGroup& group = port.group[n];
        const bool pauses_nobody = !limits.lossless && !group.in_xoff();
        if ((pauses_nobody || (group.is_quiet() && !port.pause_peer)) && !port.trace) {
            if (pauses_nobody) lossy |= 1U << n;
            if (group.used_cells() == 0) idle |= 1U << n;
            return;
        }
        const PoolView pool(worker.shared.ingress_use[limits.pool], policy.ingress_pools[limits.pool]);
        const auto bit = static_cast<std::uint8_t>(1U << n);
        const XoffSignal signal = group.update_xoff(limits, pool, port.pause_peer);
        if (signal != XoffSignal::none) [[unlikely]]
            record_signal(worker, port, n, pool, signal);
        if (group.headroom_cells() != 0 && port.recorder) [[unlikely]]
            port.recorder->headroom_used(n, group.headroom_cells());
        switch (signal) {
            case XoffSignal::send_xoff:
                port.counters.group[n].xoff.add(1);
                port.want_xoff |= bit;
                port.want_xon = static_cast<std::uint8_t>(port.want_xon & ~bit);
                if (worker.reactions && !port.reactions.over)
                    port.reactions.over = true, port.reactions.over_since = worker.now;
                break;
            case XoffSignal::send_xon:
                port.want_xon |= bit;
                port.want_xoff = static_cast<std::uint8_t>(port.want_xoff & ~bit);
                break;
            case XoffSignal::none:
                break;
        }
        if (port.trace) [[unlikely]]
            trace_group(port, n, static_cast<std::uint32_t>(group.limit_cells(limits, pool)), now);
        if (group.used_cells() == 0 && !group.in_xoff()) idle |= bit;
    });
    port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use & ~idle);
    port.groups_judged = static_cast<std::uint8_t>(port.groups_judged & ~lossy);
    SLUICE_INVARIANT(others_are_empty(port));
}

void collect_releases(WorkerContext& worker, PortContext& port, Time now) {
    if (port.pause_peer && port.io->falls_behind(now) == false && !is_behind_elsewhere(port))
        pause_peer(worker, port, false);
    SLUICE_INVARIANT(others_are_empty(port));
    if (port.groups_in_use == 0) return;
    const PortPolicy& own = worker.policy->ports[port.id];
    auto& use = worker.shared.ingress_use;
    const auto& limits = worker.policy->ingress_pools;
    const bool exclusive = worker.shared.exclusive;
    PoolBursts pools(use, limits, 0);
    unsigned idle = 0;
    worker.shared.releases.collect(port.id, port.groups_in_use, [&](ClassId n, std::uint32_t cells) {
        PriorityGroup& group = port.group[n];
        const unsigned pool = own.group[n].pool;
        if (!group.release_reserved(cells)) {
            if (exclusive) {
                PoolReturn at_once(use[pool]);
                group.release(at_once, cells);
            } else {
                group.release(pools[pool], cells);
            }
        }
        if (group.used_cells() == 0 && !group.in_xoff()) idle |= 1U << n;
    });
    // Of such a group there is nothing to judge, unless the peer is to be held all the same.
    if (!port.pause_peer && !port.trace)
        port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use & ~idle);
}

}  // namespace sluice
