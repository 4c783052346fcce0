#include "control/fabric/report/mark_blame.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "dataplane/ports/port_counters.hh"

namespace sluice::fabric {
namespace {

std::uint64_t marked_by(const Fabric& fabric, const LinkEnd& sender) {
    const FabricSwitch& device = fabric.switches()[fabric.plan().switch_of[sender.node]];
    const PortView port = device.running->device().view(device.ports->id_of(sender.port));
    std::uint64_t marked = 0;
    for (const auto& queue : port.counters().queue)
        for (const Counter& each : queue.marked) marked += each.get();
    return marked;
}

// ", whose way leaf2 marks most, to h6": of the first ways by the plan's routes.
std::string where_marked(const Fabric& fabric, NodeId from, NodeId to) {
    const FabricPlan& plan = fabric.plan();
    std::uint64_t most = 0;
    std::string text;
    for (const PathHop& hop : hops_between(plan, from, to)) {
        if (plan.topology.nodes[hop.from].is_host) continue;
        for (const LinkId id : hop.links) {
            const Link& link = plan.topology.links[id];
            const std::uint64_t marked = marked_by(fabric, link.ends[link.end_at(hop.from)]);
            if (marked <= most) continue;
            most = marked;
            text = fmt::format(", whose way {} marks most, to {}", plan.topology.nodes[hop.from].name,
                               plan.topology.nodes[link.beyond(hop.from).node].name);
        }
    }
    return text;
}

}  // namespace

void MarkedMessages::add(const EndedMessage& message) {
    if (message.cnps == 0) return;
    const Marked own{message.cnps, message.from, message.to, message.came, message.ended};
    std::vector<Marked>& kept = flows_[message.flow];
    if (kept.size() == most) {
        if (!own.is_above(kept.front())) return;
        std::ranges::pop_heap(kept, &Marked::is_above_other);
        kept.pop_back();
    }
    kept.push_back(own);
    std::ranges::push_heap(kept, &Marked::is_above_other);
}

std::string MarkedMessages::clause(const Fabric& fabric, std::span<const std::uint32_t> flows, Time from,
                                   Time until) const {
    const Marked* best = nullptr;
    for (const std::uint32_t flow : flows)
        for (const Marked& each : flows_[flow])
            if (each.came < until && from < each.ended && (best == nullptr || each.is_above(*best)))
                best = &each;
    if (best == nullptr) return {};
    const auto& nodes = fabric.plan().topology.nodes;
    return fmt::format("{} got {} for its message to {}{}", nodes[best->from].name,
                       print_count(best->cnps, "CNP"), nodes[best->to].name,
                       where_marked(fabric, best->from, best->to));
}

}  // namespace sluice::fabric
