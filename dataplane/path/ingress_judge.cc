// XOFF and XON of the priority groups, and the cells that come back to them.
#include <algorithm>
#include <bit>

#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/note_spells.hh"
#include "dataplane/path/post_decisions.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

// Apart, so that groups of a port without a trace cost nothing.
[[gnu::noinline]] void trace_group(PortContext& port, ClassId n, const GroupLimits& limits, PoolView pool,
                                   Time now) {
    const PriorityGroup& group = port.group[n];
    port.trace->group[n].record(
        now, {group.used_cells(), static_cast<std::uint32_t>(group.limit_cells(limits, pool)),
              group.headroom_cells()});
}

[[gnu::noinline]] void record_signal(WorkerContext& worker, PortContext& port, ClassId group, PoolView pool,
                                     XoffSignal signal) {
    if (is_recording(worker)) record_pause(worker, port, group, pool, signal);
    if (port.recorder) note_pause(worker, port, group, pool, signal);
}

}  // namespace

void pause_peer(WorkerContext& worker, PortContext& port, bool behind) {
    if (behind == port.pause_peer) return;
    port.pause_peer = behind;
    if (behind) {
        port.counters.behind.add(1);
        worker.falls_behind.add(1);
    }
    port.groups_in_use |= port.groups_judged;  // judge each anew, with or without cells
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
            trace_group(port, n, limits, pool, now);
        if (group.used_cells() == 0 && !group.in_xoff()) idle |= bit;
    });
    port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use & ~idle);
    port.groups_judged = static_cast<std::uint8_t>(port.groups_judged & ~lossy);
    SLUICE_INVARIANT(others_are_empty(port));
}

void trace_groups(const WorkerContext& worker, PortContext& port, Time now) {
    const Policy& policy = *worker.policy;
    for_each_class(port.groups_in_use & port.groups_judged, [&](ClassId n) {
        const GroupLimits& limits = policy.ports[port.id].group[n];
        trace_group(port, n, limits,
                    PoolView(worker.shared.ingress_use[limits.pool], policy.ingress_pools[limits.pool]), now);
    });
}

std::uint8_t bound_groups(const WorkerContext& worker, const PortContext& port, PoolBounds& bounds) {
    const PortPolicy& own = worker.policy->ports[port.id];
    unsigned busy = 0, in_xoff = 0;
    for_each_class(port.groups_in_use & port.groups_judged, [&](ClassId n) {
        busy |= unsigned{!port.group[n].is_quiet()} << n;
        in_xoff |= unsigned{port.group[n].in_xoff()} << n;
    });
    if (std::has_single_bit(busy)) [[likely]] {
        const auto n = static_cast<ClassId>(std::countr_zero(busy));
        bounds.set_only(port.id, own.group[n].pool, port.group[n].free_bounds(own.group[n]));
        return static_cast<std::uint8_t>(in_xoff);
    }
    bounds.clear(port.id);
    for_each_class(busy, [&](ClassId n) {
        bounds.add(port.id, own.group[n].pool, port.group[n].free_bounds(own.group[n]));
    });
    return static_cast<std::uint8_t>(in_xoff);
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
    // An idle group need not be judged, unless the worker falls behind.
    if (!port.pause_peer && !port.trace)
        port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use & ~idle);
}

}  // namespace sluice
