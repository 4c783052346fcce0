#include "control/limit_change.hh"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "dataplane/worker.hh"

namespace sluice {
namespace {

Policy tightest(const Policy& from, Policy to) {
    for (unsigned n = 0; n < max_pools; ++n) {
        to.ingress_pools[n] = tightest(from.ingress_pools[n], to.ingress_pools[n]);
        to.egress_pools[n] = tightest(from.egress_pools[n], to.egress_pools[n]);
    }
    for (std::size_t i = 0; i < to.ports.size(); ++i) {
        for (unsigned n = 0; n < classes; ++n) {
            to.ports[i].group[n] = tightest(from.ports[i].group[n], to.ports[i].group[n]);
            to.ports[i].queue[n] = tightest(from.ports[i].queue[n], to.ports[i].queue[n]);
            // Its cells change pools with it, so it stays until they fit the other one.
            to.ports[i].group[n].pool = from.ports[i].group[n].pool;
            to.ports[i].queue[n].pool = from.ports[i].queue[n].pool;
        }
    }
    return to;
}

bool same_limits(const Policy& a, const Policy& b) {
    if (a.ingress_pools != b.ingress_pools || a.egress_pools != b.egress_pools) return false;
    for (std::size_t i = 0; i < a.ports.size(); ++i)
        if (a.ports[i].group != b.ports[i].group || a.ports[i].queue != b.ports[i].queue) return false;
    return true;
}

std::int64_t beyond(std::uint32_t use, std::uint32_t limit) {
    return std::max<std::int64_t>(std::int64_t{use} - limit, 0);
}

}  // namespace

void LimitChange::publish(std::unique_ptr<const Policy> policy) {
    const std::uint64_t generation = device_.publish(std::move(policy));
    if (workers_stand_still_)
        for (unsigned w = 0; w < device_.worker_count(); ++w)
            begin_turn(device_.worker(static_cast<WorkerId>(w)));
    while (!device_.acknowledged(generation)) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

void LimitChange::start(std::unique_ptr<Policy> policy) {
    awaited_.reset();
    if (!same_limits(device_.policy(), *policy)) {
        awaited_ = std::make_unique<Policy>(*policy);
        *policy = tightest(device_.policy(), std::move(*policy));
    }
    publish(std::move(policy));
    finish();
}

bool LimitChange::finish() {
    // What the workers run now are the tightest limits: when use fits them, the new ones promise nothing
    // twice.
    if (!is_pending() || pending_cells() > 0) return false;
    publish(std::move(awaited_));
    return true;
}

std::int64_t LimitChange::pending_cells() const {
    std::int64_t pending = 0;
    if (!is_pending()) return pending;
    const Policy& policy = device_.policy();
    std::array<PoolUse::Coming, max_pools> ingress{};
    std::array<PoolUse::Coming, max_pools> egress{};
    for (PortId id = 0; id < device_.port_count(); ++id)
        for (unsigned n = 0; n < classes; ++n) {
            const PriorityGroup& group = device_.port(id).group[n];
            const GroupLimits& limits = policy.ports[id].group[n];
            pending += beyond(group.reserved_cells(), limits.reserved_cells) +
                       beyond(group.headroom_cells(), limits.headroom_cells);
            ingress[limits.pool].shared -= group.shared_cells();
            ingress[limits.pool].headroom -= group.headroom_cells();
            PoolUse::Coming& next = ingress[awaited_->ports[id].group[n].pool];
            next.shared += group.shared_cells();
            next.headroom += group.headroom_cells();
            const std::int64_t queued = device_.port(id).queue[n].use.shared_cells();
            egress[policy.ports[id].queue[n].pool].shared -= queued;
            egress[awaited_->ports[id].queue[n].pool].shared += queued;
        }
    for (unsigned n = 0; n < max_pools; ++n)
        pending += device_.shared().ingress_use[n].pending_cells(policy.ingress_pools[n], ingress[n]) +
                   device_.shared().egress_use[n].pending_cells(policy.egress_pools[n], egress[n]);
    return pending;
}

}  // namespace sluice
