#include "control/fabric/advise/breaking.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint32_t longest_cable_m = 100'000;  // that a file may say

class BreakingMaker {
  public:
    BreakingMaker(const FabricConfig& file, const FabricPlan& plan, Duration half)
        : file_(file), plan_(plan), half_(half) {}

    Breakings make() {
        cables();
        senders();
        switches();
        for (const std::uint32_t mtu : {1024U, 4096U}) {
            const auto has_other = [&](const HostConfig& host) { return host.mtu != mtu; };
            hosts(fmt::format("host MTU {}", mtu), "mtu", std::to_string(mtu), has_other);
        }
        hosts("no congestion control", "cc", "\"none\"",
              [](const HostConfig& host) { return host.cc != roce::CongestionControl::none; });
        return std::move(made_);
    }

  private:
    void add(std::string name, std::vector<std::string> sets) {
        made_.list.push_back({std::move(name), std::move(sets)});
    }
    static std::string length_set(const std::string& path, std::uint32_t meters) {
        return fmt::format("{}=\"{}m\"", path, std::min(meters + (meters + 1) / 2, longest_cable_m));
    }

    void cables() {
        std::vector<std::string> sets;
        if (file_.topology) {
            sets = {length_set("topology.host_cable", file_.topology->host_cable_m),
                    length_set("topology.cable", file_.topology->cable_m)};
            if (file_.topology->kind == TopologyKind::three_tier)
                sets.push_back(length_set("topology.spine_cable", file_.topology->spine_cable_m));
        }
        for (std::size_t n = 0; n < file_.links.size(); ++n)
            sets.push_back(length_set(fmt::format("link.{}.cable", n), file_.links[n].cable_m));
        add("cables x 1.5", std::move(sets));
    }

    // Hosts that send; the list whole, for --set replaces a key.
    static std::string list_set(std::size_t flow, const char* key, const std::vector<std::string>& hosts) {
        std::vector<std::string> quoted;
        for (const std::string& host : hosts) quoted.push_back(toml_string(host));
        return fmt::format("flow.{}.{}=[{}]", flow, key, joined(quoted, ", "));
    }
    // As many hosts again that the flow does not name; empty: there are too few.
    std::vector<std::string> with_others(const FlowConfig& flow) const {
        std::vector<std::string> hosts = flow.senders();
        const std::size_t wanted = 2 * hosts.size();
        for (const NodeId host : plan_.hosts) {
            const std::string& name = plan_.topology.nodes[host].name;
            const auto has = [&](const std::vector<std::string>& list) {
                return std::ranges::find(list, name) != list.end();
            };
            if (hosts.size() < wanted && !has(flow.from) && !has(flow.to)) hosts.push_back(name);
        }
        return hosts.size() == wanted ? hosts : std::vector<std::string>();
    }
    static void double_pairs(std::vector<std::string>& sets, const char* list, std::size_t n,
                             std::uint32_t qps, std::uint32_t most) {
        if (2 * qps <= most) sets.push_back(fmt::format("{}.{}.qps={}", list, n, 2 * qps));
    }
    // A flow gets other hosts, where there are any; all else gets queue pairs, for its hosts are given.
    void senders() {
        std::vector<std::string> sets;
        for (std::size_t n = 0; n < file_.flows.size(); ++n) {
            const FlowConfig& flow =
                plan_.file.flows[n];  // the plan's names hosts one by one, if it is not drawn
            const FlowConfig& said = file_.flows[n];
            const bool is_drawn = flow.from.empty();
            const bool of_all = said.from == std::vector<std::string>{"all"};
            if (said.incast && of_all && 2 * std::uint64_t{*said.incast} < plan_.hosts.size()) {
                sets.push_back(fmt::format("flow.{}.incast={}", n, 2 * *said.incast));
                continue;
            }
            if (const auto more = is_drawn ? std::vector<std::string>() : with_others(flow); !more.empty())
                sets.push_back(list_set(n, flow.kind == FlowKind::read ? "to" : "from", more));
            else
                double_pairs(sets, "flow", n, said.qps, max_pair_qps);
        }
        for (std::size_t n = 0; n < file_.collectives.size(); ++n)
            double_pairs(sets, "collective", n, file_.collectives[n].queue_pairs, max_collective_qps);
        for (std::size_t n = 0; n < file_.workloads.size(); ++n)
            double_pairs(sets, "workload", n, file_.workloads[n].qps, max_pair_qps);
        if (sets.empty())
            made_.left_out.emplace_back(
                "senders x 2: the file has nothing whose senders or queue pairs can be doubled");
        else
            add("senders x 2", std::move(sets));
    }

    // The events of the file and one more, in order of time.
    std::string events_with(const std::string& command) const {
        std::vector<std::pair<Duration, std::string>> events;
        for (const EventConfig& each : file_.events) events.emplace_back(each.at, each.command);
        events.emplace_back(half_, command);
        std::ranges::stable_sort(events, {}, [](const auto& each) { return each.first; });
        std::vector<std::string> texts;
        for (const auto& [at, text] : events)
            texts.push_back(fmt::format("{{at = \"{}ps\", do = {}}}", at.ps, toml_string(text)));
        return fmt::format("event=[{}]", joined(texts, ", "));
    }
    void switches() {
        if (plan_.switches.size() < 2) return;
        std::vector<unsigned> seen;
        for (const Node& node : plan_.topology.nodes) {
            if (node.is_host || std::ranges::find(seen, node.tier) != seen.end()) continue;
            seen.push_back(node.tier);
            add(node.name + " down", {events_with("switch " + node.name + " down")});
        }
    }

    template <class Differs>
    void hosts(std::string name, const char* key, const std::string& value, const Differs& differs) {
        std::vector<std::string> sets{fmt::format("host.default.{}={}", key, value)};
        for (const auto& [host, config] : file_.hosts)
            sets.push_back(fmt::format("host.{}.{}={}", host, key, value));
        const bool any =
            std::ranges::any_of(plan_.hosts, [&](NodeId host) { return differs(plan_.host(host)); });
        if (any)
            add(std::move(name), std::move(sets));
        else
            made_.left_out.push_back(name + ": the hosts have it today");
    }

    const FabricConfig& file_;
    const FabricPlan& plan_;
    Duration half_;
    Breakings made_;
};

}  // namespace

Breakings breakings_of(const FabricConfig& file, const FabricPlan& plan, Duration half) {
    return BreakingMaker(file, plan, half).make();
}

}  // namespace sluice::fabric
