#include "tests/sim/invariants.hh"

#include <fmt/format.h>

#include <algorithm>

#include "dataplane/path/worker_context.hh"

namespace sluice::sim {
namespace {

constexpr std::uint32_t absurd_cells = 1U << 30;  // below zero

std::uint32_t largest_packet(const Policy& policy) { return policy.cell.cells(max_frame_bytes); }

bool asserted(const PortContext& port, unsigned n) {
    return port.generator.state(static_cast<ClassId>(n)) == AssertState::off;
}

// A group against its limits, its pool and the pauses of its port.
std::string broken_group(Switch& device, const PortContext& port, unsigned n, bool cut_pending) {
    const Policy& policy = device.policy();
    const PortPolicy& own = policy.ports[port.id];
    const PriorityGroup& group = port.group[n];
    const GroupLimits& limits = own.group[n];
    const PoolView pool(device.ingress_use(limits.pool), policy.ingress_pools[limits.pool]);
    const unsigned bit = 1U << n;
    if (group.reserved_cells() >= absurd_cells || group.shared_cells() >= absurd_cells ||
        group.headroom_cells() >= absurd_cells)
        return "fell below zero";
    if (group.reserved_cells() > limits.reserved_cells) return "holds more than is reserved";
    if (!cut_pending && group.headroom_cells() > limits.headroom_cells)
        return fmt::format("headroom {} of {}", group.headroom_cells(), limits.headroom_cells);
    if (!port.link_up) return asserted(port, n) ? "a port that is down pauses its peer" : "";
    if (!limits.lossless) return group.in_xoff() ? "a lossy group is in XOFF" : "";
    if (limits.changing && !group.in_xoff()) return "becomes lossless and is not in XOFF";
    if (!group.in_xoff() && group.over(limits, pool))
        return fmt::format("over and not in XOFF: shared {} of {}, headroom {}", group.shared_cells(),
                           group.limit_cells(limits, pool), group.headroom_cells());
    if (group.in_xoff() && !port.pause_peer && group.may_resume(limits, pool))
        return fmt::format("in XOFF and may resume: shared {} of {}", group.shared_cells(),
                           group.limit_cells(limits, pool));
    if ((own.pfc_send.may_send & bit) == 0) return "";
    if ((port.watchdog.mutes & bit) != 0) return asserted(port, n) ? "the watchdog's class is asserted" : "";
    const bool wants_xoff = (port.want_xoff & bit) != 0;
    const bool wants_xon = (port.want_xon & bit) != 0;
    if (wants_xoff && wants_xon) return "wants XOFF and XON";
    if (group.in_xoff() && (wants_xon || !(asserted(port, n) || wants_xoff)))
        return "in XOFF without a refresh";
    if (!group.in_xoff() && asserted(port, n) && !wants_xon) return "asserted, but not in XOFF";
    if (!group.in_xoff() && wants_xoff) return "wants XOFF, but not in XOFF";
    return "";
}

// An empty queue has no deficit; no other has borrowed, or saved more than a quantum and a frame.
std::string broken_deficit(const PortContext& port, const PortPolicy& policy, unsigned n) {
    const std::int32_t deficit = port.scheduler.deficit(static_cast<int>(n));
    const auto most = static_cast<std::int32_t>(policy.schedule.queue[n].weight * quantum_bytes_per_weight +
                                                wire_bytes(max_frame_bytes));
    const bool good = port.queue[n].packets.empty() ? deficit == 0 : deficit >= 0 && deficit < most;
    return good ? "" : fmt::format("deficit {} with {} packets", deficit, port.queue[n].packets.packets());
}

std::string broken_pool(std::string_view direction, unsigned index, const PoolUse& use,
                        const PoolLimits& limits, std::int64_t shared, std::int64_t headroom, bool limited) {
    if (use.shared.get() != shared || use.headroom.get() != headroom)
        return fmt::format("{} pool {} counts {} shared and {} headroom, its users {} and {}", direction,
                           index, use.shared.get(), use.headroom.get(), shared, headroom);
    if (limited && shared > limits.shared_cells)
        return fmt::format("{} pool {}: {} of {} shared", direction, index, shared, limits.shared_cells);
    if (limited && limits.shared_headroom_cells != 0 && headroom > limits.shared_headroom_cells)
        return fmt::format("{} pool {}: {} of {} headroom", direction, index, headroom,
                           limits.shared_headroom_cells);
    return "";
}

std::int64_t handed_off_cells(Switch& device) {
    std::int64_t cells = 0;
    for (unsigned w = 0; w < device.worker_count(); ++w) {
        const LocalInbox& local = device.worker(static_cast<WorkerId>(w)).local;
        for (std::size_t i = local.taken; i < local.count; ++i) cells += meta(local.packets[i]).cells;
    }
    return cells;  // mailboxes are empty between instants; the ledger counts them
}

// `settled`: queues have the policy that they had before, in which a pool beyond its limit does not grow.
std::string broken_pools(Switch& device, const Sums& ingress, const Sums& egress, const Sums& egress_before,
                         bool cut_pending, bool settled) {
    const Policy& policy = device.policy();
    std::array<bool, max_pools> unlimited{};  // a lossless queue refuses nothing
    for (const PortPolicy& port : policy.ports)
        for (const QueueLimits& queue : port.queue)
            if (queue.lossless) unlimited[queue.pool] = true;
    for (unsigned n = 0; n < max_pools; ++n) {
        std::string wrong = broken_pool("ingress", n, device.ingress_use(n), policy.ingress_pools[n],
                                        ingress.shared[n], ingress.headroom[n], !cut_pending);
        if (wrong.empty())
            wrong = broken_pool("egress", n, device.egress_use(n), policy.egress_pools[n], egress.shared[n],
                                0, settled && !unlimited[n] && egress.shared[n] > egress_before.shared[n]);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

// The use of groups and pools, and the use that their limits of this instant allow, fits the buffer. Use
// above a limit that was cut is nobody else's until it has gone.
std::string broken_promise(Switch& device, std::uint64_t buffer_cells) {
    const Policy& policy = device.policy();
    std::uint64_t promised = 0;
    for (unsigned n = 0; n < max_pools; ++n) {
        const PoolUse& use = device.ingress_use(n);
        const PoolLimits& limits = policy.ingress_pools[n];
        promised += static_cast<std::uint64_t>(std::max<std::int64_t>(use.shared.get(), limits.shared_cells));
        if (limits.shared_headroom_cells != 0)
            promised += static_cast<std::uint64_t>(
                std::max<std::int64_t>(use.headroom.get(), limits.shared_headroom_cells));
    }
    for (PortId id = 0; id < device.port_count(); ++id)
        for (unsigned n = 0; n < classes; ++n) {
            const PriorityGroup& group = device.port(id).group[n];
            const GroupLimits& limits = policy.ports[id].group[n];
            promised += std::max(group.reserved_cells(), limits.reserved_cells);
            if (policy.ingress_pools[limits.pool].shared_headroom_cells == 0)
                promised += std::max(group.headroom_cells(), limits.headroom_cells);
        }
    if (promised <= buffer_cells) return "";
    return fmt::format("{} cells are promised of a buffer of {}", promised, buffer_cells);
}

// The short form of a packet that a queue refused is sent or refused again.
std::string broken_trimming(Switch& device) {
    std::uint64_t trimmed = 0, lost = 0, refused = 0, refused_again = 0;
    for (PortId id = 0; id < device.port_count(); ++id) {
        for (const TrimCounters& queue : device.port(id).counters.trim) {
            trimmed += queue.sent.get() + queue.dropped.get();
            lost += queue.dropped.get();
        }
        refused += device.dropped(id, DropReason::queue_limit);
        refused_again += device.dropped(id, DropReason::trim_limit);
    }
    if (trimmed <= refused && lost == refused_again) return "";
    return fmt::format("{} packets were trimmed, {} of them refused again; dropped are {} and {}", trimmed,
                       lost, refused, refused_again);
}

}  // namespace

// A headroom overrun is only ever for want of headroom.
std::string Invariants::broken_overrun(Switch& device, PortContext& port, unsigned n) {
    const Policy& policy = device.policy();
    PriorityGroup& group = port.group[n];
    const GroupLimits& limits = policy.ports[port.id].group[n];
    PoolUse& use = device.ingress_use(limits.pool);
    const PoolLimits& pool = policy.ingress_pools[limits.pool];
    const std::uint64_t overruns = port.counters.group[n].headroom_overruns.get();
    const bool more = overruns != overruns_[port.id][n];
    overruns_[port.id][n] = overruns;
    const std::uint32_t most = largest_packet(policy);
    const std::uint32_t mark = group.headroom_watermark.user.get();
    if (mark != group.headroom_cells()) group.clear_user_watermarks();
    if (!more || generation_ != device.generation()) return "";  // or refused by limits that are history
    if (mark + most > limits.headroom_cells) return "";
    if (pool.shared_headroom_cells != 0 && use.headroom_watermark.user() + most > pool.shared_headroom_cells)
        return "";
    return fmt::format("a lossless packet was refused at a headroom of at most {} of {}", mark,
                       limits.headroom_cells);
}

std::string Invariants::broken(Switch& device, std::uint64_t buffer_cells, bool cut_pending) {
    const Policy& policy = device.policy();
    overruns_.resize(device.port_count());
    Sums ingress;
    Sums egress;
    for (PortId id = 0; id < device.port_count(); ++id) {
        PortContext& port = device.port(id);
        for (unsigned n = 0; n < classes; ++n) {
            const PriorityGroup& group = port.group[n];
            const EgressQueueUse& queue = port.queue[n].use;
            const unsigned pool = policy.ports[id].group[n].pool;
            ingress.shared[pool] += group.shared_cells();
            ingress.headroom[pool] += group.headroom_cells();
            ingress.cells += group.used_cells();
            egress.shared[policy.ports[id].queue[n].pool] += queue.shared_cells();
            egress.cells += queue.used_cells();
            std::string wrong = broken_group(device, port, n, cut_pending);
            if (wrong.empty()) wrong = broken_overrun(device, port, n);
            if (!wrong.empty()) return fmt::format("group {}.{}: {}", id, n, wrong);
            if (port.queue[n].packets.empty() != (queue.used_cells() == 0) ||
                port.queue[n].packets.empty() != ((port.backlog >> n & 1U) == 0))
                return fmt::format("queue {}.{}: {} packets in {} cells, backlog {:x}", id, n,
                                   port.queue[n].packets.packets(), queue.used_cells(), port.backlog);
            wrong = broken_deficit(port, policy.ports[id], n);
            if (!wrong.empty()) return fmt::format("queue {}.{}: {}", id, n, wrong);
        }
        for (const DropReason reason : {DropReason::queue_limit, DropReason::ingress_limit})
            if (device.dropped_lossless(id, reason) != 0)
                return fmt::format("port {}: a lossless packet was refused as {}", id, to_string(reason));
    }
    if (std::string wrong = broken_trimming(device); !wrong.empty()) return wrong;
    const std::int64_t queued = egress.cells + handed_off_cells(device);
    if (ingress.cells != queued) return fmt::format("groups hold {} cells, queues {}", ingress.cells, queued);
    if (ingress.cells > static_cast<std::int64_t>(buffer_cells))
        return fmt::format("{} cells in a buffer of {}", ingress.cells, buffer_cells);
    std::string wrong = broken_pools(device, ingress, egress, egress_before_, cut_pending,
                                     generation_ == device.generation());
    if (wrong.empty()) wrong = broken_promise(device, buffer_cells);
    if (!wrong.empty()) return wrong;
    const Ledger ledger = device.ledger();
    if (!ledger.balanced())
        return fmt::format("ledger: rx {} generated {} tx {} dropped {} consumed {} queued {}", ledger.rx,
                           ledger.generated, ledger.tx, ledger.dropped, ledger.consumed, ledger.queued);
    for (unsigned n = 0; n < max_pools; ++n) device.ingress_use(n).clear_user_watermarks();
    generation_ = device.generation();
    egress_before_ = egress;
    return "";
}

std::string broken_after_drain(Switch& device) {
    if (const Ledger ledger = device.ledger(); ledger.queued != 0)
        return fmt::format("{} packets are queued after the drain", ledger.queued);
    for (PortId id = 0; id < device.port_count(); ++id) {
        const PortContext& port = device.port(id);
        for (unsigned n = 0; n < classes; ++n) {
            if (port.group[n].used_cells() != 0 || port.queue[n].use.used_cells() != 0)
                return fmt::format("class {}.{} holds cells after the drain", id, n);
            if (port.group[n].in_xoff() || asserted(port, n))
                return fmt::format("group {}.{} pauses its peer after the drain", id, n);
        }
    }
    for (unsigned n = 0; n < max_pools; ++n)
        if (device.ingress_use(n).shared.get() != 0 || device.ingress_use(n).headroom.get() != 0 ||
            device.egress_use(n).shared.get() != 0)
            return fmt::format("pool {} holds cells after the drain", n);
    return "";
}

}  // namespace sluice::sim
