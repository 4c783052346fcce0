#include "tools/fabric/topology_kinds.hh"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "lib/ids.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_switches = 1024;
constexpr std::size_t max_hosts = 16'384;

class Builder {
  public:
    explicit Builder(const TopologySettings& settings) : in_(settings) {}

    NodeId add(std::string name, unsigned tier, unsigned pod = 0) {
        made_.nodes.push_back({std::move(name), tier == 0, tier, pod, {}});
        return static_cast<NodeId>(made_.nodes.size() - 1);
    }
    void link(NodeId low, NodeId high, Rate speed, std::uint32_t cable_m, unsigned count = 1) {
        for (unsigned n = 1; n <= count; ++n) {
            const std::string number = n == 1 ? "" : fmt::format("-{}", n);
            const Node& a = made_.nodes[low];
            const Node& b = made_.nodes[high];
            const auto id = static_cast<LinkId>(made_.links.size());
            made_.links.push_back({fmt::format("{}-{}{}", a.name, b.name, number),
                                   {LinkEnd{low, b.name + number}, LinkEnd{high, a.name + number}},
                                   speed,
                                   cable_m});
            made_.nodes[low].links.push_back(id);
            made_.nodes[high].links.push_back(id);
        }
    }

    // Hosts come first, so they are made before their switches.
    tl::expected<Topology, std::string> make() {
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
        return std::move(made_);
    }

  private:
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

    Topology star() {
        const unsigned count = in_.hosts.value_or(4);
        const auto all = hosts(count, count);
        attach(all, add("sw1", 1), 0, count);
        return std::move(made_);
    }

    Topology dumbbell() {
        const unsigned side = in_.hosts.value_or(4);
        const auto all = hosts(std::size_t{2} * side, side);
        const NodeId left = add("left", 1, 0), right = add("right", 1, 1);
        attach(all, left, 0, side);
        attach(all, right, side, side);
        link(left, right, between(side, in_.links), in_.cable_m, in_.links);
        return std::move(made_);
    }

    Topology ring() {
        const unsigned count = in_.switches.value_or(3), each = in_.hosts.value_or(1);
        const auto all = hosts(std::size_t{count} * each, each);
        std::vector<NodeId> around;
        for (unsigned n = 0; n < count; ++n) around.push_back(add(fmt::format("sw{}", n + 1), 1, n));
        for (unsigned n = 0; n < count; ++n) attach(all, around[n], n * each, each);
        for (unsigned n = 0; n < count; ++n)
            link(around[n], around[(n + 1) % count], between(each, 2), in_.cable_m, in_.links);
        return std::move(made_);
    }

    Topology leaf_spine() {
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
        made_.up_down = true;
        return std::move(made_);
    }

    Topology rail() {
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
        made_.up_down = true;
        return std::move(made_);
    }

    // Core c joins aggregation switch c mod aggs of every pod, as in a fat tree.
    tl::expected<Topology, std::string> three_tier() {
        const unsigned pods = in_.pods.value_or(2), racks = in_.racks.value_or(2),
                       aggs = in_.aggs.value_or(2), each = in_.hosts.value_or(4),
                       cores = in_.cores.value_or(aggs * 2);
        if (cores % aggs != 0)
            return refuse(
                "cores",
                fmt::format("{} are no multiple of the {} aggregation switches of a pod", cores, aggs),
                fmt::format("write cores = {}", (cores / aggs + 1) * aggs));
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
        made_.up_down = true;
        return std::move(made_);
    }

    const TopologySettings& in_;
    Topology made_;
};

std::string too_large(const Topology& made) {
    std::size_t hosts = 0;
    for (const Node& node : made.nodes) {
        hosts += node.is_host ? 1 : 0;
        if (!node.is_host && node.links.size() > max_ports)
            return fmt::format("{} has {} ports, a switch has {} at most; do: use more switches", node.name,
                               node.links.size(), max_ports);
    }
    if (hosts > max_hosts) return fmt::format("{} hosts are too many, at most {}", hosts, max_hosts);
    if (made.nodes.size() - hosts > max_switches)
        return fmt::format("{} switches are too many, at most {}", made.nodes.size() - hosts, max_switches);
    return {};
}

}  // namespace

tl::expected<Topology, std::string> make_topology(const TopologySettings& settings) {
    auto made = Builder(settings).make();
    if (!made) return made;
    if (std::string wrong = too_large(*made); !wrong.empty()) return tl::unexpected("topology: " + wrong);
    return made;
}

tl::expected<Topology, std::string> make_topology(const std::vector<NamedNode>& nodes,
                                                  const std::vector<NamedLink>& links) {
    const auto refuse = [](std::string text) { return tl::unexpected(std::move(text)); };
    const TopologySettings none;
    Builder builder(none);
    std::map<std::string, NodeId> ids;
    for (const bool hosts : {true, false})
        for (const NamedNode& node : nodes) {
            if (node.is_host != hosts) continue;
            if (!ids.emplace(node.name, builder.add(node.name, hosts ? 0 : node.tier.value_or(1))).second)
                return refuse(
                    fmt::format("node {}: another has the same name; do: give each its own", node.name));
        }
    std::map<std::pair<NodeId, NodeId>, unsigned> count;
    static_cast<void>(count);
    for (const NamedLink& link : links) {
        for (const std::string* end : {&link.a, &link.b})
            if (!ids.contains(*end))
                return refuse(fmt::format("link {}-{}: there is no node {}", link.a, link.b, *end));
        if (link.a == link.b) return refuse(fmt::format("link {}-{}: its ends are one node", link.a, link.b));
        builder.link(ids.at(link.a), ids.at(link.b), link.speed, link.cable_m);
    }
    auto made = builder.make();
    return made;
}

}  // namespace sluice::fabric
