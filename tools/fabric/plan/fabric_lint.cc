#include "tools/fabric/plan/fabric_lint.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "control/config/force.hh"
#include "control/config/values.hh"
#include "control/lint/judge.hh"
#include "control/lint/lint_parts.hh"
#include "tools/fabric/plan/balance_lint.hh"
#include "tools/fabric/plan/deadlock.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t most_cycles = 16;  // that are written out

std::string others_text(std::size_t cycles) {
    return cycles <= most_cycles ? std::string() : fmt::format(" ({} circles in all)", cycles);
}

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

// Flows between planes: no path leads from one to the other.
void check_planes(const FabricPlan& plan, std::vector<FabricFinding>& findings) {
    if (!plan.file.topology || plan.file.topology->planes == 1) return;
    const auto parts = parts_of(plan.topology);
    std::map<std::string_view, NodeId> part_of;
    for (NodeId node = 0; node < parts.size(); ++node) part_of[plan.topology.nodes[node].name] = parts[node];
    for (std::size_t n = 0; n < plan.file.flows.size(); ++n) {
        const FlowConfig& flow = plan.file.flows[n];
        for (const std::string& from : flow.from)
            for (const std::string& to : flow.to) {
                if (part_of[from] == part_of[to]) continue;
                findings.push_back({{},
                                    {Severity::error,
                                     "flow-planes",
                                     fmt::format("flow[{}]", n),
                                     fmt::format("{} and {} are in different planes", from, to),
                                     "name hosts of one plane",
                                     {}}});
                return;
            }
    }
}

// The configuration that flows are judged against: all hosts of all switches.
Config world_of(const FabricPlan& plan) {
    Config world;
    for (const SwitchPlan& each : plan.switches)
        for (const auto& [name, host] : each.config.hosts) world.hosts.emplace(name, host);
    world.flows = plan.file.flows;
    return world;
}

}  // namespace

std::string FabricFinding::text(const std::string& file) const {
    std::string where = file;
    if (!switch_name.empty()) where += fmt::format(": switch {}", switch_name);
    if (others != 0) where += fmt::format(" and {}", print_count(others, "other"));
    return finding.text(where);
}

std::vector<FabricFinding> judge(FabricPlan& plan, bool force) {
    std::vector<FabricFinding> all;
    // Switches of a kind have the same to hear: the first hears it.
    std::map<std::string, std::size_t> heard;
    for (SwitchPlan& each : plan.switches) {
        auto findings = sluice::judge(each.config, Machine{1, std::nullopt});
        if (force) sluice::force(findings);
        each.forced = forced_reasons(findings);
        for (Finding& finding : findings) {
            const auto [there, is_new] =
                heard.emplace(finding.id + finding.message + finding.fix, all.size());
            if (is_new)
                all.push_back({each.name, std::move(finding)});
            else
                ++all[there->second].others;
        }
    }
    const auto cycles = dependency_cycles(plan);
    for (const DependencyCycle& cycle : std::span(cycles).first(std::min(cycles.size(), most_cycles)))
        all.push_back({{},
                       {force || plan.file.routing.circles_allowed ? Severity::warning : Severity::error,
                        "pause-cycle",
                        "routing",
                        cycle_text(plan, cycle) + others_text(cycles.size()),
                        "write policy = \"up-down\" or \"shortest\", or other routes; a lossy class does not "
                        "wait; circles = "
                        "\"allow\" runs it all the same",
                        {}}});
    std::map<std::string_view, std::size_t> queue_pairs;
    for (const FlowConfig& flow : plan.file.flows) {
        for (const std::string& from : flow.from) queue_pairs[from] += flow.qps * flow.to.size();
        for (const std::string& to : flow.to) queue_pairs[to] += flow.qps * flow.from.size();
    }
    for (const auto& [host, count] : queue_pairs)
        if (count > max_host_qps)
            all.push_back(
                {{},
                 {Severity::error,
                  "host-qps",
                  fmt::format("host.{}", host),
                  fmt::format("its flows have {} queue pairs, a host has {} at most", count, max_host_qps),
                  "write fewer qps",
                  {}}});
    check_planes(plan, all);
    const Config world = world_of(plan);
    lint::Findings of_flows(world);
    lint::check_flows(world, of_flows);
    check_load_balance(plan, world, force, all);
    for (Finding& finding : of_flows.take()) all.push_back({{}, std::move(finding)});
    std::stable_sort(all.begin(), all.end(), [](const FabricFinding& a, const FabricFinding& b) {
        return a.finding.severity < b.finding.severity;
    });
    return all;
}

}  // namespace sluice::fabric
