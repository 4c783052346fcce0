#include "control/switch/running/limit_change.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/schema/values.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/pool_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

Policy tightest(const Policy& from, Policy to) {
    for (unsigned n = 0; n < max_pools; ++n)
        to.ingress_pools[n] = tightest(from.ingress_pools[n], to.ingress_pools[n]);
    for (std::size_t i = 0; i < to.ports.size(); ++i)
        for (unsigned n = 0; n < classes; ++n) {
            to.ports[i].group[n] = tightest(from.ports[i].group[n], to.ports[i].group[n]);
            // Its cells move with it, so it stays until they fit the other pool.
            to.ports[i].group[n].pool = from.ports[i].group[n].pool;
        }
    return to;
}

bool same_limits(const Policy& a, const Policy& b) {
    if (a.ingress_pools != b.ingress_pools) return false;
    for (std::size_t i = 0; i < a.ports.size(); ++i)
        if (a.ports[i].group != b.ports[i].group) return false;
    return true;
}

std::int64_t beyond(std::int64_t use, std::int64_t limit) { return std::max<std::int64_t>(use - limit, 0); }

bool becomes_lossless(const GroupLimits& from, const GroupLimits& to) {
    return to.lossless && (!from.lossless || from.changing);
}

bool has_own_headroom(const Policy& policy, const GroupLimits& group) {
    return policy.ingress_pools[group.pool].shared_headroom_cells == 0;
}

std::int64_t promised_cells(const Policy& policy) {
    std::int64_t cells = 0;
    for (const PoolLimits& pool : policy.ingress_pools)
        cells += std::int64_t{pool.shared_cells} + pool.shared_headroom_cells;
    for (const PortPolicy& port : policy.ports)
        for (const GroupLimits& group : port.group)
            cells += std::int64_t{group.reserved_cells} +
                     (has_own_headroom(policy, group) ? group.headroom_cells : 0);
    return cells;
}

// Cells in use beyond those that the workers' policy promises.
std::int64_t use_beyond(const Switch& device) {
    const Policy& policy = device.policy();
    std::int64_t cells = 0;
    for (unsigned n = 0; n < max_pools; ++n)
        cells += device.ingress_use(n).pending_cells(policy.ingress_pools[n]);
    for (PortId id = 0; id < device.port_count(); ++id)
        for (ClassId n = 0; n < classes; ++n) {
            const PriorityGroup& group = device.view(id).group(n);
            const GroupLimits& limits = policy.ports[id].group[n];
            cells += beyond(group.reserved_cells(), limits.reserved_cells);
            if (has_own_headroom(policy, limits))
                cells += beyond(group.headroom_cells(), limits.headroom_cells);
        }
    return cells;
}

// The egress queues of a priority group's packets.
unsigned queues_of(const ClassMap& map, unsigned group) {
    unsigned queues = 0;
    for (unsigned tc = 0; tc < classes; ++tc)
        if (map.tc_to_priority_group[tc] == group) queues |= 1U << map.tc_to_queue[tc];
    return queues;
}

}  // namespace

void LimitChange::start(std::unique_ptr<Policy> policy) {
    const std::unique_ptr<Policy> overtaken = std::move(awaited_);
    if (!same_limits(device_.policy(), *policy)) {
        Policy from = device_.policy();
        for (std::size_t i = 0; overtaken && i < from.ports.size(); ++i)
            for (unsigned n = 0; n < classes;
                 ++n)  // a limit of 0 cells was for the wait, not the configured one
                if (from.ports[i].group[n].pool != overtaken->ports[i].group[n].pool)
                    from.ports[i].group[n].threshold = overtaken->ports[i].group[n].threshold;
        awaited_ = std::make_unique<Policy>(*policy);
        *policy = tightest(from, std::move(*policy));
    }
    is_waiting_ = false;
    publication_.publish(std::move(policy));
    finish();
}

bool LimitChange::finish() {
    if (!is_pending() || !publication_.is_taken_up()) return false;
    if (pending_cells() > 0) {
        if (!std::exchange(is_waiting_, true)) publication_.publish(while_waiting());
        return false;
    }
    publication_.publish(std::move(awaited_));
    return true;
}

// The limits until the second step. All workers run the tightest limits, so promised cells, and used cells
// beyond them, only fall: the rest of the new limits' sum is free for headroom.
std::unique_ptr<Policy> LimitChange::while_waiting() const {
    auto policy = std::make_unique<Policy>(device_.policy());
    std::int64_t free = beyond(promised_cells(*awaited_), promised_cells(*policy) + use_beyond(device_));
    for (std::size_t i = 0; i < policy->ports.size(); ++i)
        for (unsigned n = 0; n < classes; ++n) {
            GroupLimits& limits = policy->ports[i].group[n];
            const GroupLimits& next = awaited_->ports[i].group[n];
            if (becomes_lossless(limits, next)) {
                limits.lossless = limits.changing = true;
                const std::int64_t missing = beyond(next.headroom_cells, limits.headroom_cells);
                const bool own = has_own_headroom(*policy, limits);
                const std::int64_t given = own ? std::min(missing, free) : missing;
                limits.headroom_cells += static_cast<std::uint32_t>(given);
                if (own) free -= given;
            } else if (limits.pool != next.pool) {
                limits.threshold = Threshold::fixed(0);
            }
        }
    return policy;
}

LimitChange::Excess LimitChange::excess() const {
    Excess found;
    std::array<PoolUse::Coming, max_pools> coming{};
    for (PortId id = 0; id < device_.port_count(); ++id) {
        auto& groups = found.group.emplace_back();
        for (ClassId n = 0; n < classes; ++n) {
            const PriorityGroup& group = device_.view(id).group(n);
            const GroupLimits& next = awaited_->ports[id].group[n];
            groups[n] = beyond(group.headroom_cells(), next.headroom_cells);
            PoolUse::Coming& from = coming[device_.policy().ports[id].group[n].pool];
            from.shared -= group.shared_cells();
            from.headroom -= group.headroom_cells();
            PoolUse::Coming& to = coming[next.pool];
            to.shared += group.shared_cells();
            to.headroom += group.headroom_cells();
        }
    }
    for (unsigned n = 0; n < max_pools; ++n)
        found.pool[n] = device_.ingress_use(n).pending_cells(awaited_->ingress_pools[n], coming[n]);
    return found;
}

std::int64_t LimitChange::pending_cells() const {
    std::int64_t pending = 0;
    if (!is_pending()) return pending;
    const Excess found = excess();
    for (const std::int64_t cells : found.pool) pending += cells;
    for (const auto& groups : found.group)
        for (const std::int64_t cells : groups) pending += cells;
    return pending;
}

std::optional<LimitChange::QueueName> LimitChange::fullest_queue() const {
    if (!is_pending()) return std::nullopt;
    const Excess found = excess();
    unsigned queues = 0;
    for (PortId id = 0; id < device_.port_count(); ++id)
        for (ClassId n = 0; n < classes; ++n) {
            const PriorityGroup& group = device_.view(id).group(n);
            const bool in_pool = found.pool[awaited_->ports[id].group[n].pool] > 0 &&
                                 group.shared_cells() + group.headroom_cells() != 0;
            if (in_pool || found.group[id][n] > 0) queues |= queues_of(awaited_->ports[id].map, n);
        }
    std::optional<QueueName> fullest;
    std::uint32_t most = 0;
    for (PortId id = 0; id < device_.port_count(); ++id)
        for_each_class(queues, [&](ClassId queue) {
            const std::uint32_t cells = device_.view(id).use(queue).used_cells();
            if (cells > most) most = cells, fullest = QueueName{id, queue};
        });
    return fullest;
}

std::vector<ClassNotice> ClassChanges::new_notices(const Switch& device, Time now) {
    std::vector<ClassNotice> notice;
    waits_.resize(device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id)
        for (ClassId n = 0; n < classes; ++n) {
            const GroupLimits& limits = device.policy().ports[id].group[n];
            Wait& wait = waits_[id][n];
            if (limits.changing == wait.since.has_value()) continue;
            const std::uint64_t dropped = device.view(id).counters().group[n].dropped.get();
            if (limits.changing) {
                notice.push_back({id, n, true, false, {}, 0});
                wait = {now, dropped};
            } else {
                const Wait ended = std::exchange(wait, {});
                notice.push_back(
                    {id, n, false, limits.lossless, now - *ended.since, dropped - ended.dropped});
            }
        }
    return notice;
}

std::string class_text(const ClassNotice& notice, const std::vector<std::string>& port_names,
                       const LimitChange& change) {
    std::string text = fmt::format("port {} class {}: ", port_names[notice.port], notice.priority);
    if (!notice.begins)
        return text + fmt::format("{} after {}; it lost {} packets meanwhile",
                                  notice.lossless ? "lossless" : "lossy again", print_time(notice.lasted),
                                  notice.lost);
    text +=
        fmt::format("becomes lossless, and pauses its peer until {} cells have left", change.pending_cells());
    if (const auto queue = change.fullest_queue())
        text += fmt::format(", most of them from queue {}.{}", port_names[queue->port], queue->queue);
    return text;
}

}  // namespace sluice
