#include "control/fabric/plan/plan_names.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t max_pairs = 1'000'000;

}  // namespace

void PlanNames::refuse(SourcePlace place, std::string path, std::string wrong, std::string remedy) {
    errors_.push_back({plan_.file.file, place, std::move(path), std::move(wrong), {}, std::move(remedy)});
}

void PlanNames::refuse(SourcePlace place, std::string path, const std::string& text) {
    constexpr std::string_view between = "; do: ";
    const std::size_t remedy = text.find(between);
    refuse(place, std::move(path), text.substr(0, remedy), text.substr(remedy + between.size()));
}

bool PlanNames::is(const std::string& name, bool host) const {
    const auto found = plan_.nodes.find(name);
    return found != plan_.nodes.end() && plan_.topology.nodes[found->second].is_host == host;
}

void PlanNames::unknown(SourcePlace place, std::string path, const std::string& name, bool host) {
    const std::string near = nearest_name(name, plan_.topology.names(host));
    refuse(place, std::move(path),
           fmt::format("there is no {} {}", host ? "host" : "switch", in_quotes(name)),
           near.empty() ? "see sluice-fabric check" : fmt::format("write {}", near));
}

bool PlanNames::take_name(const std::string& name, SourcePlace place, const std::string& path) {
    if (names_.insert(name).second) return true;
    refuse(place, path + ".name",
           fmt::format("another flow, collective or workload is called {}", in_quotes(name)),
           "write another name");
    return false;
}

bool PlanNames::count_pairs(std::uint64_t pairs, SourcePlace place, const std::string& path) {
    pairs_ += pairs;
    if (pairs_ <= max_pairs) return true;
    refuse(place, path, fmt::format("flows have more than {} queue pairs in all", max_pairs),
           "write fewer qps, or fewer hosts");
    return false;
}

JobPlan& job_of(FabricPlan& plan, std::size_t part, std::vector<std::size_t> JobPlan::*list) {
    return *std::ranges::find_if(
        plan.jobs, [&](const JobPlan& job) { return std::ranges::count(job.*list, part) != 0; });
}

std::vector<std::string> PlanNames::expand(const std::vector<std::string>& names, SourcePlace place,
                                           const std::string& path) {
    const auto& nodes = plan_.topology.nodes;
    std::vector<std::string> hosts;
    std::set<std::string_view> there;
    const auto add = [&](const Node& node) {
        if (node.is_host && there.insert(node.name).second) hosts.push_back(node.name);
    };
    for (const std::string& name : names) {
        if (is(name, true)) {
            add(nodes[plan_.nodes.at(name)]);
        } else if (name == "all") {
            for (const Node& node : nodes) add(node);
        } else if (is(name, false)) {
            for (const LinkId link : nodes[plan_.nodes.at(name)].links)
                for (const LinkEnd& end : plan_.topology.links[link].ends) add(nodes[end.node]);
        } else if (const std::size_t dots = name.find(".."); dots != name.npos) {
            const std::string first = name.substr(0, dots), last = name.substr(dots + 2);
            if (!is(first, true)) {
                unknown(place, path, first, true);
            } else if (!is(last, true)) {
                unknown(place, path, last, true);
            } else {
                if (plan_.nodes.at(last) < plan_.nodes.at(first))
                    refuse(place, path, fmt::format("{} ends before it begins", in_quotes(name)),
                           "turn it round");
                for (NodeId node = plan_.nodes.at(first); node <= plan_.nodes.at(last); ++node)
                    add(nodes[node]);
            }
        } else {
            unknown(place, path, name, true);
        }
    }
    return hosts;
}

}  // namespace sluice::fabric
