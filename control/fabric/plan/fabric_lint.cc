#include "control/fabric/plan/fabric_lint.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "control/config/compile/trimming.hh"
#include "control/config/lint/judge.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/deadlock.hh"
#include "control/fabric/plan/forwarding.hh"
#include "lib/roce/collective.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_cycles_told = 16;

std::string others_text(std::size_t cycles) {
    if (cycles <= max_cycles_told) return {};
    return fmt::format(" ({} circles{} in all)", cycles, cycles < max_dependency_cycles ? "" : " or more");
}

// The headroom of a cable between two switches counts our turn, not the peer's.
void check_turn(const FabricPlan& plan, FabricFindings& findings) {
    for (const SwitchPlan& each : plan.switches)
        if (each.config.virtual_turn.ps != 0)
            return findings.add(
                Severity::warning, "fabric-turn", "virtual.turn",
                fmt::format("turns of {} delay the reaction of the switch at the other end, and the headroom "
                            "does not have them: packets may be lost",
                            print_time(each.config.virtual_turn)),
                "leave virtual.turn out, or write a larger xoff", {}, each.name);
}

// A switch without hosts of its own is judged as if there were none.
void check_trim_sizes(const FabricPlan& plan, const Config& world, FabricFindings& findings) {
    for (const SwitchPlan& each : plan.switches) {
        if (!each.config.hosts.empty() || !has_trimming(each.config)) continue;
        if (const auto problem = too_large_to_trim(each.config, world.hosts))
            findings.add(Severity::error, std::string(problem->id.name()), problem->key, problem->wrong,
                         problem->fix, {}, each.name);
    }
}

// A switch must keep apart what others have trimmed, also when it trims nothing itself.
void check_trimmed_elsewhere(const FabricPlan& plan, FabricFindings& findings) {
    std::map<std::uint8_t, std::string> trimmed_at;
    for (const SwitchPlan& each : plan.switches)
        for (const auto& [dscp, port] : trimmed_dscps(each.config)) trimmed_at.emplace(dscp, each.name);
    if (trimmed_at.empty()) return;
    for (const SwitchPlan& each : plan.switches) {
        auto others = trimmed_at;
        for (const auto& [dscp, port] : trimmed_dscps(each.config)) others.erase(dscp);
        if (others.empty()) continue;
        lint::Findings found(each.config, true);
        lint::check_trimmed_classes(effective_qos(each.config), others, found);
        for (Finding& finding : found.take()) findings.add(each.name, std::move(finding));
    }
}

// Warnings that the file expects are notes.
void look_for_expected(const std::vector<std::string>& expected, FabricFindings& findings) {
    for (const std::string& id : expected) {
        bool has_come = false;
        for (auto& [name, finding, others] : findings.all()) {
            if (finding.id != id || finding.severity == Severity::error) continue;
            has_come = true;
            finding.severity = Severity::note;
        }
        if (has_come) continue;
        findings.add(Severity::warning, "expected-missing", "expect",
                     fmt::format("{} is expected and has not come", in_quotes(id)), "leave it out");
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

// The ways that a hash may choose towards a group: all lead to its leaf, some, or none.
enum class Ways : std::uint8_t { none, some, all };

class WaysTo {
  public:
    WaysTo(const FabricPlan& plan, const Forwarding& forwarding)
        : plan_(plan), forwarding_(forwarding), known_(forwarding.groups().size()) {}

    Ways from(std::size_t at, std::size_t group) {
        if (known_[group].empty()) find(group);
        return known_[group][at];
    }

    // A way that does not lead there: "sw1 > sw2, which has no route to 10.0.3.1".
    std::string lost_way(std::size_t at, std::size_t group, const IpAddress& to) {
        std::string text = plan_.switches[at].name;
        std::vector<bool> seen(plan_.switches.size());
        while (!seen[at]) {
            seen[at] = true;
            const auto hops = forwarding_.hops(at, group);
            const auto lost = std::ranges::find_if(
                hops, [&](Channel hop) { return from(forwarding_.end_of(hop), group) != Ways::all; });
            if (lost == hops.end()) {
                const RouteConfig* route = forwarding_.route(at, group);
                if (route == nullptr) return text + ", which has no route to " + print_address(to);
                return text + ", whose route " + print_prefix(route->prefix) + " leads to no switch";
            }
            at = forwarding_.end_of(*lost);
            text += " > " + plan_.switches[at].name;
        }
        return text + ", round and round";
    }

  private:
    // From the leaf backwards: a switch whose every hop leads there does, too; then those of which one does.
    void find(std::size_t group) {
        const std::size_t switches = plan_.switches.size();
        std::vector<std::vector<std::size_t>> before(switches);
        std::vector<std::size_t> left(switches);  // hops that are not known to lead there
        for (std::size_t at = 0; at < switches; ++at)
            for (const Channel hop : forwarding_.hops(at, group)) {
                before[forwarding_.end_of(hop)].push_back(at);
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
    FlowCheck(const FabricPlan& plan, const Forwarding& forwarding, bool force, FabricFindings& findings)
        : plan_(plan), forwarding_(forwarding), force_(force), findings_(findings), ways_(plan, forwarding) {
        if (plan.file.topology && plan.file.topology->planes > 1) parts_ = parts_of(plan.topology);
    }

    // Data one way, acknowledgments the other. False: a finding has been added.
    bool check(const std::string& path, SourcePlace place, NodeId from, NodeId to) {
        if (!parts_.empty() && parts_[from] != parts_[to]) {
            findings_.add(Severity::error, "flow-planes", path,
                          fmt::format("{} and {} are in different planes", name_of(from), name_of(to)),
                          "name hosts of one plane", place);
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
        const IpAddress& address = plan_.host(to).address;
        const std::string where = ways_.lost_way(leaf, group, address);
        const bool none = ways == Ways::none;
        findings_.add(
            none && !force_ ? Severity::error : Severity::warning, "flow-route", path,
            none ? fmt::format("no route leads from {} to {}: {}", one, other, where)
                 : fmt::format("not every way leads from {} to {}: {}", one, other, where),
            fmt::format("write a route to {} there, or another routing.policy", print_address(address)),
            place);
        return false;
    }

    const FabricPlan& plan_;
    const Forwarding& forwarding_;
    bool force_;
    FabricFindings& findings_;
    WaysTo ways_;
    std::vector<NodeId> parts_;  // of planes
};

// Hosts between which no route leads, or not every one of its ways: of each flow and collective the first
// such pair, there or back. `force`: it may run all the same.
void check_flow_ways(const FabricPlan& plan, bool force, FabricFindings& findings) {
    const Forwarding forwarding(plan);
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
            if (const NodeId a = from[pair / to.size()], b = to[pair % to.size()]; a != b)
                good = check.check(path, flow.place, a, b);
    }
    for (const WorkloadPlan& each : plan.workloads) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
        for (const ListedFlow& flow : each.list.flows)
            if (seen.emplace(flow.from, flow.to).second &&
                !check.check(each.key, plan.file.flows[each.flow].place, plan.hosts[flow.from],
                             plan.hosts[flow.to]))
                break;
    }
    // False: one of its pairs has no way. `host_of`: by rank.
    const auto check_strands = [&](const std::string& path, SourcePlace place,
                                   const roce::CollectiveSettings& settings, const auto& host_of) {
        for (std::uint32_t rank = 0; rank < settings.ranks; ++rank)
            for (const roce::Strand& strand : roce::strands_of(settings, rank))
                for (const std::uint32_t peer : strand.targets)
                    if (!check.check(path, place, host_of(rank), host_of(peer))) return false;
        return true;
    };
    for (std::size_t n = 0; n < plan.collectives.size(); ++n) {
        const auto hosts = nodes_of(plan.collectives[n].hosts);
        check_strands(fmt::format("collective[{}]", n), plan.file.collectives[n].place,
                      plan.collectives[n].settings, [&](std::uint32_t rank) { return hosts[rank]; });
    }
    for (const WorkloadPlan& each : plan.workloads) {
        if (!each.schedule) continue;
        const SchedulePlan& schedule = plan.schedules[*each.schedule];
        const SourcePlace place = plan.file.flows[each.flow].place;
        const auto hosts = nodes_of(schedule.hosts);
        const auto pairs = pairs_of(schedule);
        if (std::ranges::all_of(pairs, [&](const auto& pair) {
                return check.check(each.key, place, hosts[pair.first], hosts[pair.second]);
            }))
            std::ranges::all_of(schedule.groups, [&](const SchedulePlan::Group& group) {
                return check_strands(each.key, place, group.settings,
                                     [&](std::uint32_t rank) { return hosts[group.ranks[rank]]; });
            });
    }
}

}  // namespace

std::string FabricFinding::text(const std::string& file) const {
    std::string where = file;
    if (!switch_name.empty()) where += fmt::format(": switch {}", switch_name);
    if (others != 0) where += fmt::format(" and {}", print_count(others, "other"));
    return finding.text(where);
}

void FabricFindings::add(const std::string& switch_name, Finding finding) {
    if (switch_name.empty()) return all_.push_back({{}, std::move(finding)});
    const auto [there, is_new] = heard_.emplace(finding.id + finding.message + finding.fix, all_.size());
    if (is_new)
        all_.push_back({switch_name, std::move(finding)});
    else
        ++all_[there->second].others;
}

std::vector<FabricFinding> judge_plan(FabricPlan& plan, bool force, const Stage& stage) {
    FabricFindings findings;
    std::size_t judged = 0;
    for (SwitchPlan& each : plan.switches) {
        stage("checks of switches", judged++, plan.switches.size());
        auto own = judge_config(each.config, Machine{1, std::nullopt});
        if (force) sluice::force(own);
        each.forced = forced_reasons(own);
        for (Finding& finding : own) findings.add(each.name, std::move(finding));
    }
    stage("circles of pauses", 0, 0);
    const auto cycles = dependency_cycles(plan);
    for (const DependencyCycle& cycle : std::span(cycles).first(std::min(cycles.size(), max_cycles_told)))
        findings.add(force || plan.file.routing.circles_allowed ? Severity::warning : Severity::error,
                     "pause-cycle", "routing", cycle_text(plan, cycle) + others_text(cycles.size()),
                     "write policy = \"up-down\" or \"shortest\", or other routes; a lossy class does not "
                     "wait; circles = \"allow\" runs it all the same");
    std::map<std::string_view, std::size_t> queue_pairs;
    for (const FlowConfig& flow : plan.file.flows) {
        for (const std::string& from : flow.from)
            queue_pairs[from] += flow.qps * FlowConfig::others(flow.to, from);
        for (const std::string& to : flow.to) queue_pairs[to] += flow.qps * FlowConfig::others(flow.from, to);
    }
    for (const auto& [host, count] : queue_pairs)
        if (count > max_host_qps)
            findings.add(
                Severity::error, "host-qps", fmt::format("host.{}", host),
                fmt::format("its flows have {} queue pairs, a host has {} at most", count, max_host_qps),
                "write fewer qps");
    stage("ways of flows", 0, 0);
    check_turn(plan, findings);
    check_flow_ways(plan, force, findings);
    const Config world = world_of(plan);
    lint::Findings of_flows(world);
    lint::check_flows(world, of_flows);
    check_load_balance(plan, world, force, findings);
    check_trim_sizes(plan, world, findings);
    check_trimmed_elsewhere(plan, findings);
    for (Finding& finding : of_flows.take()) findings.add({}, std::move(finding));
    look_for_expected(plan.file.expected_findings, findings);
    std::ranges::stable_sort(findings.all(), {},
                             [](const FabricFinding& each) { return each.finding.severity; });
    return std::move(findings.all());
}

}  // namespace sluice::fabric
