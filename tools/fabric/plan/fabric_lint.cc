#include "tools/fabric/plan/fabric_lint.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/config/force.hh"
#include "control/config/values.hh"
#include "control/lint/judge.hh"
#include "control/lint/lint_parts.hh"
#include "tools/fabric/plan/deadlock.hh"

namespace sluice::fabric {
namespace {

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
    for (const DependencyCycle& cycle : dependency_cycles(plan))
        all.push_back(
            {{},
             {force ? Severity::warning : Severity::error,
              "pause-cycle",
              "routing",
              cycle_text(plan, cycle),
              "write policy = \"up-down\" or \"shortest\", or other routes; a lossy class does not wait",
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
    const Config world = world_of(plan);
    lint::Findings of_flows(world);
    lint::check_flows(world, of_flows);
    for (Finding& finding : of_flows.take()) all.push_back({{}, std::move(finding)});
    std::stable_sort(all.begin(), all.end(), [](const FabricFinding& a, const FabricFinding& b) {
        return a.finding.severity < b.finding.severity;
    });
    return all;
}

}  // namespace sluice::fabric
