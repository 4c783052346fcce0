#include "control/fabric/goal/goal.hh"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "control/report/figures/assertions.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Wanted = Expression::Wanted;

// Two values of one bucket of a histogram, 1/16 wide, may be this much apart.
constexpr double bucket_share = 0.07;

// A quantile that is read from a histogram. Those of messages are exact in a goal, and those of steps always.
bool is_rounded(std::string_view path) {
    constexpr std::array exact{"completion_ns.", "slowdown_permille.", "step_ns."};
    const Figure* row = row_of(path);
    return row != nullptr && row->path.ends_with(".{quantile}") &&
           std::ranges::none_of(exact,
                                [&](const char* part) { return row->path.find(part) != row->path.npos; });
}

std::vector<AssertConfig> list_of(const std::vector<GoalConfig::Entry>& entries) {
    return {entries.begin(), entries.end()};
}

std::vector<ConfigError> both(std::vector<ConfigError> errors, std::vector<ConfigError> more) {
    errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return errors;
}

Json phase_json(const Assertion& entry) { return entry.phase.empty() ? Json() : Json(entry.phase); }

Json judged(const Asserts& list, const Json& report) {
    Json made = judge_assertions(list.list(), report);
    for (Json& each : made) each.erase("why");
    return made;
}

FigureUnit unit_of(const tl::expected<Expression, std::string>& expression, const std::string& where) {
    return expression ? expression->unit_at(where) : FigureUnit::none;
}

}  // namespace

tl::expected<Goal, std::vector<ConfigError>> Goal::of(const ScenarioConfig& scenario,
                                                      const std::string& file) {
    const GoalConfig& config = *scenario.goal;
    auto keep = Asserts::of(list_of(config.keep), scenario.phases, file);
    auto least = Asserts::of(list_of(config.least), scenario.phases, file, Wanted::figure);
    if (keep && least)
        return Goal(std::move(*keep), std::move(*least),
                    static_cast<double>(config.tolerance.parts_per_billion) / Chance::always);
    std::vector<ConfigError> errors;
    if (!keep) errors = std::move(keep.error());
    return tl::unexpected(least ? std::move(errors) : both(std::move(errors), std::move(least.error())));
}

std::vector<ConfigError> Goal::check(const FabricPlan& plan) const {
    return both(keep_.check(plan), least_.check(plan));
}

std::vector<ConfigError> Goal::check(const Json& report, const Json& phase) const {
    return both(keep_.check(report, phase), least_.check(report, phase));
}

Json Goal::judge(const Json& report) const {
    return {{"keep", judged(keep_, report)}, {"least", judged(least_, report)}};
}

Json Goal::json() const {
    Json made = {{"keep", Json::array()}, {"least", Json::array()}};
    for (const Assertion& each : keep_.list())
        made["keep"].push_back({{"that", each.expression.text()}, {"phase", phase_json(each)}});
    for (const Assertion& each : least_.list()) {
        const bool rounded = std::ranges::any_of(each.expression.paths(), is_rounded);
        made["least"].push_back({{"that", each.expression.text()},
                                 {"phase", phase_json(each)},
                                 {"within", rounded ? std::max(tolerance_, bucket_share) : tolerance_}});
    }
    return made;
}

std::string entry_text(const Json& judged) {
    const auto& that = judged["that"].get_ref<const std::string&>();
    return judged["phase"].is_null() ? that : that + " in " + judged["phase"].get<std::string>();
}

FigureUnit unit_of_least(const std::string& that, const std::string& where) {
    return unit_of(Expression::parse(that, Wanted::figure), where);
}

FigureUnit unit_of_keep(const std::string& that, const std::string& where) {
    return unit_of(Expression::parse(that), where);
}

std::optional<bool> keeps_at(const std::string& that, const std::string& where, double value) {
    const auto expression = Expression::parse(that);
    return expression ? expression->holds_at(value, where) : std::nullopt;
}

}  // namespace sluice::fabric
