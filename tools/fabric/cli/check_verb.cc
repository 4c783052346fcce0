// Reads and judges files of fabrics, for every command; check, which says all that it finds without a run.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/say.hh"
#include "control/fabric/goal/asserts.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/plan/value_range.hh"
#include "control/fabric/plan/variants.hh"
#include "control/fabric/run/commands.hh"
#include "tools/fabric/cli/progress.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

volatile std::sig_atomic_t signalled = 0;
extern "C" {
static void on_signal(int number) {
    if (signalled != 0) _exit(1);  // the second one ends at once
    signalled = number;
}
}

// What errors begin with: which variant they are of.
std::string begin_of(const Arguments& arguments) {
    return arguments.variant.empty() ? "" : fmt::format("variant {}: ", arguments.variant);
}

void complain_of(const std::vector<ConfigError>& errors, const std::string& begin = {}) {
    for (const ConfigError& error : errors) complain("{}{}\n", begin, error.text());
}

void keep_largest(EalOptions& largest, const FabricPlan& plan) {
    EalOptions options = eal_options(plan);
    if (options.memory_bytes >= largest.memory_bytes) largest = std::move(options);
}

// [goal] of the plan's file, where it has one; false: it says what is wrong with it.
bool read_goal(const Arguments& arguments, const FabricPlan& plan, const std::string& file,
               std::optional<Goal>& goal) {
    if (!plan.file.scenario.goal) return true;
    auto made = Goal::of(plan.file.scenario, file);
    const std::vector<ConfigError> wrong = made ? made->check(plan) : made.error();
    if (!wrong.empty()) return complain_of(wrong, begin_of(arguments)), false;
    goal = std::move(*made);
    return true;
}

bool check_runs(const Arguments& arguments, const FabricPlan& plan) {
    const ScenarioConfig& scenario = plan.file.scenario;
    // Its points are of all variants.
    if (!scenario.variant.empty() && varies_variants(scenario.vary)) return true;
    const auto text = read_config_file(arguments.files[0]);
    if (!text) return complain("{}\n", text.error().text()), false;
    if (scenario.find) return judge_ends(arguments, *text, *scenario.find).has_value();
    const auto points = sweep_points(plan.file);
    if (!points) return complain("{}: {}\n", arguments.files[0], points.error()), false;
    return scenario.vary.axes.empty() || judge_points(arguments, *text, *points, scenario.vary).has_value();
}

// What a run of the plan could never judge, with the assertions of its variant; false: it says what.
bool check_questions(const Arguments& arguments, const FabricPlan& plan) {
    const std::string& file = arguments.files[0];
    ScenarioConfig judged = plan.file.scenario;
    if (judged.find && !judged.find->such_that.empty()) judged.asserts.push_back(such_that_of(*judged.find));
    const auto asserts = Asserts::of(judged, file, arguments.asserts);
    const std::vector<ConfigError> wrong = asserts ? asserts->check(plan) : asserts.error();
    if (!wrong.empty()) return complain_of(wrong, begin_of(arguments)), false;
    std::optional<Goal> goal;
    return read_goal(arguments, plan, file, goal);
}

// The first assertion or goal that a point of a variant could never judge; empty: none. A point without one
// has the names of the file's own plan, which is judged.
std::string wrong_in_variant(const Arguments& arguments, const FabricPlan& plan) {
    const ScenarioConfig& scenario = plan.file.scenario;
    if (scenario.variant.empty()) return {};
    const auto asserts = Asserts::of(scenario, arguments.files[0], arguments.asserts);
    std::vector<ConfigError> wrong = asserts ? asserts->check(plan) : asserts.error();
    if (wrong.empty() && scenario.goal) {
        const auto goal = Goal::of(scenario, arguments.files[0]);
        wrong = goal ? goal->check(plan) : goal.error();
    }
    return wrong.empty() ? std::string() : wrong.front().text();
}

// The variants of a plan that is of none, each as a run would have it; false: it says what is wrong.
bool check_variants(const Arguments& arguments, const FabricPlan& plan) {
    if (!plan.file.scenario.variant.empty()) return true;
    bool good = true;
    for (const VariantConfig& each : plan.file.scenario.variants) {
        const Arguments own = with_variant(arguments, each.name);
        const auto read = read_fabric(own, arguments.files[0]);
        good &= read && check_questions(own, *read);
    }
    return good;
}

}  // namespace

Arguments with_variant(Arguments arguments, const std::string& name) {
    arguments.sets.push_back(fmt::format("{}={}", variant_path, toml_string(name)));
    arguments.variant = name;
    return arguments;
}

void watch_signals() {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

int signal_that_came() { return signalled; }

std::optional<FabricPlan> read_fabric(const Arguments& arguments, const std::string& file) {
    auto loaded = load_fabric(file, arguments.sets);
    const std::string begin = begin_of(arguments);
    if (!loaded) return complain_of(loaded.error(), begin), std::nullopt;
    StartProgress progress;
    auto plan = make_plan(std::move(*loaded), std::ref(progress));
    if (!plan) return complain_of(plan.error(), begin), std::nullopt;
    bool good = true;
    for (const EventConfig& event : plan->file.events)
        if (const std::string error = check_command(*plan, event.command); !error.empty()) {
            complain("{}{}\n", begin, ConfigError{file, event.place, "event.do", error, {}, {}}.text());
            good = false;
        }
    for (const FabricFinding& each : judge_plan(*plan, arguments.force, std::ref(progress))) {
        good &= each.finding.severity != Severity::error;
        if (arguments.verb == "check" || each.finding.severity != Severity::note)
            complain("{}{}\n", begin, each.text(file));
    }
    if (!good) return std::nullopt;
    return std::move(*plan);
}

tl::expected<std::string, std::string> folder_name(const std::string& file) {
    std::string name = std::filesystem::path(file).stem().string();
    if (name.empty() || name == "." || name == "..")
        return tl::unexpected(file + ": its name is none for a folder of results; do: rename the file");
    return name;
}

std::optional<Scenario> read_scenario(const Arguments& arguments, const std::string& file) {
    auto plan = read_fabric(arguments, file);
    if (!plan) return std::nullopt;
    if (const std::string flow = endless_flow(plan->world());
        !flow.empty() && !arguments.duration && !arguments.interactive) {
        complain("{}: flow {} never ends; do: write stop or messages for it, or run with --duration\n", file,
                 flow);
        return std::nullopt;
    }
    auto asserts = Asserts::of(plan->file.scenario, file, arguments.asserts);
    if (!asserts) return complain_of(asserts.error(), begin_of(arguments)), std::nullopt;
    std::optional<Goal> goal;
    if (!read_goal(arguments, *plan, file, goal)) return std::nullopt;
    if (const ScenarioConfig& scenario = plan->file.scenario;
        asserts->left_out() != 0 && scenario.variant.empty() && !varies_variants(scenario.vary))
        complain("{}: assertions of variants are not judged: {}; do: choose one with --variant: {}\n", file,
                 asserts->left_out(), joined(variant_names(scenario.variants), ", "));
    return Scenario{file, std::move(*plan), std::move(*asserts), std::move(goal)};
}

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
        const auto plan =
            plan_of(text, arguments.files[0], points[n].sets(vary, arguments.sets), arguments.force);
        const std::string wrong = plan ? wrong_in_variant(arguments, *plan) : plan.error().front();
        if (wrong.empty())
            keep_largest(largest, *plan);
        else if (++bad <= max_told)
            complain("run {} ({}): {}\n", n, points[n].text(vary), wrong);
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
    if (!check_questions(arguments, *plan) || !check_runs(arguments, *plan) ||
        !check_variants(arguments, *plan))
        return exit_configuration;
    return say("{}", plan_text(*plan, arguments.all)), exit_done;
}

}  // namespace sluice::fabric
