#include "control/fabric/plan/routing.hh"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

#include "control/config/schema/config.hh"

namespace sluice::fabric {
namespace {

constexpr unsigned unreachable = std::numeric_limits<unsigned>::max();

// The way to one leaf from everywhere.
class ToLeaf {
  public:
    ToLeaf(const Topology& topology, const std::vector<bool>& links_down, const RoutingSettings& settings)
        : topology_(topology), links_down_(links_down), settings_(settings) {}

    // The next hops of every switch, by node.
    std::vector<std::vector<Hop>> find(NodeId leaf) {
        const std::size_t nodes = topology_.nodes.size();
        if (settings_.paths == Paths::clockwise) return clockwise(leaf);
        // Down-only distances first: whoever is above the leaf. Then those that have to go up.
        distance_.assign(nodes, unreachable);
        spread(
            {leaf},
            [&](NodeId from, NodeId to) {
                return settings_.paths == Paths::shortest ||
                       topology_.nodes[to].tier > topology_.nodes[from].tier;
            },
            leaf);
        const std::vector<unsigned> down = distance_;
        if (settings_.paths == Paths::up_down) go_up(down);
        std::vector<std::vector<Hop>> hops(nodes);
        std::vector<NodeId> order(nodes);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](NodeId a, NodeId b) { return distance_[a] < distance_[b]; });
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
                // One that goes down stays below, and one that does not goes up.
                const unsigned here = topology_.nodes[node].tier, there = topology_.nodes[next].tier;
                if (settings_.paths == Paths::up_down &&
                    (down[node] == distance_[node] ? there >= here || down[next] != distance_[next]
                                                   : there <= here))
                    continue;
                hops[node].push_back({id, 1});
                onward.push_back(
                    std::min(static_cast<double>(topology_.links[id].speed.bits_per_second), capacity[next]));
                capacity[node] += onward.back();
            }
            if (settings_.weights == Weights::capacity) weigh(hops[node], onward);
        }
        return hops;
    }

  private:
    bool is_down(LinkId id) const { return !links_down_.empty() && links_down_[id]; }
    NodeId other(LinkId id, NodeId node) const {
        const auto& ends = topology_.links[id].ends;
        return ends[ends[0].node == node ? 1 : 0].node;
    }

    template <class May>
    void spread(std::deque<NodeId> queue, May may, NodeId leaf) {
        distance_[leaf] = 0;
        while (!queue.empty()) {
            const NodeId node = queue.front();
            queue.pop_front();
            for (const LinkId id : topology_.nodes[node].links) {
                const NodeId next = other(id, node);
                if (is_down(id) || topology_.nodes[next].is_host || distance_[next] != unreachable ||
                    !may(node, next))
                    continue;
                distance_[next] = distance_[node] + 1;
                queue.push_back(next);
            }
        }
    }

    // From the top tier down: who cannot go down to the leaf goes up to whom can be reached it is nearest.
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
            const auto& ends = topology_.links[id].ends;
            if (topology_.nodes[ends[0].node].is_host || topology_.nodes[ends[1].node].is_host) continue;
            if (ends[0].node != leaf && !is_down(id)) hops[ends[0].node].push_back({id, 1});
        }
        return hops;
    }

    static void weigh(std::vector<Hop>& hops, const std::vector<double>& onward) {
        if (onward.empty()) return;
        const auto [least, most] = std::minmax_element(onward.begin(), onward.end());
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
                std::max(1U, static_cast<std::uint32_t>(onward[n] / *most * max_hop_weight + 0.5));
    }

    const Topology& topology_;
    const std::vector<bool>& links_down_;
    const RoutingSettings& settings_;
    std::vector<unsigned> distance_;
};

}  // namespace

std::vector<std::vector<Route>> routes_of(const Topology& topology, const AddressPlan& plan,
                                          const std::vector<bool>& links_down,
                                          const RoutingSettings& settings, const Stage& stage) {
    std::vector<std::vector<Route>> routes(topology.nodes.size());
    std::size_t done = 0;
    for (const AddressPlan::Leaf& leaf : plan.leaves()) {
        stage("routes to leaves", done++, plan.leaves().size());
        auto hops = ToLeaf(topology, links_down, settings).find(leaf.node);
        for (NodeId node = 0; node < topology.nodes.size(); ++node)
            if (!hops[node].empty()) routes[node].push_back({leaf.prefix, std::move(hops[node])});
    }
    return routes;
}

}  // namespace sluice::fabric
