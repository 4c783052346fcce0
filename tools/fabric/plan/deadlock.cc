#include "tools/fabric/plan/deadlock.hh"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "control/compile/qos.hh"
#include "control/config/values.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t most_prefixes = 4;
constexpr std::uint32_t no_channel = UINT32_MAX;

// Routes of every switch, by its index.
using AllRoutes = std::vector<std::vector<RouteConfig>>;

class Dependencies {
  public:
    Dependencies(const FabricPlan& plan, const std::vector<std::vector<std::uint8_t>>& lossless)
        : plan_(plan), lossless_(lossless), after_(2 * plan.topology.links.size()) {}

    void add(const AllRoutes& routes) {
        std::set<IpPrefix> prefixes;
        for (const auto& of_switch : routes)
            for (const RouteConfig& route : of_switch) prefixes.insert(route.prefix);
        for (const IpPrefix& prefix : prefixes) add(routes, prefix);
    }

    // Of each channel on a circle of the class the shortest through it, each circle once, shortest first.
    std::vector<DependencyCycle> circles(ClassId priority) const {
        std::map<std::vector<std::uint32_t>, DependencyCycle> found;  // by its channels, sorted
        for (std::uint32_t start = 0; start < after_.size(); ++start) {
            const auto way = circle_through(start, priority);
            if (way.empty()) continue;
            auto key = way;
            std::sort(key.begin(), key.end());
            found.try_emplace(std::move(key), describe(way, priority));
        }
        std::vector<DependencyCycle> all;
        for (auto& [key, cycle] : found) all.push_back(std::move(cycle));
        std::stable_sort(all.begin(), all.end(), [](const DependencyCycle& a, const DependencyCycle& b) {
            return a.switches.size() < b.switches.size();
        });
        return all;
    }

  private:
    std::vector<std::uint32_t> circle_through(std::uint32_t start, ClassId priority) const {
        std::vector<std::uint32_t> came(after_.size(), no_channel);
        std::deque<std::uint32_t> queue{start};
        while (!queue.empty() && came[start] == no_channel) {
            const std::uint32_t at = queue.front();
            queue.pop_front();
            for (const auto& [next, why] : after_[at]) {
                if ((carries(at) & carries(next) & 1U << priority) == 0 || came[next] != no_channel) continue;
                came[next] = at;
                queue.push_back(next);
            }
        }
        std::vector<std::uint32_t> way;
        if (came[start] == no_channel) return way;
        for (std::uint32_t at = start; way.empty() || at != start; at = came[at]) way.push_back(at);
        std::reverse(way.begin(), way.end());
        return way;
    }
    DependencyCycle describe(const std::vector<std::uint32_t>& way, ClassId priority) const {
        DependencyCycle cycle{priority, {}, {}, {}};
        std::set<IpPrefix> prefixes;
        for (std::size_t n = 0; n < way.size(); ++n) {
            cycle.switches.push_back(end_of(way[n]).node);
            prefixes.insert(after_[way[n]].at(way[(n + 1) % way.size()]));
        }
        std::rotate(cycle.switches.begin(), std::min_element(cycle.switches.begin(), cycle.switches.end()),
                    cycle.switches.end());
        for (const IpPrefix& prefix : prefixes)
            if (cycle.prefixes.size() < most_prefixes) cycle.prefixes.push_back(prefix);
        return cycle;
    }

    // A channel is 2 x link + the end that it goes to.
    const LinkEnd& end_of(std::uint32_t channel) const {
        return plan_.topology.links[channel / 2].ends[channel % 2];
    }
    std::uint8_t carries(std::uint32_t channel) const {
        const LinkEnd& end = end_of(channel);
        return lossless_[plan_.switch_of[end.node]][plan_.port_id(end)];
    }

    // Packets to the prefix from every leaf.
    void add(const AllRoutes& routes, const IpPrefix& prefix) {
        std::deque<std::pair<std::size_t, std::uint32_t>> todo;  // switch, channel by which they came
        for (std::size_t n = 0; n < plan_.switches.size(); ++n)
            if (!plan_.switches[n].config.hosts.empty()) todo.emplace_back(n, no_channel);
        std::set<std::uint32_t> seen;
        while (!todo.empty()) {
            const auto [at, came] = todo.front();
            todo.pop_front();
            const SwitchPlan& self = plan_.switches[at];
            const bool arrived =
                std::any_of(self.config.hosts.begin(), self.config.hosts.end(),
                            [&](const auto& host) { return contains(prefix, host.second.address); });
            if (arrived && came != no_channel) continue;
            const RouteConfig* best = nullptr;
            for (const RouteConfig& route : routes[at])
                if (contains(route.prefix, prefix.address) && route.prefix.length <= prefix.length &&
                    (best == nullptr || route.prefix.length > best->prefix.length))
                    best = &route;
            if (best == nullptr) continue;
            for (const LinkId id : plan_.topology.nodes[self.node].links) {
                const auto& ends = plan_.topology.links[id].ends;
                const unsigned far = ends[0].node == self.node ? 1 : 0;
                if (plan_.topology.nodes[ends[far].node].is_host) continue;
                const IpAddress hop = plan_.addresses.address(id, far);
                if (std::none_of(best->via.begin(), best->via.end(),
                                 [&](const auto& via) { return via.address == hop; }))
                    continue;
                const std::uint32_t goes = 2 * id + far;
                if (came != no_channel) after_[came].emplace(goes, prefix);
                if (seen.insert(goes).second) todo.emplace_back(plan_.switch_of[ends[far].node], goes);
            }
        }
    }

    const FabricPlan& plan_;
    const std::vector<std::vector<std::uint8_t>>& lossless_;  // classes, by switch and port
    std::vector<std::map<std::uint32_t, IpPrefix>>
        after_;  // by channel: those it waits for, and one route why
};

std::vector<std::vector<std::uint8_t>> lossless_classes(const FabricPlan& plan) {
    std::vector<std::vector<std::uint8_t>> all;
    for (const SwitchPlan& each : plan.switches) {
        const EffectiveQos qos = effective_qos(each.config);
        auto& own = all.emplace_back();
        for (const auto& [name, port] : qos.ports) own.push_back(port.lossless);
    }
    return all;
}

std::vector<DependencyCycle> cycles_of(const FabricPlan& plan, const AllRoutes& routes,
                                       const std::vector<std::vector<std::uint8_t>>& lossless) {
    Dependencies dependencies(plan, lossless);
    dependencies.add(routes);
    std::vector<DependencyCycle> all;
    for (ClassId n = 0; n < classes; ++n)
        for (DependencyCycle& cycle : dependencies.circles(n)) all.push_back(std::move(cycle));
    return all;
}

}  // namespace

std::vector<DependencyCycle> dependency_cycles(const FabricPlan& plan) {
    const auto lossless = lossless_classes(plan);
    AllRoutes routes, by_hand;
    bool any_by_hand = false;
    for (const SwitchPlan& each : plan.switches) {
        routes.emplace_back(each.config.routes->begin(), each.config.routes->end());
        const auto& own = *plan.file.switch_config(each.name).routes;
        by_hand.emplace_back(own.begin(), own.end());
        any_by_hand |= !own.empty();
    }
    if (auto cycles = cycles_of(plan, routes, lossless); !cycles.empty()) return cycles;
    // A path that never turns up again has no circle, whatever is down; routes by hand do not change.
    if (plan.file.routing.policy == RoutingConfig::Policy::by_hand || (!any_by_hand && is_up_down(plan)))
        return {};
    std::vector<DependencyCycle> all;
    std::set<std::pair<ClassId, std::vector<NodeId>>> known;
    for (LinkId down = 0; down < plan.topology.links.size(); ++down) {
        const auto& ends = plan.topology.links[down].ends;
        if (plan.topology.nodes[ends[0].node].is_host || plan.topology.nodes[ends[1].node].is_host) continue;
        std::vector<bool> links_down(plan.topology.links.size());
        links_down[down] = true;
        AllRoutes then = routes_without(plan, links_down);
        for (std::size_t n = 0; n < then.size(); ++n)
            then[n].insert(then[n].end(), by_hand[n].begin(), by_hand[n].end());
        for (DependencyCycle& cycle : cycles_of(plan, then, lossless)) {
            if (!known.emplace(cycle.priority, cycle.switches).second) continue;
            cycle.failed_link = plan.topology.links[down].name;
            all.push_back(std::move(cycle));
        }
    }
    return all;
}

std::string cycle_text(const FabricPlan& plan, const DependencyCycle& cycle) {
    std::string text;
    for (const NodeId node : cycle.switches) append_item(text, " > ", plan.topology.nodes[node].name);
    std::string prefixes;
    for (const IpPrefix& prefix : cycle.prefixes) append_item(prefixes, ", ", print_prefix(prefix));
    return fmt::format(
        "pauses of class {} can wait for each other in a circle{}: {} > {}; closed by routes to {}",
        cycle.priority, cycle.failed_link.empty() ? "" : fmt::format(" when {} is down", cycle.failed_link),
        text, plan.topology.nodes[cycle.switches.front()].name, prefixes);
}

}  // namespace sluice::fabric
