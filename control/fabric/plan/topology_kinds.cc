#include "control/fabric/plan/topology_kinds.hh"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "lib/values/ids.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_switches = 1024;
constexpr std::size_t max_hosts = 16'384;

// Errors' texts, or empty.
std::string too_large(std::uint64_t hosts, std::uint64_t switches) {
    if (hosts > max_hosts)
        return fmt::format("topology: {} hosts are too many, at most {}; do: make it smaller", hosts,
                           max_hosts);
    if (switches > max_switches)
        return fmt::format("topology: {} switches are too many, at most {}; do: make it smaller", switches,
                           max_switches);
    return {};
}

std::string too_large(const Topology& made) {
    std::size_t hosts = 0;
    for (const Node& node : made.nodes) {
        hosts += node.is_host ? 1 : 0;
        if (!node.is_host && node.links.size() > max_ports)
            return fmt::format("topology: {} has {} ports, a switch has {} at most; do: use more switches",
                               node.name, node.links.size(), max_ports);
    }
    return too_large(hosts, made.nodes.size() - hosts);
}

// The `number`-th cable between the two.
void join(Topology& made, NodeId low, NodeId high, Rate speed, std::uint32_t cable_m, unsigned number) {
    const std::string suffix = number == 1 ? "" : fmt::format("-{}", number);
    Node& a = made.nodes[low];
    Node& b = made.nodes[high];
    a.links.push_back(static_cast<LinkId>(made.links.size()));
    b.links.push_back(static_cast<LinkId>(made.links.size()));
    made.links.push_back({fmt::format("{}-{}{}", a.name, b.name, suffix),
                          {LinkEnd{low, b.name + suffix}, LinkEnd{high, a.name + suffix}},
                          speed,
                          cable_m});
}

NodeId peer_of(const Topology& made, LinkId link, NodeId node) {
    const auto& ends = made.links[link].ends;
    return ends[ends[0].node == node ? 1 : 0].node;
}

// Of switches that say none: how far the next host is. The name of a node that no host reaches, or empty.
std::string find_tiers(Topology& made) {
    std::vector<unsigned> distance(made.nodes.size());
    std::vector<bool> seen(made.nodes.size());
    std::deque<NodeId> queue;
    for (NodeId node = 0; node < made.nodes.size(); ++node)
        if (made.nodes[node].is_host) queue.push_back(node), seen[node] = true;
    while (!queue.empty()) {
        const NodeId node = queue.front();
        queue.pop_front();
        for (const LinkId link : made.nodes[node].links) {
            const NodeId next = peer_of(made, link, node);
            if (seen[next]) continue;
            seen[next] = true;
            distance[next] = distance[node] + 1;
            queue.push_back(next);
        }
    }
    // One part: from the first node to all.
    std::vector<bool> joined(made.nodes.size());
    if (!made.nodes.empty()) queue.push_back(0), joined[0] = true;
    while (!queue.empty()) {
        const NodeId node = queue.front();
        queue.pop_front();
        for (const LinkId link : made.nodes[node].links)
            if (const NodeId next = peer_of(made, link, node); !joined[next])
                joined[next] = true, queue.push_back(next);
    }
    for (NodeId node = 0; node < made.nodes.size(); ++node) {
        if (!seen[node] || !joined[node]) return made.nodes[node].name;
        if (made.nodes[node].tier == 0) made.nodes[node].tier = distance[node];
    }
    return {};
}

class Builder {
  public:
    explicit Builder(const TopologySettings& settings) : in_(settings) {}

    NodeId add(std::string name, unsigned tier, unsigned pod = 0) {
        if (in_.planes > 1) name = fmt::format("p{}{}", plane_, name);
        made_.nodes.push_back({std::move(name), tier == 0, tier, pod, {}});
        return static_cast<NodeId>(made_.nodes.size() - 1);
    }
    void link(NodeId low, NodeId high, Rate speed, std::uint32_t cable_m, unsigned count = 1) {
        for (unsigned n = 1; n <= count; ++n) join(made_, low, high, speed, cable_m, n);
    }

    // Hosts come first, so they are made before their switches; planes come one after the other.
    tl::expected<Topology, std::string> make() {
        if (std::string wrong = too_large(); !wrong.empty()) return tl::unexpected(std::move(wrong));
        const unsigned aggs = in_.aggs.value_or(usual_aggs), cores = in_.cores.value_or(aggs * 2);
        if (in_.kind == TopologyKind::three_tier && cores % aggs != 0)
            return refuse(
                "cores",
                fmt::format("{} are no multiple of the {} aggregation switches of a pod", cores, aggs),
                fmt::format("write cores = {}", (cores / aggs + 1) * aggs));
        if (in_.planes > 1 && !is_clos())
            return refuse("planes", "only Clos networks have planes",
                          "leave it out, or write kind = \"leaf-spine\", \"rail\" or \"three-tier\"");
        for (plane_ = 1; plane_ <= in_.planes; ++plane_) make_plane();
        made_.up_down = is_clos();
        return std::move(made_);
    }

  private:
    static constexpr unsigned usual_aggs = 2;

    bool is_clos() const {
        return in_.kind == TopologyKind::leaf_spine || in_.kind == TopologyKind::rail ||
               in_.kind == TopologyKind::three_tier;
    }
    void make_plane() {
        switch (in_.kind) {
            case TopologyKind::star:
                return star();
            case TopologyKind::dumbbell:
                return dumbbell();
            case TopologyKind::leaf_spine:
                return leaf_spine();
            case TopologyKind::rail:
                return rail();
            case TopologyKind::three_tier:
                return three_tier();
            case TopologyKind::ring:
                return ring();
        }
    }
    // Before anything is made: what the numbers multiply to.
    std::string too_large() const {
        const std::uint64_t pods = in_.pods.value_or(1), each = in_.hosts.value_or(1);
        std::uint64_t hosts = each, switches = 2;
        switch (in_.kind) {
            case TopologyKind::star:
            case TopologyKind::dumbbell:
                hosts = 2 * each;
                break;
            case TopologyKind::ring:
                switches = in_.switches.value_or(1);
                hosts = switches * each;
                break;
            case TopologyKind::leaf_spine:
                switches = std::uint64_t{in_.leaves.value_or(1)} + in_.spines.value_or(1);
                hosts = in_.leaves.value_or(1) * each;
                break;
            case TopologyKind::rail:
                switches = pods * in_.rails.value_or(1) + in_.spines.value_or(1);
                hosts = pods * in_.servers.value_or(1) * in_.rails.value_or(1);
                break;
            case TopologyKind::three_tier:
                switches = pods * (in_.racks.value_or(1) + in_.aggs.value_or(1)) + in_.cores.value_or(1);
                hosts = pods * in_.racks.value_or(1) * each;
                break;
        }
        return fabric::too_large(in_.planes * hosts, in_.planes * switches);
    }
    tl::unexpected<std::string> refuse(std::string_view key, std::string_view wrong,
                                       std::string_view remedy) const {
        return tl::unexpected(fmt::format("topology.{}: {}; do: {}", key, wrong, remedy));
    }
    // The speed of links between switches: `hosts` of a leaf share `uplinks`.
    Rate between(unsigned hosts, unsigned uplinks) const {
        if (in_.speed) return *in_.speed;
        if (!in_.oversubscription) return in_.host_speed;
        const std::uint64_t wanted =
            in_.host_speed.bits_per_second * hosts / (std::uint64_t{uplinks} * *in_.oversubscription);
        for (const std::uint64_t speed : {1, 10, 25, 40, 50, 100, 200, 400, 800})
            if (gigabits(speed).bits_per_second >= wanted) return gigabits(speed);
        return gigabits(800);
    }
    std::vector<NodeId> hosts(std::size_t count, unsigned a_leaf) {
        std::vector<NodeId> made;
        for (std::size_t n = 1; n <= count; ++n)
            made.push_back(add(fmt::format("h{}", n), 0, static_cast<unsigned>((n - 1) / a_leaf)));
        return made;
    }
    void attach(const std::vector<NodeId>& hosts, NodeId leaf, unsigned first, unsigned count) {
        for (unsigned n = 0; n < count; ++n) link(hosts[first + n], leaf, in_.host_speed, in_.host_cable_m);
    }

    void star() {
        const unsigned count = in_.hosts.value_or(4);
        const auto all = hosts(count, count);
        attach(all, add("sw1", 1), 0, count);
    }

    void dumbbell() {
        const unsigned side = in_.hosts.value_or(4);
        const auto all = hosts(std::size_t{2} * side, side);
        const NodeId left = add("left", 1, 0), right = add("right", 1, 1);
        attach(all, left, 0, side);
        attach(all, right, side, side);
        link(left, right, between(side, in_.links), in_.cable_m, in_.links);
    }

    void ring() {
        const unsigned count = in_.switches.value_or(3), each = in_.hosts.value_or(1);
        const auto all = hosts(std::size_t{count} * each, each);
        std::vector<NodeId> around;
        for (unsigned n = 0; n < count; ++n) around.push_back(add(fmt::format("sw{}", n + 1), 1, n));
        for (unsigned n = 0; n < count; ++n) attach(all, around[n], n * each, each);
        for (unsigned n = 0; n < count; ++n)
            link(around[n], around[(n + 1) % count], between(each, 2), in_.cable_m, in_.links);
    }

    void leaf_spine() {
        const unsigned leaves = in_.leaves.value_or(4), spines = in_.spines.value_or(2),
                       each = in_.hosts.value_or(4);
        const auto all = hosts(std::size_t{leaves} * each, each);
        std::vector<NodeId> low;
        for (unsigned n = 0; n < leaves; ++n) low.push_back(add(fmt::format("leaf{}", n + 1), 1, n));
        for (unsigned n = 0; n < leaves; ++n) attach(all, low[n], n * each, each);
        for (unsigned s = 0; s < spines; ++s) {
            const NodeId spine = add(fmt::format("spine{}", s + 1), 2);
            for (const NodeId leaf : low)
                link(leaf, spine, between(each, spines * in_.links), in_.cable_m, in_.links);
        }
    }

    void rail() {
        const unsigned pods = in_.pods.value_or(1), servers = in_.servers.value_or(4),
                       rails = in_.rails.value_or(4), spines = in_.spines.value_or(2);
        std::vector<NodeId> nics;  // by pod, server, rail
        for (unsigned s = 0; s < pods * servers; ++s)
            for (unsigned r = 0; r < rails; ++r)
                nics.push_back(add(fmt::format("s{}r{}", s + 1, r + 1), 0, s / servers));
        std::vector<NodeId> low;  // by pod, rail
        for (unsigned p = 0; p < pods; ++p)
            for (unsigned r = 0; r < rails; ++r)
                low.push_back(
                    add(pods == 1 ? fmt::format("rail{}", r + 1) : fmt::format("pod{}rail{}", p + 1, r + 1),
                        1, p));
        for (unsigned p = 0; p < pods; ++p)
            for (unsigned r = 0; r < rails; ++r)
                for (unsigned s = 0; s < servers; ++s)
                    link(nics[(p * servers + s) * rails + r], low[p * rails + r], in_.host_speed,
                         in_.host_cable_m);
        for (unsigned s = 0; s < spines; ++s) {
            const NodeId spine = add(fmt::format("spine{}", s + 1), 2);
            for (const NodeId leaf : low)
                link(leaf, spine, between(servers, spines * in_.links), in_.cable_m, in_.links);
        }
    }

    // Core c joins aggregation switch c mod aggs of every pod, as in a fat tree.
    void three_tier() {
        const unsigned pods = in_.pods.value_or(2), racks = in_.racks.value_or(2),
                       aggs = in_.aggs.value_or(usual_aggs), each = in_.hosts.value_or(4),
                       cores = in_.cores.value_or(aggs * 2);
        const auto all = hosts(std::size_t{pods} * racks * each, racks * each);
        std::vector<NodeId> tors, middles;
        for (unsigned n = 0; n < pods * racks; ++n)
            tors.push_back(add(fmt::format("tor{}", n + 1), 1, n / racks));
        for (unsigned n = 0; n < pods * racks; ++n) attach(all, tors[n], n * each, each);
        const Rate up = between(each, aggs * in_.links);
        for (unsigned n = 0; n < pods * aggs; ++n) {
            middles.push_back(add(fmt::format("agg{}", n + 1), 2, n / aggs));
            for (unsigned r = 0; r < racks; ++r)
                link(tors[n / aggs * racks + r], middles.back(), up, in_.cable_m, in_.links);
        }
        for (unsigned c = 0; c < cores; ++c) {
            const NodeId core = add(fmt::format("core{}", c + 1), 3);
            for (unsigned p = 0; p < pods; ++p)
                link(middles[p * aggs + c % aggs], core, up, in_.spine_cable_m, in_.links);
        }
    }

    const TopologySettings& in_;
    unsigned plane_ = 1;
    Topology made_;
};

}  // namespace

tl::expected<Topology, std::string> make_topology(const TopologySettings& settings) {
    auto made = Builder(settings).make();
    if (!made) return made;
    if (std::string wrong = too_large(*made); !wrong.empty()) return tl::unexpected(std::move(wrong));
    return made;
}

tl::expected<Topology, std::string> make_topology(const std::vector<NamedNode>& nodes,
                                                  const std::vector<NamedLink>& links) {
    const auto refuse = [](std::string text) { return tl::unexpected(std::move(text)); };
    Topology made;
    std::map<std::string, NodeId> ids;
    for (const bool hosts : {true, false})
        for (const NamedNode& node : nodes) {
            if (node.is_host != hosts) continue;
            if (node.is_host && node.tier)
                return refuse(fmt::format("node {}: a host has no tier; do: leave tier out", node.name));
            if (!ids.emplace(node.name, static_cast<NodeId>(made.nodes.size())).second)
                return refuse(
                    fmt::format("node {}: another has the same name; do: give each its own", node.name));
            made.nodes.push_back({node.name, node.is_host, node.tier.value_or(0), 0, {}});
        }
    std::map<std::pair<NodeId, NodeId>, unsigned> parallel;
    for (const NamedLink& link : links) {
        const std::string name = fmt::format("link {}-{}", link.a, link.b);
        for (const std::string* end : {&link.a, &link.b})
            if (!ids.contains(*end))
                return refuse(
                    fmt::format("{}: there is no node {}; do: add a [[node]] of that name", name, *end));
        if (link.a == link.b) return refuse(name + ": its ends are one node; do: name two");
        const NodeId a = ids.at(link.a), b = ids.at(link.b);
        join(made, a, b, link.speed, link.cable_m, ++parallel[std::minmax(a, b)]);
    }
    for (const Node& node : made.nodes) {
        if (node.is_host && node.links.size() != 1)
            return refuse(
                fmt::format("node {}: a host has one link, this one has {}", node.name, node.links.size()));
        if (node.is_host && made.nodes[peer_of(made, node.links.front(), ids.at(node.name))].is_host)
            return refuse(
                fmt::format("node {}: its link goes to a host; do: put a switch between", node.name));
    }
    if (const std::string apart = find_tiers(made); !apart.empty())
        return refuse(fmt::format("node {}: no host can reach it; do: link it to the others", apart));
    if (std::string wrong = too_large(made); !wrong.empty()) return refuse(std::move(wrong));
    made.up_down = std::none_of(made.links.begin(), made.links.end(), [&](const Link& link) {
        return made.nodes[link.ends[0].node].tier == made.nodes[link.ends[1].node].tier;
    });
    return made;
}

}  // namespace sluice::fabric
