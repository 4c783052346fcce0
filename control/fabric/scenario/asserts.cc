#include "control/fabric/scenario/asserts.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/fabric/scenario/plan_names.hh"

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

}  // namespace

tl::expected<Asserts, std::vector<ConfigError>> Asserts::of(const ScenarioConfig& scenario,
                                                            const std::string& file,
                                                            const std::vector<std::string>& command_line) {
    Asserts asserts;
    asserts.file_ = file;
    std::vector<std::string> phases;
    for (const PhaseConfig& phase : scenario.phases) phases.push_back(phase.name);
    std::vector<AssertConfig> all = scenario.asserts;
    for (const std::string& that : command_line) all.push_back({that, {}, {}, {}});
    std::vector<ConfigError> errors;
    for (AssertConfig& said : all) {
        auto expression = Expression::parse(said.that);
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
