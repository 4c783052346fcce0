#include "control/fabric/plan/deadlock.hh"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/wrapped.hh"
#include "control/fabric/plan/forwarding.hh"
#include "lib/values/class_mask.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_prefixes = 4;

// By channel: the classes for which a full queue at its end pauses its beginning.
std::vector<std::uint8_t> paused_classes(const FabricPlan& plan) {
    std::vector<std::unordered_map<std::string, PfcMasks>> masks;  // by switch and port
    for (const SwitchPlan& each : plan.switches) {
        const EffectiveQos qos = effective_qos(each.config);
        auto& own = masks.emplace_back();
        for (const auto& [name, port] : qos.ports) own.emplace(name, port.masks);
    }
    std::vector<std::uint8_t> classes(2 * plan.topology.links.size());
    for (Channel channel = 0; channel < classes.size(); ++channel) {
        const Link& link = plan.topology.links[channel / 2];
        const LinkEnd &to = link.ends[channel % 2], &from = link.ends[1 - channel % 2];
        if (!plan.topology.joins_switches(link)) continue;
        classes[channel] = masks[plan.switch_of[to.node]].at(to.port).may_send &
                           masks[plan.switch_of[from.node]].at(from.port).honors;
    }
    return classes;
}

// A graph of two kinds of node that take turns: a channel, and a switch with a group of hosts. A channel
// leads to the switch at its end with each group whose packets come by it, and these to the channels by which
// the switch sends them on. So it is as large as the tables of routes, not as the pairs of channels.
class Dependencies {
  public:
    Dependencies(const FabricPlan& plan, const Forwarding& forwarding,
                 const std::vector<std::uint8_t>& classes)
        : plan_(plan),
          forwarding_(forwarding),
          classes_(classes),
          channels_(static_cast<Node>(classes.size())),
          groups_(static_cast<Node>(forwarding.groups().size())),
          nodes_(channels_ + static_cast<Node>(plan.switches.size()) * groups_),
          groups_by_(channels_) {
        for (Node group = 0; group < groups_; ++group) walk(group);
    }

    // Until `most` are in `found`: circles of the class that together have every channel which is on one,
    // each the shortest through one of its channels.
    void add_circles(ClassId priority, std::size_t most, std::vector<DependencyCycle>& found) {
        class_bit_ = static_cast<std::uint8_t>(1U << priority);
        find_components();
        std::vector<bool> covered(channels_);
        const auto first = static_cast<std::ptrdiff_t>(found.size());
        for (Node start = 0; start < channels_ && found.size() < most; ++start) {
            if (covered[start] || component_size_[component_[start]] < 2) continue;
            const std::vector<Node> way = circle_through(start);
            for (const Node node : way)
                if (node < channels_) covered[node] = true;
            found.push_back(describe(way, priority));
        }
        std::ranges::stable_sort(found.begin() + first, found.end(), {},
                                 [](const DependencyCycle& cycle) { return cycle.switches.size(); });
    }

  private:
    using Node = std::uint32_t;
    static constexpr Node none = UINT32_MAX;

    Node node_of(std::size_t at, Node group) const {
        return channels_ + static_cast<Node>(at) * groups_ + group;
    }

    // Packets for the group start at every switch that has hosts.
    void walk(Node group) {
        std::vector<bool> seen(plan_.switches.size());
        std::vector<std::size_t> todo;
        const auto come_to = [&](std::size_t at) {
            if (!seen[at]) todo.push_back(at);
            seen[at] = true;
        };
        for (std::size_t at = 0; at < plan_.switches.size(); ++at)
            if (!plan_.switches[at].config.hosts.empty()) come_to(at);
        while (!todo.empty()) {
            const std::size_t at = todo.back();
            todo.pop_back();
            for (const Channel channel : forwarding_.hops(at, group)) {
                groups_by_[channel].push_back(group);
                come_to(forwarding_.end_of(channel));
            }
        }
    }

    // The n-th node behind one; nothing: it has no more. `none`: the class is not paused there.
    std::optional<Node> successor(Node node, std::size_t n) const {
        if (node < channels_) {
            if (n >= groups_by_[node].size()) return std::nullopt;
            return node_of(forwarding_.end_of(node), groups_by_[node][n]);
        }
        const auto hops = forwarding_.hops((node - channels_) / groups_, (node - channels_) % groups_);
        if (n >= hops.size()) return std::nullopt;
        return (classes_[hops[n]] & class_bit_) != 0 ? hops[n] : none;
    }

    // Strongly connected components (Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal
    // on Computing 1, 1972), from every channel of the class; without recursion.
    void find_components() {
        component_.assign(nodes_, none);
        component_size_.assign(1, 0);  // component 0: nodes that no channel of the class leads to
        std::vector<Node> number(nodes_, 0), low(nodes_, 0), stack;
        std::vector<std::pair<Node, std::size_t>> calls;  // a node, and how many of its successors are done
        Node last = 0;
        const auto enter = [&](Node node) {
            number[node] = low[node] = ++last;
            stack.push_back(node);
            calls.emplace_back(node, 0);
        };
        for (Node start = 0; start < channels_; ++start) {
            if ((classes_[start] & class_bit_) == 0 || number[start] != 0) continue;
            enter(start);
            while (!calls.empty()) {
                auto& [node, done] = calls.back();
                if (const auto next = successor(node, done++)) {
                    if (*next == none) continue;
                    if (number[*next] == 0)
                        enter(*next);
                    else if (component_[*next] == none)
                        low[node] = std::min(low[node], number[*next]);
                    continue;
                }
                const Node left = node;
                calls.pop_back();
                if (!calls.empty()) low[calls.back().first] = std::min(low[calls.back().first], low[left]);
                if (low[left] != number[left]) continue;
                component_size_.push_back(0);
                for (Node member = none; member != left; ++component_size_.back()) {
                    member = stack.back();
                    stack.pop_back();
                    component_[member] = static_cast<Node>(component_size_.size() - 1);
                }
            }
        }
        for (Node& component : component_)
            if (component == none) component = 0;
    }

    // The shortest one, of a channel that is on one.
    std::vector<Node> circle_through(Node start) const {
        std::vector<Node> came(nodes_, none);
        std::deque<Node> queue{start};
        while (came[start] == none) {
            const Node at = queue.front();
            queue.pop_front();
            for (std::size_t n = 0; const auto next = successor(at, n); ++n) {
                if (*next == none || component_[*next] != component_[start] || came[*next] != none) continue;
                came[*next] = at;
                queue.push_back(*next);
            }
        }
        std::vector<Node> way;
        for (Node at = start; way.empty() || at != start; at = came[at]) way.push_back(at);
        std::reverse(way.begin(), way.end());
        return way;
    }
    DependencyCycle describe(const std::vector<Node>& way, ClassId priority) const {
        DependencyCycle cycle{priority, {}, {}, {}};
        std::set<IpPrefix> prefixes;
        for (const Node node : way) {
            if (node < channels_) continue;
            const std::size_t at = (node - channels_) / groups_;
            cycle.switches.push_back(plan_.switches[at].node);
            prefixes.insert(forwarding_.route(at, (node - channels_) % groups_)->prefix);
        }
        std::rotate(cycle.switches.begin(), std::ranges::min_element(cycle.switches), cycle.switches.end());
        for (const IpPrefix& prefix : prefixes)
            if (cycle.prefixes.size() < max_prefixes) cycle.prefixes.push_back(prefix);
        return cycle;
    }

    const FabricPlan& plan_;
    const Forwarding& forwarding_;
    const std::vector<std::uint8_t>& classes_;  // paused, by channel
    Node channels_, groups_, nodes_;
    std::vector<std::vector<Node>> groups_by_;  // by channel: those whose packets come by it
    std::uint8_t class_bit_ = 0;                // of the class in question
    std::vector<Node> component_;               // by node
    std::vector<std::size_t> component_size_;   // in nodes
};

std::vector<DependencyCycle> cycles_of(const FabricPlan& plan, const Forwarding& forwarding,
                                       const std::vector<std::uint8_t>& paused) {
    Dependencies dependencies(plan, forwarding, paused);
    std::vector<DependencyCycle> all;
    std::uint8_t any = 0;
    for (const std::uint8_t mask : paused) any |= mask;
    for_each_class(any, [&](ClassId n) { dependencies.add_circles(n, max_dependency_cycles, all); });
    return all;
}

// Links whose loss can give a switch a next hop that it did not have: each is the only one of some computed
// route. Routes by hand and round a ring only lose next hops; a path that never turns up again has no circle.
std::set<LinkId> links_to_lose(const FabricPlan& plan, const Forwarding& forwarding, bool any_by_hand) {
    using Policy = RoutingConfig::Policy;
    const Policy policy = plan.file.routing.policy;
    std::set<LinkId> links;
    if (policy == Policy::by_hand || policy == Policy::clockwise || (!any_by_hand && is_up_down(plan)))
        return links;
    for (std::size_t at = 0; at < plan.switches.size(); ++at) {
        const RouteSet& by_hand = *plan.file.switch_config(plan.switches[at].name).routes;
        for (std::size_t group = 0; group < forwarding.groups().size(); ++group)
            if (const auto hops = forwarding.hops(at, group);
                hops.size() == 1 && !by_hand.contains(forwarding.route(at, group)->prefix))
                links.insert(hops[0] / 2);
    }
    return links;
}

}  // namespace

std::vector<DependencyCycle> dependency_cycles(const FabricPlan& plan) {
    const bool any_by_hand = std::ranges::any_of(plan.switches, [&](const SwitchPlan& each) {
        return !plan.file.switch_config(each.name).routes->empty();
    });
    const auto paused = paused_classes(plan);
    Forwarding forwarding(plan);
    std::vector<DependencyCycle> all = cycles_of(plan, forwarding, paused);
    if (!all.empty()) return all;
    std::set<std::pair<ClassId, std::vector<NodeId>>> known;
    for (const LinkId down : links_to_lose(plan, forwarding, any_by_hand)) {
        forwarding.fail(down);
        for (DependencyCycle& cycle : cycles_of(plan, forwarding, paused)) {
            if (!known.emplace(cycle.priority, cycle.switches).second) continue;
            cycle.failed_link = plan.topology.links[down].name;
            all.push_back(std::move(cycle));
        }
    }
    return all;
}

std::string cycle_text(const FabricPlan& plan, const DependencyCycle& cycle) {
    std::vector<std::string_view> names;
    for (const NodeId node : cycle.switches) names.emplace_back(plan.topology.nodes[node].name);
    std::string prefixes;
    for (const IpPrefix& prefix : cycle.prefixes) append_item(prefixes, ", ", print_prefix(prefix));
    return fmt::format(
        "pauses of class {} can wait for each other in a circle{}: {} > {}; closed by routes to {}",
        cycle.priority, cycle.failed_link.empty() ? "" : fmt::format(" when {} is down", cycle.failed_link),
        join_briefly(names, " > "), names.front(), prefixes);
}

}  // namespace sluice::fabric
