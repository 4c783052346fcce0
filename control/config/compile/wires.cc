#include "control/config/compile/wires.hh"

#include <algorithm>
#include <memory>

#include "dataplane/path/wire.hh"

namespace sluice {
namespace {

constexpr Duration reordered_at_most = milliseconds(1);
// Two streams of draws a rule, apart from all others (lib/peer/faults.cc).
constexpr std::uint32_t first_stream = 0xFB00'0000;
constexpr std::uint64_t streams = 0x7F'FFFF;

FaultRule compile_rule(const ImpairConfig& config, std::uint64_t id) {
    FaultRule made;
    made.id = id;
    made.match = static_cast<const FaultMatch&>(config.match);
    made.choice = static_cast<const FrameChoice&>(config.match);
    made.action = config.action;
    made.stream = first_stream + static_cast<std::uint32_t>(id % streams) * 2;
    made.time = config.time.value_or(config.action == FaultAction::reorder ? reordered_at_most : Duration{});
    made.frames = config.frames.value_or(1);
    made.sender_qp = config.sender_qp;
    made.cnp_dscp = config.cnp_dscp.value_or(cnp_dscp_by_default);
    return made;
}

PortId port_id(const Config& config, const std::string& name) {
    return static_cast<PortId>(std::distance(config.ports.begin(), config.ports.find(name)));
}

}  // namespace

void WireRuleIds::take_up(const Config& config) {
    std::erase_if(known_, [&](const auto& entry) {
        const auto wire = config.wires.find(entry.first.first);
        return wire == config.wires.end() || !wire->second.impair.contains(entry.first.second);
    });
    for (const auto& [wire_name, wire] : config.wires)
        for (const auto& [rule_name, rule] : wire.impair) {
            Known& known = known_[{wire_name, rule_name}];
            if (known.id != 0 && known.config == rule) continue;
            known = {rule, ++last_};
            names_[last_] = rule_name;
        }
}

std::uint64_t WireRuleIds::id_of(const std::string& wire, const std::string& rule) const {
    const auto found = known_.find({wire, rule});
    return found == known_.end() ? 0 : found->second.id;
}

const std::string& WireRuleIds::name_of(std::uint64_t id) const {
    static const std::string unknown;
    const auto found = names_.find(id);
    return found == names_.end() ? unknown : found->second;
}

void compile_wires(const Config& config, const WireRuleIds& ids, Policy& policy) {
    for (const auto& [name, wire] : config.wires) {
        const std::array<PortId, 2> ends{port_id(config, wire.ports[0]), port_id(config, wire.ports[1])};
        const bool learns = std::any_of(wire.impair.begin(), wire.impair.end(), [](const auto& rule) {
            return rule.second.action == FaultAction::cnp && !rule.second.sender_qp;
        });
        for (const unsigned end : {0U, 1U}) {
            auto made = std::make_shared<WirePolicy>();
            made->peer = ends[1 - end];
            made->passes_pfc = wire.passes_pfc;
            made->learns_senders = learns;
            const WireDirections other = end == 0 ? WireDirections::backward : WireDirections::forward;
            for (const auto& [rule_name, rule] : wire.impair)
                if (rule.match.direction != other)
                    made->rules.push_back(compile_rule(rule, ids.id_of(name, rule_name)));
            policy.ports[ends[end]].wire = std::move(made);
        }
    }
}

}  // namespace sluice
