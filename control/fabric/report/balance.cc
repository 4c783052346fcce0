#include "control/fabric/report/balance.hh"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "control/report/figures/figure_functions.hh"
#include "control/report/figures/report_rows.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// The cable by which each neighbor of a switch is reached.
std::map<IpAddress, LinkId> neighbors_of(const FabricPlan& plan, NodeId node) {
    std::map<IpAddress, LinkId> neighbors;
    for (const LinkId id : plan.topology.nodes[node].links) {
        const auto& ends = plan.topology.links[id].ends;
        const unsigned far = ends[0].node == node ? 1 : 0;
        if (!plan.topology.nodes[ends[far].node].is_host) neighbors[plan.addresses.address(id, far)] = id;
    }
    return neighbors;
}

struct BalanceSource {
    const SwitchPlan& self;
    unsigned tier;
    std::vector<std::string> links{};
    std::vector<double> loads{};
};

// Null: there is no load.
Json permille_or_null(FigureFunction function, const std::vector<double>& loads) {
    if (std::ranges::all_of(loads, [](double load) { return load == 0; })) return nullptr;
    return static_cast<std::uint64_t>(std::llround(fold(function, loads) * 1000));
}

FIGURE_ROWS(balance_figures, BalanceSource, "balance.{group}") = {
#include "control/report/figures/rows/fabric/balance.def"
};

Json group_json(const FabricPlan& plan, const SwitchPlan& self, const std::set<LinkId>& members,
                const Json& links) {
    BalanceSource source{self, plan.topology.nodes[self.node].tier};
    for (const LinkId id : members) {
        const Link& link = plan.topology.links[id];
        const unsigned from = link.ends[0].node == self.node ? 0 : 1;
        source.links.push_back(link.name);
        source.loads.push_back(links[link.name]["directions"][from]["load_ppm"].get<double>());
    }
    return json_of(balance_figures, source);
}

}  // namespace

Json balance_json(const FabricPlan& plan, const Json& links) {
    std::vector<Json> groups;
    for (const SwitchPlan& self : plan.switches) {
        const auto neighbors = neighbors_of(plan, self.node);
        std::set<std::set<LinkId>> seen;
        for (const RouteConfig& route : *self.config.routes) {
            std::set<LinkId> members;
            for (const auto& via : route.via)
                if (const auto found = neighbors.find(via.address); found != neighbors.end())
                    members.insert(found->second);
            if (members.size() > 1 && seen.insert(members).second)
                groups.push_back(group_json(plan, self, members, links));
        }
    }
    const auto unevenness = [](const Json& group) {
        return group["max_over_mean_permille"].is_null() ? 0
                                                         : group["max_over_mean_permille"].get<unsigned>();
    };
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const Json& a, const Json& b) { return unevenness(a) > unevenness(b); });
    return groups;
}

}  // namespace sluice::fabric
