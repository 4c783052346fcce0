#include "control/fabric/plan/topology.hh"

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

// How far each node is from the nearest of `queue`.
std::vector<unsigned> distances(const Topology& made, std::deque<NodeId> queue) {
    std::vector<unsigned> distance(made.nodes.size(), unreachable);
    for (const NodeId node : queue) distance[node] = 0;
    for (; !queue.empty(); queue.pop_front())
        for (const LinkId link : made.nodes[queue.front()].links) {
            const NodeId next = made.links[link].beyond(queue.front()).node;
            if (distance[next] != unreachable) continue;
            distance[next] = distance[queue.front()] + 1;
            queue.push_back(next);
        }
    return distance;
}

// Switches without a tier get their distance to the next host. Returns a node that no host reaches, or empty.
std::string find_tiers(Topology& made) {
    std::deque<NodeId> hosts;
    for (NodeId node = 0; node < made.nodes.size(); ++node)
        if (made.nodes[node].is_host) hosts.push_back(node);
    const auto distance = distances(made, std::move(hosts));
    const auto from_first = distances(made, std::deque<NodeId>(made.nodes.empty() ? 0 : 1));
    for (NodeId node = 0; node < made.nodes.size(); ++node) {
        if (distance[node] == unreachable || from_first[node] == unreachable) return made.nodes[node].name;
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
                fmt::format("{} are not a multiple of the {} aggregation switches of a pod", cores, aggs),
                fmt::format("write cores = {}", (cores / aggs + 1) * aggs));
        if (in_.planes > 1 && !is_clos())
            return refuse("planes", "only Clos networks have planes",
                          "leave it out, or write kind = \"leaf-spine\", \"rail\" or \"three-tier\"");
        using Maker = void (Builder::*)();
        constexpr std::array<Maker, 6> by_kind{&Builder::star, &Builder::dumbbell,   &Builder::leaf_spine,
                                               &Builder::rail, &Builder::three_tier, &Builder::ring};
        for (plane_ = 1; plane_ <= in_.planes; ++plane_)
            (this->*by_kind.at(static_cast<std::size_t>(in_.kind)))();
        made_.up_down = is_clos();
        return std::move(made_);
    }

  private:
    static constexpr unsigned usual_aggs = 2;

    bool is_clos() const {
        return in_.kind == TopologyKind::leaf_spine || in_.kind == TopologyKind::rail ||
               in_.kind == TopologyKind::three_tier;
    }
    // Checks the size before anything is made.
    std::string too_large() const {
        const auto n = [](const std::optional<unsigned>& said) -> std::uint64_t { return said.value_or(1); };
        const std::uint64_t pods = n(in_.pods), each = n(in_.hosts);
        const std::array<std::array<std::uint64_t, 2>, 6> sizes{
            // by kind: hosts, switches
            {{2 * each, 2},
             {2 * each, 2},
             {n(in_.leaves) * each, n(in_.leaves) + n(in_.spines)},
             {pods * n(in_.servers) * n(in_.rails), pods * n(in_.rails) + n(in_.spines)},
             {pods * n(in_.racks) * each, pods * (n(in_.racks) + n(in_.aggs)) + n(in_.cores)},
             {n(in_.switches) * each, n(in_.switches)}}};
        const auto& [hosts, switches] = sizes.at(static_cast<std::size_t>(in_.kind));
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
    static std::vector<std::string> numbered(std::string_view name, unsigned count) {
        std::vector<std::string> names;
        for (unsigned n = 1; n <= count; ++n) names.push_back(fmt::format("{}{}", name, n));
        return names;
    }
    // The switches of the lowest tier, `each` with so many hosts.
    std::vector<NodeId> leaves(const std::vector<std::string>& names, unsigned each, unsigned a_pod = 1) {
        const auto count = static_cast<unsigned>(names.size());
        std::vector<NodeId> hosts, low;
        for (unsigned n = 0; n < count * each; ++n)
            hosts.push_back(add(fmt::format("h{}", n + 1), 0, n / (a_pod * each)));
        for (unsigned n = 0; n < count; ++n) low.push_back(add(names[n], 1, n / a_pod));
        for (unsigned n = 0; n < count * each; ++n)
            link(hosts[n], low[n / each], in_.host_speed, in_.host_cable_m);
        return low;
    }
    // Each joined with all of `low`, `hosts` of which share the uplinks of one.
    void spines(const std::vector<NodeId>& low, unsigned hosts) {
        const unsigned count = in_.spines.value_or(2);
        for (unsigned s = 0; s < count; ++s) {
            const NodeId spine = add(fmt::format("spine{}", s + 1), 2);
            for (const NodeId leaf : low)
                link(leaf, spine, between(hosts, count * in_.links), in_.cable_m, in_.links);
        }
    }

    void star() { leaves({"sw1"}, in_.hosts.value_or(4)); }

    void dumbbell() {
        const unsigned side = in_.hosts.value_or(4);
        const auto both = leaves({"left", "right"}, side);
        link(both[0], both[1], between(side, in_.links), in_.cable_m, in_.links);
    }

    void ring() {
        const unsigned count = in_.switches.value_or(3), each = in_.hosts.value_or(1);
        const auto around = leaves(numbered("sw", count), each);
        for (unsigned n = 0; n < count; ++n)
            link(around[n], around[(n + 1) % count], between(each, 2), in_.cable_m, in_.links);
    }

    void leaf_spine() {
        const unsigned each = in_.hosts.value_or(4);
        spines(leaves(numbered("leaf", in_.leaves.value_or(4)), each), each);
    }

    void rail() {
        const unsigned pods = in_.pods.value_or(1), servers = in_.servers.value_or(4),
                       rails = in_.rails.value_or(4);
        std::vector<NodeId> nics;  // by pod, server, rail
        for (unsigned s = 0; s < pods * servers; ++s)
            for (unsigned r = 0; r < rails; ++r)
                nics.push_back(add(fmt::format("s{}r{}", s + 1, r + 1), 0, s / servers));
        std::vector<NodeId> low;  // by pod, rail
        for (unsigned p = 0; p < pods; ++p)
            for (unsigned r = 0; r < rails; ++r) {
                const std::string pod = pods == 1 ? "" : fmt::format("pod{}", p + 1);
                low.push_back(add(fmt::format("{}rail{}", pod, r + 1), 1, p));
                for (unsigned s = 0; s < servers; ++s)
                    link(nics[(p * servers + s) * rails + r], low.back(), in_.host_speed, in_.host_cable_m);
            }
        spines(low, servers);
    }

    // Core c joins aggregation switch c mod aggs of every pod, as in a fat tree.
    void three_tier() {
        const unsigned pods = in_.pods.value_or(2), racks = in_.racks.value_or(2),
                       aggs = in_.aggs.value_or(usual_aggs), each = in_.hosts.value_or(4),
                       cores = in_.cores.value_or(aggs * 2);
        const auto tors = leaves(numbered("tor", pods * racks), each, racks);
        std::vector<NodeId> middles;
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

std::vector<std::string> Topology::names(bool of_hosts) const {
    std::vector<std::string> all;
    for (const Node& node : nodes)
        if (node.is_host == of_hosts) all.push_back(node.name);
    return all;
}

tl::expected<Topology, std::string> make_topology(const TopologySettings& settings) {
    auto made = Builder(settings).make();
    if (!made) return made;
    if (std::string wrong = too_large(*made); !wrong.empty()) return tl::unexpected(std::move(wrong));
    return made;
}

tl::expected<Topology, std::string> make_topology(const std::vector<NodeConfig>& nodes,
                                                  const std::vector<LinkConfig>& links) {
    const auto refuse = [](std::string text) { return tl::unexpected(std::move(text)); };
    for (const LinkConfig& link : links)
        if (link.ends.size() != 2) return refuse("a link has two ends; do: write ends = [\"a\", \"b\"]");
    Topology made;
    std::map<std::string, NodeId> ids;
    for (const bool hosts : {true, false})
        for (const NodeConfig& node : nodes) {
            if (node.is_host != hosts) continue;
            if (node.is_host && node.tier)
                return refuse(fmt::format("node {}: a host has no tier; do: leave tier out", node.name));
            if (!ids.emplace(node.name, static_cast<NodeId>(made.nodes.size())).second)
                return refuse(
                    fmt::format("node {}: another has the same name; do: give each its own", node.name));
            made.nodes.push_back({node.name, node.is_host, node.tier.value_or(0), 0, {}});
        }
    std::map<std::pair<NodeId, NodeId>, unsigned> parallel;
    for (const LinkConfig& link : links) {
        const std::string &one = link.ends[0], &other = link.ends[1];
        const std::string name = fmt::format("link {}-{}", one, other);
        for (const std::string& end : link.ends)
            if (!ids.contains(end))
                return refuse(
                    fmt::format("{}: there is no node {}; do: add a [[node]] of that name", name, end));
        if (one == other) return refuse(name + ": its ends are one node; do: name two");
        const NodeId a = ids.at(one), b = ids.at(other);
        join(made, a, b, link.speed, link.cable_m, ++parallel[std::minmax(a, b)]);
    }
    for (const Node& node : made.nodes) {
        if (node.is_host && node.links.size() != 1)
            return refuse(
                fmt::format("node {}: a host has one link, this one has {}", node.name, node.links.size()));
        if (node.is_host && made.nodes[made.links[node.links.front()].beyond(ids.at(node.name)).node].is_host)
            return refuse(
                fmt::format("node {}: its link goes to a host; do: put a switch between", node.name));
    }
    if (const std::string apart = find_tiers(made); !apart.empty())
        return refuse(fmt::format("node {}: no host can reach it; do: link it to the others", apart));
    if (std::string wrong = too_large(made); !wrong.empty()) return refuse(std::move(wrong));
    made.up_down = std::ranges::none_of(made.links, [&](const Link& link) {
        return made.nodes[link.ends[0].node].tier == made.nodes[link.ends[1].node].tier;
    });
    return made;
}

}  // namespace sluice::fabric
