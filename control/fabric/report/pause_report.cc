#include "control/fabric/report/pause_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/forwarding.hh"
#include "control/fabric/run/fabric.hh"
#include "control/fabric/run/pause_words.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/text_table.hh"
#include "control/report/page/report_shape.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_listed = 10'000;
constexpr std::size_t max_causes = 100;  // of a pause
constexpr std::size_t max_chains = 20;
constexpr std::size_t max_victims = 20;
constexpr std::size_t max_victims_named = 5;
constexpr std::size_t timeline_bins = 240;
constexpr std::size_t max_timeline_rows = 40;
constexpr std::size_t max_roots = 7;  // the others share a color

// A queue of a switch.
struct PauseEgress {
    std::uint32_t device;
    PortId port;
    ClassId queue;
    auto operator<=>(const PauseEgress&) const = default;
};

// The root of a tree: a queue, or a circle of them, each of which waits for the next.
struct PauseRoot {
    std::vector<PauseEgress> queues;
    bool slow_host = false;
    auto operator<=>(const PauseRoot&) const = default;

    bool is_circle() const { return queues.size() > 1; }
};

PauseRoot root_of(const PauseWatch& watch, const PauseChain& chain) {
    const bool closes = chain.closes_at != PauseChain::open_ended;
    PauseRoot root{{}, !closes && chain.causes.back()->kind == PauseCause::Kind::host};
    for (std::size_t n = closes ? chain.closes_at : chain.pauses.size() - 1; n < chain.pauses.size(); ++n)
        root.queues.push_back({watch.pauses()[chain.pauses[n]].device, chain.causes[n]->egress_port,
                               chain.causes[n]->egress_queue});
    std::rotate(root.queues.begin(), std::ranges::min_element(root.queues), root.queues.end());
    return root;
}

// "h9 receives too slowly from leaf4, at 10G".
std::string root_text(const FabricPlan& plan, const PauseWatch& watch, const PauseRoot& root) {
    const std::string& self = plan.switches[root.queues[0].device].name;
    if (root.is_circle()) {
        std::string text = self;
        for (std::size_t n = 1; n < root.queues.size(); ++n)
            text += " waits for " + plan.switches[root.queues[n].device].name;
        return text + " waits for " + self + ": a circle";
    }
    const std::string& to = peer_name(plan, watch, root.queues[0].device, root.queues[0].port);
    if (!root.slow_host) return fmt::format("{} has more for {} than the link carries", self, to);
    const auto& hosts = plan.switches[root.queues[0].device].config.hosts;
    const auto host = hosts.find(to);
    const auto drain = host == hosts.end() ? std::nullopt : host->second.drain;
    return fmt::format("{} receives too slowly from {}{}", to, self,
                       drain ? fmt::format(", at {}", print_rate(*drain)) : std::string());
}

// The entries of a map, the one with the longest time (`ps`) first.
template <class Key, class Value>
std::vector<std::pair<const Key*, const Value*>> longest_first(const std::map<Key, Value>& map) {
    std::vector<std::pair<const Key*, const Value*>> sorted;
    for (const auto& [key, value] : map) sorted.emplace_back(&key, &value);
    std::ranges::stable_sort(sorted, std::greater(), [](const auto& each) { return each.second->ps; });
    return sorted;
}

struct Tree {
    std::uint64_t pauses = 0;
    std::uint32_t last = PauseRecord::none;  // of them
    std::int64_t ps = 0;
    std::size_t hops = 0;
    std::map<NodeId, std::int64_t> hosts;  // how long each waited
    struct Sum {
        std::uint64_t pauses = 0;
        std::uint32_t last = PauseRecord::none;
        std::int64_t ps = 0;
    };
    std::map<std::vector<NodeId>, Sum> chains;  // from the host to the root
};

std::map<PauseRoot, Tree> trees_of(const Fabric& fabric) {
    const PauseWatch& watch = fabric.pauses();
    const FabricPlan& plan = fabric.plan();
    std::map<PauseRoot, Tree> trees;
    for (std::uint32_t id = 0; id < watch.pauses().size(); ++id) {
        const PauseRecord& pause = watch.pauses()[id];
        const PauseWatch::Peer& paused = watch.peer(pause.device, pause.port);
        for_each_chain(watch, id, fabric.now(), [&](const PauseChain& chain) {
            PauseRoot root = root_of(watch, chain);
            std::vector<NodeId> nodes{paused.node};
            const auto add = [&](std::uint32_t of) {
                nodes.push_back(plan.switches[watch.pauses()[of].device].node);
            };
            for (const std::uint32_t each : chain.pauses) add(each);
            if (root.is_circle())
                add(chain.pauses[chain.closes_at]);
            else
                nodes.push_back(watch.peer(root.queues[0].device, root.queues[0].port).node);
            const std::int64_t ps = (chain.until - chain.from).ps;
            Tree& tree = trees[std::move(root)];
            tree.ps += ps;
            tree.hops = std::max(tree.hops, chain.pauses.size());
            if (paused.device == PauseRecord::none) tree.hosts[paused.node] += ps;
            auto& sum = tree.chains[std::move(nodes)];
            sum.ps += ps;
            sum.pauses += std::exchange(sum.last, id) != id ? 1 : 0;
            tree.pauses += std::exchange(tree.last, id) != id ? 1 : 0;
        });
    }
    return trees;
}

// Flows of hosts that waited, of which no packet can come to the root. `all`: their number.
Json victims_json(const Fabric& fabric, const Forwarding& forwarding, const PauseRoot& root, const Tree& tree,
                  std::size_t& all) {
    const FabricPlan& plan = fabric.plan();
    const auto leads_to = [&](const PauseEgress& egress, NodeId host) {
        const auto& peer = fabric.pauses().peer(egress.device, egress.port);
        if (peer.device == PauseRecord::none) return peer.node == host;
        return std::ranges::any_of(forwarding.hops(egress.device, forwarding.group_of(host)),
                                   [&](Channel hop) {
                                       const Link& link = plan.topology.links[hop / 2];
                                       return plan.port_id(link.ends[1 - hop % 2]) == egress.port;
                                   });
    };
    const auto names = flow_names(plan.world());
    struct Victim {
        std::string flow, from, to;
        std::int64_t ps;
    };
    std::vector<Victim> victims;
    for (std::size_t n = 0; n < plan.file.flows.size(); ++n) {
        const FlowConfig& flow = plan.file.flows[n];
        const bool reads = flow.kind == FlowKind::read;
        for (const std::string& from : reads ? flow.to : flow.from) {
            const auto waited = tree.hosts.find(plan.nodes.at(from));
            if (waited == tree.hosts.end()) continue;
            for (const std::string& to : reads ? flow.from : flow.to)
                if (from != to && std::ranges::none_of(root.queues, [&](const PauseEgress& each) {
                        return leads_to(each, plan.nodes.at(to));
                    }))
                    victims.push_back({names[n], from, to, waited->second});
        }
    }
    std::ranges::stable_sort(victims, std::greater(), &Victim::ps);
    all = victims.size();
    Json json = Json::array();
    for (std::size_t n = 0; n < std::min(victims.size(), max_victims); ++n)
        json.push_back({{"flow", victims[n].flow},
                        {"from", victims[n].from},
                        {"to", victims[n].to},
                        {"waited_ns", victims[n].ps / 1000}});
    return json;
}

// "h3 was paused by leaf1, leaf1 by spine2, spine2 by leaf4, leaf4 by h9" (if that is a pause).
std::string chain_text(const Json& chain, bool last_pauses) {
    std::string text;
    for (std::size_t n = 0; n + (last_pauses ? 1 : 2) < chain.size(); ++n)
        text += n == 0 ? fmt::format("{} was paused by {}", words(chain[0]), words(chain[1]))
                       : fmt::format(", {} by {}", words(chain[n]), words(chain[n + 1]));
    return text;
}

struct PauseSource {
    const FabricPlan& plan;
    const PauseWatch& watch;
    const PauseRecord& pause;
    Time now;
};

struct CauseSource {
    const PauseSource& of;
    const PauseCause& cause;
};

FIGURE_ROWS(cause_figures, CauseSource, "pauses.[].causes.[]") = {
#include "control/report/figures/rows/fabric/pause_cause.def"
};

Json causes_json(const PauseSource& of) {
    Json json = Json::array();
    for (const PauseCause& cause : of.pause.causes)
        if (cause.from <= of.now && json.size() < max_causes)
            json.push_back(json_of(cause_figures, {of, cause}));
    return json;
}

Json ns_or_null(const std::optional<Time>& time) { return time ? Json(ns(*time)) : Json(nullptr); }

FIGURE_ROWS(pause_figures, PauseSource, "pauses.[]") = {
#include "control/report/figures/rows/fabric/pause.def"
};

struct CycleSource {
    const Fabric& fabric;
    const PauseCycle& cycle;
};

FIGURE_ROWS(cycle_figures, CycleSource, "pause_cycles.[]") = {
#include "control/report/figures/rows/fabric/pause_cycle.def"
};

struct Row {
    std::int64_t ps = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> parts;  // by bin and root
};
using Key = std::tuple<std::uint32_t, PortId, ClassId>;

std::size_t listed(const PauseWatch& watch) { return std::min(watch.pauses().size(), max_listed); }

}  // namespace

Json pauses_json(const Fabric& fabric) {
    const PauseWatch& watch = fabric.pauses();
    Json json = Json::array();
    for (std::size_t n = 0; n < listed(watch); ++n)
        json.push_back(json_of(pause_figures, {fabric.plan(), watch, watch.pauses()[n], fabric.now()}));
    return json;
}

std::size_t pauses_left_out(const Fabric& fabric) {
    const PauseWatch& watch = fabric.pauses();
    return watch.pauses().size() + watch.left_out() - listed(watch);
}

Json pause_trees_json(const Fabric& fabric) {
    const FabricPlan& plan = fabric.plan();
    const PauseWatch& watch = fabric.pauses();
    const auto trees = trees_of(fabric);
    if (trees.empty()) return Json::array();
    const Forwarding forwarding(plan);
    Json json = Json::array();
    for (const auto& [root, tree] : longest_first(trees)) {
        Json hosts = Json::object();
        for (const auto& [node, ps] : tree->hosts) hosts[plan.topology.nodes[node].name] = ps / 1000;
        Json jobs = Json::object();
        for (const JobPlan& job : plan.jobs) {
            std::int64_t ps = 0;
            for (const std::string& host : job.hosts)
                if (const auto waited = tree->hosts.find(plan.nodes.at(host)); waited != tree->hosts.end())
                    ps += waited->second;
            if (ps != 0) jobs[job.name] = ps / 1000;
        }
        Json chains = Json::array();
        for (const auto& [chain, sum] : longest_first(tree->chains)) {
            if (chains.size() == max_chains) break;
            Json nodes = Json::array();
            for (const NodeId node : *chain) nodes.push_back(plan.topology.nodes[node].name);
            chains.push_back(
                {{"nodes", std::move(nodes)}, {"pauses", sum->pauses}, {"paused_ns", sum->ps / 1000}});
        }
        std::size_t victims = 0;
        Json worst = victims_json(fabric, forwarding, *root, *tree, victims);
        const PauseEgress& first = root->queues.front();
        json.push_back({{"switch", plan.switches[first.device].name},
                        {"to", peer_name(plan, watch, first.device, first.port)},
                        {"queue", first.queue},
                        {"slow_host", root->slow_host},
                        {"circle", root->is_circle()},
                        {"text", root_text(plan, watch, *root)},
                        {"pauses", tree->pauses},
                        {"paused_ns", tree->ps / 1000},
                        {"hops", tree->hops},
                        {"hosts", std::move(hosts)},
                        {"jobs", std::move(jobs)},
                        {"chains", std::move(chains)},
                        {"victims", victims},
                        {"worst_victims", std::move(worst)}});
    }
    return json;
}

PauseBlame blame_between(const Fabric& fabric, const std::vector<bool>& is_its, Time from, Time until) {
    const PauseWatch& watch = fabric.pauses();
    std::map<std::pair<PauseRoot, NodeId>, Duration> waits;
    for (std::uint32_t id = 0; id < watch.pauses().size(); ++id) {
        const PauseRecord& pause = watch.pauses()[id];
        if (pause.from >= until || (pause.until && *pause.until <= from)) continue;
        const PauseWatch::Peer& paused = watch.peer(pause.device, pause.port);
        if (paused.device != PauseRecord::none || !is_its[paused.node]) continue;
        for_each_chain(watch, id, fabric.now(), [&](const PauseChain& chain) {
            const Time begin = max(chain.from, from), end = min(chain.until, until);
            if (begin < end) {
                Duration& waited = waits[{root_of(watch, chain), paused.node}];
                waited = waited + (end - begin);
            }
        });
    }
    const auto longest = std::ranges::max_element(waits, {}, [](const auto& each) { return each.second.ps; });
    if (longest == waits.end()) return {};
    const auto& [root, host] = longest->first;
    return {longest->second, host, root_text(fabric.plan(), watch, root)};
}

std::string culprit_of(const Json& trees) {
    if (trees.empty()) return {};
    return trees[0].at(trees[0].at("slow_host").get<bool>() ? "to" : "switch").get<std::string>();
}

Json pause_cycles_json(const Fabric& fabric) {
    Json json = Json::array();
    for (const PauseCycle& cycle : fabric.pauses().cycles())
        json.push_back(json_of(cycle_figures, {fabric, cycle}));
    return json;
}

Json timeline_json(const Fabric& fabric) {
    const PauseWatch& watch = fabric.pauses();
    const FabricPlan& plan = fabric.plan();
    const auto trees = trees_of(fabric);
    std::vector<std::string> names;  // of roots, by their place
    std::map<PauseRoot, std::size_t> places;
    for (const auto& [root, tree] : longest_first(trees)) {
        places[*root] = std::min(names.size(), max_roots);
        if (names.size() < max_roots) names.push_back(root_text(plan, watch, *root));
    }
    if (trees.size() > max_roots) names.push_back(fmt::format("{} others", trees.size() - max_roots));
    // Whole bins, of which the last one may reach beyond the end.
    const std::int64_t bin = std::max<std::int64_t>((fabric.now() - Time{}).ps / timeline_bins + 1, 1);
    std::map<Key, Row> rows;
    for (std::uint32_t id = 0; id < watch.pauses().size(); ++id)
        for_each_chain(watch, id, fabric.now(), [&](const PauseChain& chain) {
            const PauseRecord& pause = watch.pauses()[id];
            Row& row = rows[{pause.device, pause.port, pause.priority}];
            const std::size_t root = places.at(root_of(watch, chain));
            const std::int64_t until = (chain.until - Time{}).ps;
            for (std::int64_t from = (chain.from - Time{}).ps; from < until;) {
                const std::int64_t end = std::min(until, (from / bin + 1) * bin);
                row.parts[{static_cast<std::size_t>(from / bin), root}] += end - from;
                row.ps += end - from;
                from = end;
            }
        });
    auto shown = longest_first(rows);
    shown.resize(std::min(shown.size(), max_timeline_rows));
    std::ranges::sort(shown, {}, [](const auto& each) { return *each.first; });
    Json json = {{"bin_ns", static_cast<double>(bin) / 1000},
                 {"bins", timeline_bins},
                 {"roots", names},
                 {"rows", Json::array()},
                 {"rows_left_out", rows.size() - shown.size()}};
    for (const auto& [key, row] : shown) {
        const auto& [device, port, priority] = *key;
        Json parts = Json::array();
        for (const auto& [at, ps] : row->parts) parts.push_back({at.first, at.second, ps * 1000 / bin});
        json["rows"].push_back({{"paused", peer_name(plan, watch, device, port)},
                                {"by", plan.switches[device].name},
                                {"class", priority},
                                {"paused_ns", row->ps / 1000},
                                {"parts", std::move(parts)}});
    }
    return json;
}

const JsonShape& shape_for_why() {
    constexpr std::array hosts{JsonPart{"hosts.*", part::present}};
    static const JsonShape shape = JsonShape{}.add(parts_of_pause_trees()).add(hosts);
    return shape;
}

std::string why_text(const Json& trees, const std::string& host) {
    std::string text;
    for (const Json& tree : trees) {
        if (!host.empty() && !tree["hosts"].contains(host)) continue;
        const std::string root = words(tree["text"]);
        if (host.empty()) {
            text += fmt::format(
                "{}: {} in all, {} over up to {}; {} waited, {} {} victims\n", root, timed(tree["paused_ns"]),
                print_count(number(tree["pauses"]), "pause"), print_count(number(tree["hops"]), "hop"),
                print_count(tree["hosts"].size(), "host"), print_count(number(tree["victims"]), "flow"),
                print_was(number(tree["victims"])));
            continue;
        }
        const bool last_pauses = tree["slow_host"].get<bool>() || tree["circle"].get<bool>();
        text += fmt::format("{} waited {} because {}\n", host, timed(tree["hosts"][host]), root);
        for (const Json& chain : tree["chains"])
            if (words(chain["nodes"][0]) == host)
                text += fmt::format("    {}: {} in {}\n", chain_text(chain["nodes"], last_pauses),
                                    timed(chain["paused_ns"]), print_count(number(chain["pauses"]), "pause"));
        const Json& worst = tree["worst_victims"];
        if (worst.empty()) continue;
        text += fmt::format("    {} {} victims (their packets do not go there); the worst:\n",
                            print_count(number(tree["victims"]), "flow"), print_was(number(tree["victims"])));
        for (std::size_t n = 0; n < std::min(worst.size(), max_victims_named); ++n)
            text += fmt::format("        {} from {} to {}, {}\n", words(worst[n]["flow"]),
                                words(worst[n]["from"]), words(worst[n]["to"]), timed(worst[n]["waited_ns"]));
    }
    return text;
}

}  // namespace sluice::fabric
