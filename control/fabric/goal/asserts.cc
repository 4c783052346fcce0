#include "control/fabric/goal/asserts.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/qos.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/report/figures/figure_path.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

ConfigError error_of(const std::string& file, const AssertConfig& said, const std::string& wrong) {
    const bool in_file = said.place.line != 0;
    return {in_file ? file : "--assert",
            said.place,
            in_file ? said.key : "",
            fmt::format("{}: {}", in_quotes(said.that), wrong),
            {},
            {}};
}

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
    const auto found = std::ranges::find(plan.switches, within[1], &SwitchPlan::name);
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
    if (label == "job") return LabelNames{names_in(plan.jobs)};
    if (label == "phase") return LabelNames{};  // an assertion says of which phase it is by itself
    if (label == "flow") return LabelNames{flow_names(plan.world()), true};
    if (label == "host" && within.size() == 1) return LabelNames{plan.topology.names(true)};
    return std::nullopt;
}

// Names that a fabric's report will have, as its plan knows them. Lives no longer than the plan.
NamesOf names_of(const FabricPlan& plan) {
    return [&plan](std::span<const std::string> within, std::string_view label) {
        const SwitchPlan* at = switch_at(plan, within);
        return at != nullptr ? names_in_switch(at->config, label) : names_in_fabric(plan, within, label);
    };
}

}  // namespace

tl::expected<Asserts, std::vector<ConfigError>> Asserts::of(const ScenarioConfig& scenario,
                                                            const std::string& file,
                                                            const std::vector<std::string>& command_line) {
    std::vector<AssertConfig> all = scenario.asserts;
    for (const std::string& that : command_line) all.push_back({that, {}, {}, {}});
    auto read = of(std::move(all), scenario.phases, file);
    if (!read) return read;
    Asserts kept;
    kept.file_ = file;
    for (std::size_t n = 0; n < read->list_.size(); ++n) {
        const std::string& variant = read->said_[n].variant;
        if (!variant.empty() && variant != scenario.variant) {
            ++kept.left_out_;
            continue;
        }
        kept.list_.push_back(std::move(read->list_[n]));
        kept.said_.push_back(std::move(read->said_[n]));
    }
    return kept;
}

tl::expected<Asserts, std::vector<ConfigError>> Asserts::of(std::vector<AssertConfig> list,
                                                            const std::vector<PhaseConfig>& phase_list,
                                                            const std::string& file,
                                                            Expression::Wanted wanted) {
    Asserts asserts;
    asserts.file_ = file;
    std::vector<std::string> phases;
    for (const PhaseConfig& phase : phase_list) phases.push_back(phase.name);
    std::vector<ConfigError> errors;
    for (AssertConfig& said : list) {
        auto expression = Expression::parse(said.that, wanted);
        if (!expression) {
            errors.push_back(error_of(file, said, expression.error()));
            continue;
        }
        if (const auto& phase = expression->baseline(); phase) {
            const auto known = phases.empty() ? tl::expected<std::string, std::string>(
                                                    tl::unexpected(std::string("there is no [[phase]]")))
                                              : find_word(*phase, phases, "phase");
            if (!known || *known != *phase) {
                errors.push_back(error_of(
                    file, said,
                    known ? fmt::format("there is no phase {}, perhaps {}", *phase, *known) : known.error()));
                continue;
            }
        }
        asserts.list_.push_back({std::move(*expression), said.phase, said.why});
        asserts.said_.push_back(std::move(said));
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return asserts;
}

std::vector<ConfigError> Asserts::errors_of(const std::function<std::string(const Assertion&)>& check) const {
    std::vector<ConfigError> errors;
    for (std::size_t n = 0; n < list_.size(); ++n)
        if (const std::string wrong = check(list_[n]); !wrong.empty())
            errors.push_back(error_of(file_, said_[n], wrong));
    return errors;
}

std::vector<ConfigError> Asserts::check(const FabricPlan& plan) const {
    return errors_of(
        [names = names_of(plan)](const Assertion& each) { return check_assertion(each, names); });
}

std::vector<ConfigError> Asserts::check(const Json& report, const Json& phase) const {
    return errors_of([&](const Assertion& each) { return check_assertion(each, report, phase); });
}

}  // namespace sluice::fabric
