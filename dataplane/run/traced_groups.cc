#include "dataplane/run/traced_groups.hh"

#include <algorithm>

#include "dataplane/path/ingress.hh"
#include "lib/values/class_mask.hh"

namespace sluice {

TracedGroups::TracedGroups(const std::vector<OwnedPort>& ports)
    : ports_(ports), limits_(ports.size()), peaks_(ports.size()), end_ps_(ports.size(), never_ps) {
    for (const OwnedPort& each : ports)
        if (each.port->trace) traced_.add(each.port->id);
    any_ = !traced_.empty();
}

void TracedGroups::about_to_change(PortId id) {
    const PortContext& port = *ports_[id].port;
    for_each_class(port.groups_in_use & port.groups_judged, [&](ClassId n) {
        const GroupLimits& limits = limits_[id][n];
        const auto seen = peaks_.seen(id, limits.pool);
        if (!seen) return;
        const auto limit = [&](std::uint32_t free_cells) {
            return static_cast<std::uint32_t>(port.group[n].limit_cells(limits, PoolView(free_cells)));
        };
        port.trace->group[n].catch_up(PortTrace::limit, {limit(seen->most), limit(seen->latest)});
    });
    peaks_.forget(id);
}

void TracedGroups::recorded(PortId id) {
    const PortContext& port = *ports_[id].port;
    std::int64_t end_ps = never_ps;
    for_each_class(port.groups_in_use & port.groups_judged, [&](ClassId n) {
        limits_[id][n] = ports_[id].owner->policy->ports[id].group[n];
        peaks_.use(limits_[id][n].pool);
        end_ps = std::min(end_ps, port.trace->group[n].end_ps());
    });
    end_ps_[id] = end_ps;
    first_end_ps_ = std::min(first_end_ps_, end_ps);
}

void TracedGroups::end_slots(std::int64_t now_ps) {
    first_end_ps_ = never_ps;
    traced_.for_each([&](PortId id) {
        if (end_ps_[id] <= now_ps)
            ended_.add(id);
        else
            first_end_ps_ = std::min(first_end_ps_, end_ps_[id]);
    });
}

void TracedGroups::see(PortId first, PortId last, Time now) {
    if (!ended_.empty()) [[unlikely]]
        ended_.take_between(first, last).for_each([&](PortId id) {
            about_to_change(id);
            trace_groups(*ports_[id].owner, *ports_[id].port, now);
            recorded(id);
        });
    const WorkerContext& worker = *ports_.front().owner;
    peaks_.see(first, last, [&](unsigned pool) {
        return PoolView(worker.shared.ingress_use[pool], worker.policy->ingress_pools[pool]).free_cells;
    });
}

void TracedGroups::settle() {
    traced_.for_each([&](PortId id) { about_to_change(id); });
}

}  // namespace sluice
