#include "control/fabric/report/balance.hh"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

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

Json group_json(const FabricPlan& plan, const SwitchPlan& self, const std::set<LinkId>& members,
                const Json& links) {
    Json names = Json::array();
    double sum = 0, squares = 0, most = 0;
    for (const LinkId id : members) {
        const Link& link = plan.topology.links[id];
        const unsigned from = link.ends[0].node == self.node ? 0 : 1;
        const double load = links[link.name]["directions"][from]["load_ppm"].get<double>();
        names.push_back(link.name);
        sum += load;
        squares += load * load;
        most = std::max(most, load);
    }
    const auto count = static_cast<double>(members.size());
    Json json = {{"switch", self.name},
                 {"tier", plan.topology.nodes[self.node].tier},
                 {"links", std::move(names)},
                 {"mean_load_ppm", static_cast<std::uint64_t>(sum / count)},
                 {"max_over_mean_permille", nullptr},
                 {"jain_permille", nullptr}};
    if (sum != 0) {
        json["max_over_mean_permille"] = static_cast<std::uint64_t>(std::llround(most * count / sum * 1000));
        json["jain_permille"] =
            static_cast<std::uint64_t>(std::llround(sum * sum / (squares * count) * 1000));
    }
    return json;
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
