#include "control/fabric/run/pause_words.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "control/config/text/wrapped.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

const std::string& name_of(const FabricPlan& plan, const PauseRecord& pause) {
    return plan.switches[pause.device].name;
}
const std::string& peer_name(const FabricPlan& plan, const PauseWatch& watch, std::uint32_t device,
                             PortId port) {
    return plan.topology.nodes[watch.peer(device, port).node].name;
}
const std::string& paused_name(const FabricPlan& plan, const PauseWatch& watch, const PauseRecord& pause) {
    return peer_name(plan, watch, pause.device, pause.port);
}

std::string text_of_time(std::int64_t ns) {
    if (ns < 10'000) return fmt::format("{} ns", ns);
    if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
    return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

std::string cycle_text(const FabricPlan& plan, const PauseWatch& watch, const PauseCycle& cycle) {
    std::vector<std::string_view> names;
    for (const std::uint32_t each : cycle.pauses) names.emplace_back(name_of(plan, watch.pauses()[each]));
    const PauseRecord& first = watch.pauses()[cycle.began_with];
    std::string text = fmt::format(
        "{} waits for {}, class {}; it began when {} paused {}, at {}, because of its queue to {}",
        join_briefly(names, " waits for "), names.front(), first.priority, name_of(plan, first),
        paused_name(plan, watch, first), text_of_time(static_cast<std::int64_t>(first.from.ps / 1000)),
        peer_name(plan, watch, first.device, first.causes.front().egress_port));
    return text + "; packets of " + join_briefly(cycle.flows, ", ");
}

}  // namespace sluice::fabric
