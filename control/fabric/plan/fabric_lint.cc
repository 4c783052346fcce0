#include "control/fabric/plan/fabric_lint.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "control/config/lint/judge.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/balance_lint.hh"
#include "control/fabric/plan/deadlock.hh"
#include "control/fabric/plan/flow_lint.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_cycles_told = 16;

std::string others_text(std::size_t cycles) {
    if (cycles <= max_cycles_told) return {};
    return fmt::format(" ({} circles{} in all)", cycles, cycles < max_dependency_cycles ? "" : " or more");
}

// The headroom of a cable between two switches has our turn, not the other's.
void check_turn(const FabricPlan& plan, std::vector<FabricFinding>& findings) {
    for (const SwitchPlan& each : plan.switches)
        if (each.config.virtual_turn.ps != 0)
            return findings.push_back(
                {each.name,
                 {Severity::warning,
                  "fabric-turn",
                  "virtual.turn",
                  fmt::format(
                      "turns of {} delay the reaction of the switch at the other end, and the headroom "
                      "does not have them: packets may be lost",
                      print_time(each.config.virtual_turn)),
                  "leave virtual.turn out, or write a larger xoff",
                  {}}});
}

// Warnings that the file expects are notes.
void look_for_expected(const std::vector<std::string>& expected, std::vector<FabricFinding>& findings) {
    for (const std::string& id : expected) {
        bool has_come = false;
        for (auto& [name, finding, others] : findings) {
            if (finding.id != id || finding.severity == Severity::error) continue;
            has_come = true;
            finding.severity = Severity::note;
        }
        if (has_come) continue;
        findings.push_back({{},
                            {Severity::warning,
                             "expected-missing",
                             "expect",
                             fmt::format("{} is expected and has not come", in_quotes(id)),
                             "leave it out",
                             {}}});
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

std::vector<FabricFinding> judge_plan(FabricPlan& plan, bool force, const Stage& stage) {
    std::vector<FabricFinding> all;
    // Switches of a kind have the same to hear: the first hears it.
    std::map<std::string, std::size_t> heard;
    std::size_t judged = 0;
    for (SwitchPlan& each : plan.switches) {
        stage("checks of switches", judged++, plan.switches.size());
        auto findings = judge_config(each.config, Machine{1, std::nullopt});
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
    stage("circles of pauses", 0, 0);
    const auto cycles = dependency_cycles(plan);
    for (const DependencyCycle& cycle : std::span(cycles).first(std::min(cycles.size(), max_cycles_told)))
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
    stage("ways of flows", 0, 0);
    check_turn(plan, all);
    check_flow_ways(plan, Forwarding(plan), force, all);
    const Config world = world_of(plan);
    lint::Findings of_flows(world);
    lint::check_flows(world, of_flows);
    check_load_balance(plan, world, force, all);
    for (Finding& finding : of_flows.take()) all.push_back({{}, std::move(finding)});
    look_for_expected(plan.file.expected_findings, all);
    std::stable_sort(all.begin(), all.end(), [](const FabricFinding& a, const FabricFinding& b) {
        return a.finding.severity < b.finding.severity;
    });
    return all;
}

}  // namespace sluice::fabric
