#include "control/limit_change.hh"

#include <algorithm>
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
    for (unsigned n = 0; n < max_pools; ++n)
        pending += device_.shared().ingress_use[n].pending_cells(policy.ingress_pools[n]) +
                   device_.shared().egress_use[n].pending_cells(policy.egress_pools[n]);
    for (PortId id = 0; id < device_.port_count(); ++id)
        for (unsigned n = 0; n < classes; ++n) {
            const PriorityGroup& group = device_.port(id).group[n];
            const GroupLimits& limits = policy.ports[id].group[n];
            pending += beyond(group.reserved_cells(), limits.reserved_cells) +
                       beyond(group.headroom_cells(), limits.headroom_cells);
        }
    return pending;
}

}  // namespace sluice
