#include "control/fabric/scenario/plan_names.hh"

#include <algorithm>
#include <string>

#include "control/config/compile/qos.hh"
#include "control/config/schema/hosts.hh"

namespace sluice::fabric {
namespace {

using Label = std::optional<LabelNames>;

template <class Map>
Words keys_of(const Map& map) {
    Words names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
}

template <class List>
Words names_in(const List& list) {
    Words names;
    for (const auto& each : list) names.push_back(each.name);
    return names;
}

// The switch whose figures stand behind these names; nullptr: none.
const SwitchPlan* switch_at(const FabricPlan& plan, std::span<const std::string> within) {
    if (within.size() < 2 || within[0] != "switches") return nullptr;
    const auto found = std::find_if(plan.switches.begin(), plan.switches.end(),
                                    [&](const SwitchPlan& each) { return each.name == within[1]; });
    return found == plan.switches.end() ? nullptr : &*found;
}

Label names_in_switch(const Config& config, std::string_view label) {
    if (label == "port") return LabelNames{keys_of(config.ports)};
    if (label == "host") return LabelNames{keys_of(config.hosts)};
    if (label == "pool") return LabelNames{names_in(effective_qos(config).pools)};
    if (label == "queue" || label == "priority") return LabelNames{{"0", "1", "2", "3", "4", "5", "6", "7"}};
    return std::nullopt;
}

Label names_in_fabric(const FabricPlan& plan, std::span<const std::string> within, std::string_view label) {
    if (label == "switch") return LabelNames{names_in(plan.switches)};
    if (label == "link") return LabelNames{names_in(plan.topology.links)};
    if (label == "direction") return LabelNames{{"0", "1"}};
    if (label == "collective") return LabelNames{names_in(plan.file.collectives), true};
    if (label == "phase") return LabelNames{};  // an assertion says of which phase it is by itself
    if (label == "flow") {
        Config world;
        world.flows = plan.file.flows;
        return LabelNames{flow_names(world), true};
    }
    if (label == "host" && within.size() == 1) {
        LabelNames hosts;
        for (const Node& node : plan.topology.nodes)
            if (node.is_host) hosts.names.push_back(node.name);
        return hosts;
    }
    return std::nullopt;
}

}  // namespace

NamesOf names_of(const FabricPlan& plan) {
    return [&plan](std::span<const std::string> within, std::string_view label) {
        const SwitchPlan* at = switch_at(plan, within);
        return at != nullptr ? names_in_switch(at->config, label) : names_in_fabric(plan, within, label);
    };
}

}  // namespace sluice::fabric
