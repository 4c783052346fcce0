#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {
namespace {

struct Hop {
    LinkId link;
    std::uint32_t weight;  // in [1, 256]
};

// The way to one leaf from everywhere: shortest paths with all their next hops.
//
// Up and down: a path never goes up again once it went down, not even after failures; without such a path
// there is no route. Clockwise: of a ring, always to the next switch in the circle. A next hop's weight by
// capacity is what it carries onward to that leaf: the least of its link's speed and its own next hops'
// capacity.
class ToLeaf {
  public:
    ToLeaf(const FabricPlan& plan, const std::vector<bool>& links_down)
        : topology_(plan.topology),
          links_down_(links_down),
          routing_(plan.file.routing),
          up_down_(is_up_down(plan)) {}

    // The next hops of every switch, by node, and by link.
    std::vector<std::vector<Hop>> find(NodeId leaf) {
        const std::size_t nodes = topology_.nodes.size();
        if (routing_.policy == RoutingConfig::Policy::clockwise) return clockwise(leaf);
        // Switches above the leaf first, by down-only distances; then those that have to go up.
        distance_.assign(nodes, unreachable);
        spread(leaf);
        const std::vector<unsigned> down = distance_;
        if (up_down_) go_up(down);
        std::vector<std::vector<Hop>> hops(nodes);
        std::vector<NodeId> order(nodes);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](NodeId node) { return distance_[node]; });
        std::vector<double> capacity(nodes);
        capacity[leaf] = std::numeric_limits<double>::infinity();
        for (const NodeId node : order) {
            if (node == leaf || distance_[node] == unreachable || topology_.nodes[node].is_host) continue;
            std::vector<double> onward;
            for (const LinkId id : topology_.nodes[node].links) {
                const NodeId next = other(id, node);
                if (is_down(id) || topology_.nodes[next].is_host || distance_[next] == unreachable ||
                    distance_[next] + 1 != distance_[node])
                    continue;
                // A switch above the leaf goes down only, another goes up.
                const unsigned here = topology_.nodes[node].tier, there = topology_.nodes[next].tier;
                if (up_down_ &&
                    (down[node] == distance_[node] ? there >= here || down[next] != distance_[next]
                                                   : there <= here))
                    continue;
                hops[node].push_back({id, 1});
                onward.push_back(
                    std::min(static_cast<double>(topology_.links[id].speed.bits_per_second), capacity[next]));
                capacity[node] += onward.back();
            }
            if (routing_.weights == Weights::capacity) weigh(hops[node], onward);
        }
        return hops;
    }

  private:
    bool is_down(LinkId id) const { return !links_down_.empty() && links_down_[id]; }
    NodeId other(LinkId id, NodeId node) const { return topology_.links[id].beyond(node).node; }

    void spread(NodeId leaf) {
        distance_[leaf] = 0;
        for (std::deque<NodeId> queue{leaf}; !queue.empty(); queue.pop_front()) {
            const NodeId node = queue.front();
            for (const LinkId id : topology_.nodes[node].links) {
                const NodeId next = other(id, node);
                const bool goes_down = topology_.nodes[next].tier > topology_.nodes[node].tier;
                if (is_down(id) || topology_.nodes[next].is_host || distance_[next] != unreachable ||
                    (up_down_ && !goes_down))
                    continue;
                distance_[next] = distance_[node] + 1;
                queue.push_back(next);
            }
        }
    }

    // From the top tier down: a switch that cannot go down to the leaf goes up to the nearest that does.
    void go_up(const std::vector<unsigned>& down) {
        unsigned top = 0;
        for (const Node& node : topology_.nodes) top = std::max(top, node.tier);
        for (unsigned tier = top; tier > 0; --tier)
            for (NodeId node = 0; node < topology_.nodes.size(); ++node) {
                if (topology_.nodes[node].tier != tier || down[node] != unreachable) continue;
                for (const LinkId id : topology_.nodes[node].links) {
                    const NodeId next = other(id, node);
                    if (!is_down(id) && topology_.nodes[next].tier > tier && distance_[next] != unreachable)
                        distance_[node] = std::min(distance_[node], distance_[next] + 1);
                }
            }
    }

    // A ring's first link between switches goes from a switch to its next one.
    std::vector<std::vector<Hop>> clockwise(NodeId leaf) const {
        std::vector<std::vector<Hop>> hops(topology_.nodes.size());
        for (LinkId id = 0; id < topology_.links.size(); ++id) {
            const Link& link = topology_.links[id];
            const NodeId from = link.ends[0].node;
            if (topology_.joins_switches(link) && from != leaf && !is_down(id)) hops[from].push_back({id, 1});
        }
        return hops;
    }

    static void weigh(std::vector<Hop>& hops, const std::vector<double>& onward) {
        if (onward.empty()) return;
        const auto [least, most] = std::ranges::minmax_element(onward);
        if (*least == *most) return;
        // The smallest whole numbers that are right, or as near as the largest weight allows.
        for (std::uint32_t scale = 1; scale <= max_hop_weight; ++scale) {
            bool exact = true;
            for (std::size_t n = 0; n < hops.size(); ++n) {
                const double share = onward[n] / *least * scale;
                hops[n].weight = static_cast<std::uint32_t>(std::min<double>(share + 0.5, max_hop_weight));
                exact &= share <= max_hop_weight && share - static_cast<double>(hops[n].weight) < 1e-9 &&
                         static_cast<double>(hops[n].weight) - share < 1e-9;
            }
            if (exact) return;
        }
        for (std::size_t n = 0; n < hops.size(); ++n)
            hops[n].weight =
                std::max(1U, static_cast<std::uint32_t>(std::lround(onward[n] / *most * max_hop_weight)));
    }

    const Topology& topology_;
    const std::vector<bool>& links_down_;
    const RoutingConfig& routing_;
    bool up_down_;
    std::vector<unsigned> distance_;
};

}  // namespace

bool is_up_down(const FabricPlan& plan) {
    using Policy = RoutingConfig::Policy;
    const Policy policy = plan.file.routing.policy;
    return policy == Policy::up_down || (policy == Policy::automatic && plan.topology.up_down);
}

std::vector<std::vector<RouteConfig>> routes_without(const FabricPlan& plan,
                                                     const std::vector<bool>& links_down,
                                                     const Stage& stage) {
    std::vector<std::vector<RouteConfig>> routes(plan.switches.size());
    if (plan.file.routing.policy == RoutingConfig::Policy::by_hand) return routes;
    std::size_t done = 0;
    for (const AddressPlan::Leaf& leaf : plan.addresses.leaves()) {
        stage("routes to leaves", done++, plan.addresses.leaves().size());
        const auto hops = ToLeaf(plan, links_down).find(leaf.node);
        for (std::size_t n = 0; n < plan.switches.size(); ++n) {
            const SwitchPlan& self = plan.switches[n];
            const RouteSet& by_hand = *plan.file.switch_config(self.name).routes;
            if (hops[self.node].empty() || by_hand.contains(leaf.prefix)) continue;
            RouteConfig& route = routes[n].emplace_back(RouteConfig{leaf.prefix, {}, {}});
            for (const Hop& hop : hops[self.node]) {
                const unsigned far = 1 - plan.topology.links[hop.link].end_at(self.node);
                route.via.push_back({plan.addresses.address(hop.link, far), hop.weight});
            }
            std::ranges::sort(route.via);
        }
    }
    return routes;
}

std::vector<PathHop> hops_between(const FabricPlan& plan, NodeId from, NodeId to) {
    const Topology& topology = plan.topology;
    std::vector<PathHop> hops{{from, {topology.nodes[from].links.front()}}};
    NodeId at = plan.switch_at(from).node;
    const NodeId leaf = plan.switch_at(to).node;
    const IpAddress& address = plan.host(to).address;
    // Routes by hand may lead nowhere, or round in a circle.
    for (std::size_t n = 0; at != leaf && n < topology.nodes.size(); ++n) {
        const RouteConfig* best = nullptr;
        for (const RouteConfig& route : *plan.switch_at(at).config.routes)
            if (contains(route.prefix, address) &&
                (best == nullptr || route.prefix.length > best->prefix.length))
                best = &route;
        if (best == nullptr) break;
        PathHop hop{at, {}};
        for (const auto& via : best->via)
            for (const LinkId id : topology.nodes[at].links) {
                const unsigned far = 1 - topology.links[id].end_at(at);
                if (plan.addresses.address(id, far) == via.address) hop.links.push_back(id);
            }
        if (hop.links.empty()) break;
        at = topology.links[hop.links.front()].beyond(at).node;
        hops.push_back(std::move(hop));
    }
    hops.push_back({leaf, {topology.nodes[to].links.front()}});
    return hops;
}

HostPath path_between(const FabricPlan& plan, const FlowConfig& flow, NodeId from, NodeId to) {
    const PacketLabel label = data_label(flow, plan.host(flow.kind == FlowKind::read ? to : from));
    HostPath path{{}, 0, Rate{UINT64_MAX}};
    const Link* before = nullptr;
    for (const PathHop& hop : hops_between(plan, from, to)) {
        const Link& link = plan.topology.links[hop.links.front()];
        path.links.push_back({link.speed.byte_time(), propagation_delay(link.cable_m)});
        if (!plan.topology.nodes[hop.from].is_host) {
            const Config& config = plan.switch_at(hop.from).config;
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
