// check: everything that can be said of a file without a run, of scenarios, too.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/fabric/plan/value_range.hh"
#include "control/fabric/scenario/asserts.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

void keep_largest(EalOptions& largest, const FabricPlan& plan) {
    EalOptions options = eal_options(plan);
    if (options.memory_bytes >= largest.memory_bytes) largest = std::move(options);
}

// Whether each of them can be judged.
bool check_asserts(const FabricPlan& plan, const Asserts& asserts) {
    const auto wrong = asserts.check(plan);
    for (const ConfigError& each : wrong) complain("{}\n", each.text());
    return wrong.empty();
}

bool check_runs(const Arguments& arguments, const FabricPlan& plan) {
    const ScenarioConfig& scenario = plan.file.scenario;
    const auto text = read_config_file(arguments.files[0]);
    if (!text) return complain("{}\n", text.error().text()), false;
    if (scenario.find) return judge_ends(arguments, *text, *scenario.find).has_value();
    const auto points = sweep_points(plan.file);
    if (!points) return complain("{}: {}\n", arguments.files[0], points.error()), false;
    return scenario.vary.axes.empty() || judge_points(arguments, *text, *points, scenario.vary).has_value();
}

}  // namespace

AssertConfig such_that_of(const FindConfig& find) {
    return {find.such_that, {}, {}, find.place, "find.such_that"};
}

std::optional<EalOptions> judge_points(const Arguments& arguments, const std::string& text,
                                       const std::vector<SweepPoint>& points, const VaryConfig& vary) {
    constexpr std::size_t max_judged = 1024;  // beyond, evenly spread ones; the others are judged as they run
    constexpr std::size_t max_told = 20;
    EalOptions largest;
    std::size_t bad = 0;
    const std::size_t step = std::max<std::size_t>(points.size() / max_judged, 1);
    for (std::size_t n = 0; n < points.size(); n += step) {
        std::vector<std::string> sets = arguments.sets;
        for (std::string& set : points[n].sets(vary)) sets.push_back(std::move(set));
        const auto plan = plan_of(text, arguments.files[0], sets, arguments.force);
        if (plan)
            keep_largest(largest, *plan);
        else if (++bad <= max_told)
            complain("run {} ({}): {}\n", n, points[n].text(vary), plan.error().front());
    }
    if (bad > max_told) complain("and {} more\n", bad - max_told);
    if (bad != 0) return std::nullopt;
    return largest;
}

std::optional<EalOptions> judge_ends(const Arguments& arguments, const std::string& text,
                                     const FindConfig& find) {
    const auto range = ValueRange::parse(find.within);
    EalOptions largest;
    for (const std::uint64_t end : {range->low(), range->high()}) {
        std::vector<std::string> sets = arguments.sets;
        sets.push_back(find.path() + "=" + range->text(end));
        const auto plan = plan_of(text, arguments.files[0], sets, arguments.force);
        if (!plan) {
            for (const std::string& error : plan.error())
                complain("at {} = {}: {}\n", find.path(), plain(range->text(end)), error);
            return std::nullopt;
        }
        keep_largest(largest, *plan);
    }
    return largest;
}

int check_verb(const Arguments& arguments) {
    const std::string& file = arguments.files[0];
    const auto plan = read_fabric(arguments, file);
    if (!plan) return exit_configuration;
    ScenarioConfig judged = plan->file.scenario;
    if (judged.find && !judged.find->such_that.empty()) judged.asserts.push_back(such_that_of(*judged.find));
    const auto asserts = Asserts::of(judged, file, arguments.asserts);
    if (!asserts) {
        for (const ConfigError& error : asserts.error()) complain("{}\n", error.text());
        return exit_configuration;
    }
    if (!check_runs(arguments, *plan) || !check_asserts(*plan, *asserts)) return exit_configuration;
    return say("{}", plan_text(*plan, arguments.all)), exit_done;
}

}  // namespace sluice::fabric
