#include "control/fabric/report/pause_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/report/pause_roots.hh"
#include "control/fabric/run/fabric.hh"
#include "control/fabric/run/pause_words.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/page/report_shape.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_listed = 10'000;
constexpr std::size_t max_causes = 100;  // of a pause
constexpr std::size_t max_chains = 20;
constexpr std::size_t max_victims = 20;
constexpr std::size_t max_roots_named = 5;

// Whether packets to the host may leave the switch by the port.
bool may_leave_by(const FabricPlan& plan, const PauseWatch& watch, const PauseEgress& egress,
                  const std::string& host) {
    const SwitchPlan& self = plan.switches[egress.device];
    const NodeId peer = watch.peer(egress.device, egress.port).node;
    if (plan.topology.nodes[peer].is_host) return plan.topology.nodes[peer].name == host;
    if (self.config.hosts.contains(host)) return false;
    const IpAddress& to = plan.switches[plan.switch_of[plan.nodes.at(host)]].config.hosts.at(host).address;
    const RouteConfig* best = nullptr;
    for (const RouteConfig& route : *self.config.routes)
        if (contains(route.prefix, to) && (best == nullptr || route.prefix.length > best->prefix.length))
            best = &route;
    if (best == nullptr) return false;
    for (const LinkId id : plan.topology.nodes[self.node].links) {
        const auto& ends = plan.topology.links[id].ends;
        const unsigned far = ends[0].node == self.node ? 1 : 0;
        if (plan.port_id(ends[1 - far]) != egress.port) continue;
        const IpAddress hop = plan.addresses.address(id, far);
        return std::any_of(best->via.begin(), best->via.end(),
                           [&](const auto& via) { return via.address == hop; });
    }
    return false;
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
    std::map<std::vector<NodeId>, Sum> chains;  // from who waits to where it began
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

// Flows of hosts that waited, which cannot have gone where it began.
Json victims_json(const FabricPlan& plan, const PauseWatch& watch, const PauseRoot& root, const Tree& tree,
                  std::size_t& all) {
    Config world;
    world.flows = plan.file.flows;
    const auto names = flow_names(world);
    struct Victim {
        std::string flow, from, to;
        std::int64_t ps;
    };
    std::vector<Victim> victims;
    for (std::size_t n = 0; n < world.flows.size(); ++n) {
        const FlowConfig& flow = world.flows[n];
        const bool reads = flow.kind == FlowKind::read;
        for (const std::string& from : reads ? flow.to : flow.from) {
            const auto waited = tree.hosts.find(plan.nodes.at(from));
            if (waited == tree.hosts.end()) continue;
            for (const std::string& to : reads ? flow.from : flow.to)
                if (std::none_of(root.queues.begin(), root.queues.end(), [&](const PauseEgress& each) {
                        return may_leave_by(plan, watch, each, to);
                    }))
                    victims.push_back({names[n], from, to, waited->second});
        }
    }
    std::stable_sort(victims.begin(), victims.end(),
                     [](const auto& a, const auto& b) { return a.ps > b.ps; });
    all = victims.size();
    Json json = Json::array();
    for (std::size_t n = 0; n < std::min(victims.size(), max_victims); ++n)
        json.push_back({{"flow", victims[n].flow},
                        {"from", victims[n].from},
                        {"to", victims[n].to},
                        {"waited_ns", victims[n].ps / 1000}});
    return json;
}

// "h3 was paused by leaf1, leaf1 by spine2, spine2 by leaf4, leaf4 by h9": without the last where that is no
// pause.
std::string chain_text(const Json& chain, bool last_pauses) {
    std::string text;
    for (std::size_t n = 0; n + (last_pauses ? 1 : 2) < chain.size(); ++n)
        text +=
            n == 0
                ? fmt::format("{} was paused by {}", chain[0].get<std::string>(), chain[1].get<std::string>())
                : fmt::format(", {} by {}", chain[n].get<std::string>(), chain[n + 1].get<std::string>());
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
    std::vector<std::pair<const PauseRoot*, const Tree*>> sorted;
    for (const auto& [root, tree] : trees) sorted.emplace_back(&root, &tree);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second->ps > b.second->ps; });
    Json json = Json::array();
    for (const auto& [root, tree] : sorted) {
        Json hosts = Json::object();
        for (const auto& [node, ps] : tree->hosts) hosts[plan.topology.nodes[node].name] = ps / 1000;
        std::vector<std::pair<const std::vector<NodeId>*, const Tree::Sum*>> by_time;
        for (const auto& [chain, sum] : tree->chains) by_time.emplace_back(&chain, &sum);
        std::stable_sort(by_time.begin(), by_time.end(),
                         [](const auto& a, const auto& b) { return a.second->ps > b.second->ps; });
        Json chains = Json::array();
        for (std::size_t n = 0; n < std::min(by_time.size(), max_chains); ++n) {
            Json nodes = Json::array();
            for (const NodeId node : *by_time[n].first) nodes.push_back(plan.topology.nodes[node].name);
            chains.push_back({{"nodes", std::move(nodes)},
                              {"pauses", by_time[n].second->pauses},
                              {"paused_ns", by_time[n].second->ps / 1000}});
        }
        std::size_t victims = 0;
        Json worst = victims_json(plan, watch, *root, *tree, victims);
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
                        {"chains", std::move(chains)},
                        {"victims", victims},
                        {"worst_victims", std::move(worst)}});
    }
    return json;
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

const JsonShape& shape_for_why() {
    constexpr std::array hosts{JsonPart{"hosts.*", part::present}};
    static const JsonShape shape = JsonShape{}.add(parts_of_pause_trees()).add(hosts);
    return shape;
}

std::string why_text(const Json& trees, const std::string& host) {
    std::string text;
    for (const Json& tree : trees) {
        if (!host.empty() && !tree["hosts"].contains(host)) continue;
        const std::string root = tree["text"].get<std::string>();
        if (host.empty()) {
            text += fmt::format("{}: {} in all, {} up to {}, {} waited, {} could not have gone there\n", root,
                                text_of_time(tree["paused_ns"].get<std::int64_t>()),
                                print_count(tree["pauses"].get<std::uint64_t>(), "pause"),
                                print_count(tree["hops"].get<std::uint64_t>(), "hop"),
                                print_count(tree["hosts"].size(), "host"),
                                print_count(tree["victims"].get<std::uint64_t>(), "flow"));
            continue;
        }
        const bool last_pauses = tree["slow_host"].get<bool>() || tree["circle"].get<bool>();
        text += fmt::format("{} waited {} because {}\n", host,
                            text_of_time(tree["hosts"][host].get<std::int64_t>()), root);
        for (const Json& chain : tree["chains"])
            if (chain["nodes"][0].get<std::string>() == host)
                text += fmt::format("    {}: {} in {}\n", chain_text(chain["nodes"], last_pauses),
                                    text_of_time(chain["paused_ns"].get<std::int64_t>()),
                                    print_count(chain["pauses"].get<std::uint64_t>(), "pause"));
        const Json& worst = tree["worst_victims"];
        if (worst.empty()) continue;
        text += fmt::format("    {} had nothing to do with it; the worst:\n",
                            print_count(tree["victims"].get<std::uint64_t>(), "flow"));
        for (std::size_t n = 0; n < std::min(worst.size(), max_roots_named); ++n)
            text += fmt::format("        {} from {} to {}, {}\n", worst[n]["flow"].get<std::string>(),
                                worst[n]["from"].get<std::string>(), worst[n]["to"].get<std::string>(),
                                text_of_time(worst[n]["waited_ns"].get<std::int64_t>()));
    }
    return text;
}

}  // namespace sluice::fabric
