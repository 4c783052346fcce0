#include "control/fabric/plan/flow_lint.hh"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "control/config/schema/values.hh"
#include "lib/roce/collective.hh"

namespace sluice::fabric {
namespace {

// By node: one of the nodes that it is joined with, the same for all of them.
std::vector<NodeId> parts_of(const Topology& topology) {
    std::vector<NodeId> part(topology.nodes.size());
    std::iota(part.begin(), part.end(), 0);
    const auto root = [&](NodeId node) {
        while (part[node] != node) node = part[node] = part[part[node]];
        return node;
    };
    for (const Link& link : topology.links) part[root(link.ends[0].node)] = root(link.ends[1].node);
    for (NodeId node = 0; node < part.size(); ++node) part[node] = root(node);
    return part;
}

// Whether packets for a group come to its leaf: by every way that a hash may choose, by some, by none.
enum class Ways : std::uint8_t { none, some, all };

class WaysTo {
  public:
    WaysTo(const FabricPlan& plan, const Forwarding& forwarding)
        : plan_(plan), forwarding_(forwarding), known_(forwarding.groups().size()) {}

    Ways from(std::size_t at, std::size_t group) {
        if (known_[group].empty()) find(group);
        return known_[group][at];
    }

    // One that does not lead there: "sw1 > sw2, which has no route to 10.0.3.1".
    std::string lost_way(std::size_t at, std::size_t group, const IpAddress& to) {
        std::string text = plan_.switches[at].name;
        std::vector<bool> seen(plan_.switches.size());
        while (!seen[at]) {
            seen[at] = true;
            const auto hops = forwarding_.hops(at, group);
            const auto lost = std::ranges::find_if(
                hops, [&](Channel hop) { return from(end_of(hop), group) != Ways::all; });
            if (lost == hops.end()) {
                const RouteConfig* route = forwarding_.route(at, group);
                if (route == nullptr) return text + ", which has no route to " + print_address(to);
                return text + ", whose route " + print_prefix(route->prefix) + " leads to no switch";
            }
            at = end_of(*lost);
            text += " > " + plan_.switches[at].name;
        }
        return text + ", round and round";
    }

  private:
    std::size_t end_of(Channel hop) const {
        return plan_.switch_of[plan_.topology.links[hop / 2].ends[hop % 2].node];
    }

    // From the leaf backwards: a switch whose every hop leads there does, too; then those of which one does.
    void find(std::size_t group) {
        const std::size_t switches = plan_.switches.size();
        std::vector<std::vector<std::size_t>> before(switches);
        std::vector<std::size_t> left(switches);  // hops that are not known to lead there
        for (std::size_t at = 0; at < switches; ++at)
            for (const Channel hop : forwarding_.hops(at, group)) {
                before[end_of(hop)].push_back(at);
                ++left[at];
            }
        std::vector<Ways>& ways = known_[group];
        ways.assign(switches, Ways::none);
        std::vector<std::size_t> found{forwarding_.groups()[group].leaf};
        ways[found[0]] = Ways::all;
        for (std::size_t n = 0; n < found.size(); ++n)
            for (const std::size_t at : before[found[n]])
                if (--left[at] == 0) {
                    ways[at] = Ways::all;
                    found.push_back(at);
                }
        for (std::size_t n = 0; n < found.size(); ++n)
            for (const std::size_t at : before[found[n]])
                if (ways[at] == Ways::none) {
                    ways[at] = Ways::some;
                    found.push_back(at);
                }
    }

    const FabricPlan& plan_;
    const Forwarding& forwarding_;
    std::vector<std::vector<Ways>> known_;  // by group and switch
};

class FlowCheck {
  public:
    FlowCheck(const FabricPlan& plan, const Forwarding& forwarding, bool force,
              std::vector<FabricFinding>& findings)
        : plan_(plan), forwarding_(forwarding), force_(force), findings_(findings), ways_(plan, forwarding) {
        if (plan.file.topology && plan.file.topology->planes > 1) parts_ = parts_of(plan.topology);
    }

    // Data one way, acknowledgments the other. False: a finding has been added.
    bool check(const std::string& path, SourcePlace place, NodeId from, NodeId to) {
        if (!parts_.empty() && parts_[from] != parts_[to]) {
            add({Severity::error, "flow-planes", path,
                 fmt::format("{} and {} are in different planes", name_of(from), name_of(to)),
                 "name hosts of one plane", place});
            return false;
        }
        return leads(path, place, from, to) && leads(path, place, to, from);
    }

  private:
    const std::string& name_of(NodeId node) const { return plan_.topology.nodes[node].name; }

    bool leads(const std::string& path, SourcePlace place, NodeId from, NodeId to) {
        const std::size_t leaf = plan_.switch_of[from], group = forwarding_.group_of(to);
        const Ways ways = ways_.from(leaf, group);
        if (ways == Ways::all) return true;
        const std::string &one = name_of(from), &other = name_of(to);
        const IpAddress& address = plan_.switches[plan_.switch_of[to]].config.hosts.at(other).address;
        const std::string where = ways_.lost_way(leaf, group, address);
        const bool none = ways == Ways::none;
        add({none && !force_ ? Severity::error : Severity::warning, "flow-route", path,
             none ? fmt::format("no route leads from {} to {}: {}", one, other, where)
                  : fmt::format("not every way leads from {} to {}: {}", one, other, where),
             fmt::format("write a route to {} there, or another routing.policy", print_address(address)),
             place});
        return false;
    }
    void add(Finding finding) { findings_.push_back({{}, std::move(finding)}); }

    const FabricPlan& plan_;
    const Forwarding& forwarding_;
    bool force_;
    std::vector<FabricFinding>& findings_;
    WaysTo ways_;
    std::vector<NodeId> parts_;  // of planes
};

}  // namespace

void check_flow_ways(const FabricPlan& plan, const Forwarding& forwarding, bool force,
                     std::vector<FabricFinding>& findings) {
    FlowCheck check(plan, forwarding, force, findings);
    const auto nodes_of = [&](const std::vector<std::string>& hosts) {
        std::vector<NodeId> nodes;
        for (const std::string& each : hosts) nodes.push_back(plan.nodes.find(each)->second);
        return nodes;
    };
    for (std::size_t n = 0; n < plan.file.flows.size(); ++n) {
        const FlowConfig& flow = plan.file.flows[n];
        const std::string path = fmt::format("flow[{}]", n);
        const auto from = nodes_of(flow.from), to = nodes_of(flow.to);
        bool good = true;
        for (std::size_t pair = 0; good && pair < from.size() * to.size(); ++pair)
            good = check.check(path, flow.place, from[pair / to.size()], to[pair % to.size()]);
    }
    for (std::size_t n = 0; n < plan.collectives.size(); ++n) {
        const CollectivePlan& each = plan.collectives[n];
        const std::string path = fmt::format("collective[{}]", n);
        const auto hosts = nodes_of(each.hosts);
        bool good = true;
        for (std::uint32_t rank = 0; good && rank < hosts.size(); ++rank)
            for (const std::uint32_t peer : roce::CollectiveRounds(each.settings, rank).receivers())
                good = good && check.check(path, plan.file.collectives[n].place, hosts[rank], hosts[peer]);
    }
}

}  // namespace sluice::fabric
