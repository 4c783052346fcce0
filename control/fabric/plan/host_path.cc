#include "control/fabric/plan/host_path.hh"

#include <algorithm>
#include <utility>

#include "control/config/schema/values.hh"

namespace sluice::fabric {

std::vector<PathHop> hops_between(const FabricPlan& plan, NodeId from, NodeId to) {
    const Topology& topology = plan.topology;
    std::vector<PathHop> hops{{from, {topology.nodes[from].links.front()}}};
    NodeId at = plan.switches[plan.switch_of[from]].node;
    const NodeId leaf = plan.switches[plan.switch_of[to]].node;
    const IpAddress& address =
        plan.switches[plan.switch_of[to]].config.hosts.at(topology.nodes[to].name).address;
    // Routes by hand may lead nowhere, or round in a circle.
    for (std::size_t n = 0; at != leaf && n < topology.nodes.size(); ++n) {
        const Config& config = plan.switches[plan.switch_of[at]].config;
        const RouteConfig* best = nullptr;
        for (const RouteConfig& route : *config.routes)
            if (contains(route.prefix, address) &&
                (best == nullptr || route.prefix.length > best->prefix.length))
                best = &route;
        if (best == nullptr) break;
        PathHop hop{at, {}};
        for (const auto& via : best->via)
            for (const LinkId id : topology.nodes[at].links) {
                const unsigned here = topology.links[id].ends[0].node == at ? 0 : 1;
                if (plan.addresses.address(id, 1 - here) == via.address) hop.links.push_back(id);
            }
        if (hop.links.empty()) break;
        const auto& ends = topology.links[hop.links.front()].ends;
        const NodeId next = ends[ends[0].node == at ? 1 : 0].node;
        hops.push_back(std::move(hop));
        at = next;
    }
    hops.push_back({leaf, {topology.nodes[to].links.front()}});
    return hops;
}

HostPath path_between(const FabricPlan& plan, const FlowConfig& flow, NodeId from, NodeId to) {
    const auto host_at = [&](NodeId node) -> const HostConfig& {
        return plan.switches[plan.switch_of[node]].config.hosts.at(plan.topology.nodes[node].name);
    };
    const PacketLabel label = data_label(flow, host_at(flow.kind == FlowKind::read ? to : from));
    HostPath path{Rate{UINT64_MAX}, Rate{}, {}, 0, Rate{UINT64_MAX}};
    const Link* before = nullptr;
    for (const PathHop& hop : hops_between(plan, from, to)) {
        const Link& link = plan.topology.links[hop.links.front()];
        path.slowest = std::min(path.slowest, link.speed);
        path.fastest = std::max(path.fastest, link.speed);
        path.propagation = path.propagation + propagation_delay(link.cable_m);
        if (!plan.topology.nodes[hop.from].is_host) {
            const Config& config = plan.switches[plan.switch_of[hop.from]].config;
            const auto port_of = [&](const Link& at) {
                const auto end = std::ranges::find(at.ends, hop.from, &LinkEnd::node);
                return end == at.ends.end() ? nullptr : &end->port;
            };
            const std::string* out = port_of(link);
            const std::string* in = port_of(*before);  // null: routes lead nowhere
            if (in == nullptr) in = out;
            path.drained = std::min(
                {path.drained, drain_rate(config, label, *in, *out), drain_rate(config, label, *out, *in)});
            path.buffer_bytes += config.buffer_size_bytes;
        }
        before = &link;
    }
    return path;
}

}  // namespace sluice::fabric
