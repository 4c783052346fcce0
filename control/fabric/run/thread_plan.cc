#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/config/compile/compile.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {
namespace {

// Packet buffers are kept for all that hosts may send in a window.
// Two threads that wait for each other lose a microsecond or two, in which one forwards some 8 KB.
constexpr std::uint64_t min_bytes_a_window = 64'000;

Duration window_of(const FabricPlan& plan) {
    if (plan.switches.front().config.virtual_turn.ps != 0) return {};
    Duration shortest{};
    for (const Link& link : plan.topology.links) {
        if (!plan.topology.joins_switches(link)) continue;
        for (const LinkEnd& end : link.ends) {
            const Config& config = plan.switch_at(end.node).config;
            const Duration cable = cable_delay(config.ports.at(end.port));
            shortest = shortest.ps == 0 ? cable : std::min(shortest, cable);
        }
    }
    return std::min(shortest, max_window);
}

// A host costs about as much as two ports of a switch.
std::uint64_t cost_of(const SwitchPlan& plan) {
    return plan.config.ports.size() + 2 * plan.config.hosts.size();
}

std::uint64_t bytes_of_hosts(const FabricPlan& plan, Duration window) {
    std::uint64_t bytes = 0;
    for (const SwitchPlan& each : plan.switches)
        for (const auto& [name, host] : each.config.hosts)
            bytes +=
                static_cast<std::uint64_t>(window.ps / each.config.ports.at(host.port).speed.byte_time().ps);
    return bytes;
}

}  // namespace

LoopWindows windows_of(const FabricPlan& plan, unsigned threads) {
    LoopWindows windows{window_of(plan), std::vector<unsigned>(plan.switches.size())};
    if (threads == 1 || windows.length.ps == 0) return windows;
    std::map<unsigned, std::uint64_t> costs;  // by tier
    for (const SwitchPlan& each : plan.switches) costs[plan.topology.nodes[each.node].tier] += cost_of(each);
    std::map<unsigned, std::uint64_t> before;
    for (std::size_t n = 0; n < plan.switches.size(); ++n) {
        const unsigned tier = plan.topology.nodes[plan.switches[n].node].tier;
        const std::uint64_t cost = cost_of(plan.switches[n]);
        windows.thread_of[n] = static_cast<unsigned>((before[tier] + cost / 2) * threads / costs[tier]);
        before[tier] += cost;
    }
    return windows;
}

ThreadChoice threads_for(const FabricPlan& plan, unsigned wanted) {
    if (wanted == 1) return {1, {}};
    const auto one = [](std::string why) {
        return ThreadChoice{1, "stays on one thread: " + std::move(why)};
    };
    if (plan.switches.size() == 1) return one("a switch and its hosts run on one");
    if (plan.switches.front().config.virtual_turn.ps != 0)
        return one("with virtual.turn above 0 all switches take their turns together");
    const Duration window = window_of(plan);
    const std::uint64_t bytes = bytes_of_hosts(plan, window);
    if (bytes < min_bytes_a_window)
        return one(
            fmt::format("its hosts send at most {} bytes in the {:.1f} ns that a frame takes between two "
                        "switches, and more threads pay from {} on",
                        bytes, static_cast<double>(window.ps) / 1e3, min_bytes_a_window));
    if (wanted > plan.switches.size()) {
        const auto switches = static_cast<unsigned>(plan.switches.size());
        return {switches, fmt::format("runs on {} threads: it has so many switches", switches)};
    }
    return {wanted, {}};
}

}  // namespace sluice::fabric
