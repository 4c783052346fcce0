// advise: a search over runs for better values of some keys, and what it found.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <system_error>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/fabric/advise/answer.hh"
#include "control/fabric/advise/answer_page.hh"
#include "control/fabric/advise/breaking.hh"
#include "control/fabric/advise/export.hh"
#include "control/fabric/advise/question.hh"
#include "control/fabric/advise/search.hh"
#include "control/fabric/advise/space.hh"
#include "control/fabric/scenario/files.hh"
#include "control/fabric/scenario/sweep.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "dataplane/base/output_folder.hh"
#include "tools/fabric/cli/sweeps.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// Names of what advise writes into its folder, the manifest first.
constexpr std::array files_of_advice{"search.json", "advice.json", "recommended.toml", "switch.toml"};

// What does not change from round to round.
struct Advising {
    const Arguments& arguments;
    std::string text;   // of the file
    FabricConfig file;  // as it says it
    FabricPlan plan;    // and whole
    AdviseSpace space;
    AdviseQuestion question;

    const std::string& name() const { return arguments.files[0]; }
};

bool refuse(const Arguments& arguments, const std::string& what) {
    complain("{}: {}\n", arguments.files[0], what);
    return false;
}

// The seeds and runs of the question; false: it says what is wrong.
bool ask(const Arguments& arguments, Advising& advising) {
    AdviseQuestion& question = advising.question;
    const ScenarioConfig& scenario = advising.file.scenario;
    question.space = &advising.space;
    question.starts = advising.space.starts();
    question.seed = advising.file.seed;
    question.seeds = static_cast<unsigned>(scenario.advise ? scenario.advise->seeds : AdviseConfig{}.seeds);
    question.runs = arguments.runs != 0 ? arguments.runs
                    : scenario.advise   ? scenario.advise->runs
                                        : AdviseConfig{}.runs;
    constexpr std::uint64_t max_seed = std::numeric_limits<std::int64_t>::max();  // that a file can say
    if (question.seed > max_seed - held_seeds_from - question.seeds)
        return refuse(arguments, fmt::format("seeds up to {} go beyond {}; do: write a smaller seed",
                                             held_seeds_from + question.seeds, max_seed));
    if (const std::size_t fewest = fewest_advise_runs(question); question.runs < fewest)
        return refuse(
            arguments,
            fmt::format(
                "{} are too few: the first round and the held seeds take {}; do: --runs {}, or fewer seeds",
                print_count(question.runs, "run"), fewest, fewest));
    return true;
}

// Half of the time that the found point's first run took, by its row.
Duration half_time(const AdviseState& state, const AdviseQuestion& question) {
    const Json* row = state.runs.row({state.found, question.seed});
    if (row == nullptr || !row->contains("figures")) return {};
    const auto end = (*row)["figures"].find("end_ns");
    constexpr std::uint64_t longest_ns = 1'000'000'000'000;  // as long as a file may name
    if (end == (*row)["figures"].end() || !end->is_number_unsigned()) return {};
    return nanoseconds(static_cast<std::int64_t>(std::min(end->get<std::uint64_t>(), longest_ns) / 2));
}

// The arguments of --set that make the file one with the values of a point.
std::vector<std::string> sets_of(const Advising& advising, const AdvisePoint& point) {
    std::vector<std::string> sets = advising.arguments.sets;
    for (const auto& own : {advising.space.base_sets(), advising.space.sets(point)})
        sets.insert(sets.end(), own.begin(), own.end());
    return sets;
}

// A run of the round for the engine.
SweepRun engine_run(const Advising& advising, const AdviseState& state,
                    const std::vector<Breaking>& breakings, std::size_t number) {
    const AdviseRun& run = state.runs.list()[number];
    SweepRun made{head_of(advising.space, number, run), sets_of(advising, run.point), !run.trial.empty()};
    made.sets.push_back(fmt::format("seed={}", run.seed));
    for (const Breaking& each : breakings)
        if (each.name == run.trial) made.sets.insert(made.sets.end(), each.sets.begin(), each.sets.end());
    return made;
}

// True where check takes the point; each is planned once.
std::function<bool(const AdvisePoint&)> check_of(const Advising& advising) {
    return [&advising, known = std::map<AdvisePoint, bool>()](const AdvisePoint& point) mutable {
        const auto [at, is_new] = known.try_emplace(point);
        if (is_new) {
            const auto plan =
                plan_of(advising.text, advising.name(), sets_of(advising, point), advising.arguments.force);
            at->second = plan.has_value();
        }
        return at->second;
    };
}

// The memory of the largest of these; a run whose plan is refused has a row that says so.
EalOptions memory_of(const Advising& advising, const std::vector<SweepRun>& runs) {
    EalOptions largest = eal_options(advising.plan);
    std::vector<Json> known;  // a seed alone changes no memory to speak of
    for (const SweepRun& run : runs) {
        const Json key = {run.row.values, run.row.trial};
        if (std::ranges::find(known, key) != known.end()) continue;
        known.push_back(key);
        const auto plan = plan_of(advising.text, advising.name(), run.sets, run.force);
        if (!plan) continue;
        EalOptions own = eal_options(*plan);
        if (own.memory_bytes > largest.memory_bytes) largest = std::move(own);
    }
    return largest;
}

// Runs rounds until the search is over, and returns its end. The error: the exit status, where it is stopped,
// or failed and says why.
tl::expected<AdviseState, int> run_rounds(const Advising& advising, SweepFolder& folder,
                                          std::vector<Json>& rows) {
    SweepOptions options = options_of_runs(advising.arguments);
    bool told = false;
    while (true) {
        AdviseState state = next_round(advising.question, rows);
        if (!told && state.runs.row(0) != nullptr) {
            told = true;
            if (const std::string fails = today_fails(advising.question, state); !fails.empty())
                say("today's values fail: {}\n", fails);
        }
        if (state.round.empty()) return state;
        const auto breakings =
            breakings_of(advising.file, advising.plan, half_time(state, advising.question)).list;
        std::vector<SweepRun> round;
        for (const std::size_t number : state.round)
            round.push_back(engine_run(advising, state, breakings, number));
        SweepResult result;
        {
            SweepProgress progress(state.stage);
            options.progress = [&](std::size_t done, std::size_t of) { progress.show(done, of); };
            const auto run_of = [&](std::size_t number) {
                return round[static_cast<std::size_t>(std::ranges::find(state.round, number) -
                                                      state.round.begin())];
            };
            result = run_rows(folder, advising.text, advising.name(), state.round, run_of,
                              memory_of(advising, round), options);
        }
        for (const std::string& error : result.errors) complain("sluice-fabric: {}\n", error);
        if (result.stopped) {
            say("stopped; the same command goes on where it was\n");
            return tl::unexpected(exit_signalled + signal_that_came());
        }
        if (!result.errors.empty()) return tl::unexpected(int{exit_failed});
        say("{}: {}\n", state.stage, print_count(state.round.size(), "run"));
        for (std::size_t n = 0; n < round.size(); ++n) {
            rows.push_back(folder.row(state.round[n]));
            if (!round[n].row.is_of(rows.back()))
                return tl::unexpected(
                    failed(fmt::format("{}: the row of run {} was changed meanwhile; do: run it again",
                                       folder.path(), state.round[n])));
        }
        if (std::ranges::none_of(rows, [](const Json& row) { return row["error"].is_null(); }))
            return tl::unexpected(
                failed("no run could be judged: " + rows.front()["error"].get<std::string>()));
    }
}

SweepManifest manifest_of(const Advising& advising, const Scenario& scenario) {
    FabricConfig file = advising.file;
    file.scenario.vary = {};
    for (const AdviseKey& key : advising.space.keys())
        file.scenario.vary.axes.push_back({key.path, {key.today, key.low, key.high}});
    std::vector<std::string> words = words_of_rows(advising.arguments, scenario.plan);
    words.push_back(
        fmt::format("advise with {} runs, {} seeds", advising.question.runs, advising.question.seeds));
    SweepManifest made = SweepManifest::of(scenario.name(), file, advising.text, words,
                                           advising.question.runs, advising.question.goal);
    made.files.assign(files_of_advice.begin(), files_of_advice.end());
    return made;
}

// The values as people use them.
struct AdvisedValues {
    std::string recommended;              // the whole fabric with them
    std::vector<SwitchChanges> switches;  // what changes in its switches

    // {switches[], command}, of those that may be tried while a switch runs.
    Json trials() const {
        Json made = Json::array();
        for (const SwitchChanges& each : switches)
            if (const std::string command = trial_command(each); !command.empty())
                made.push_back({{"switches", each.switches}, {"command", command}});
        return made;
    }
};

// The error: a sentence.
tl::expected<AdvisedValues, std::string> values_of(const Advising& advising, const SweepFolder& folder,
                                                   const AdviseState& state, bool changes) {
    const std::vector<std::string> sets = changes ? sets_of(advising, state.found) : advising.arguments.sets;
    auto recommended = recommended_toml(advising.text, advising.name(), sets, folder.path());
    if (!recommended) return tl::unexpected(recommended.error().front());
    if (!changes) return AdvisedValues{std::move(*recommended), {}};
    const auto advised = plan_of(advising.text, advising.name(), sets, advising.arguments.force);
    if (!advised) return tl::unexpected(advised.error().front());
    return AdvisedValues{std::move(*recommended), switch_changes(advising.plan, *advised)};
}

// Writes the values as files. An error's text.
std::string write_values(SweepFolder& folder, const AdvisedValues& values) {
    if (std::string error = folder.write("recommended.toml", values.recommended); !error.empty())
        return error;
    return values.switches.empty() ? std::string()
                                   : folder.write("switch.toml", switch_toml(values.switches));
}

// What to do with the values that changed, in lines; `trials`: of advice.json.
std::string steps_text(const std::string& folder, const AdvisedValues& values, const Json& trials) {
    std::string text = fmt::format("    the whole file: {}/recommended.toml\n", folder);
    if (values.switches.empty()) return text;
    text += fmt::format(
        "    keys of a switch: {}/switch.toml; a trial on one that runs, taken back if it hurts:\n", folder);
    for (const Json& each : trials) text += each["command"].get<std::string>() + "\n";
    return text;
}

// Writes the file of a question without a workload, DIR/fabric.toml, and returns its path. Nothing: it says
// why there is none.
std::optional<std::string> write_question(const Arguments& arguments) {
    const auto made = question_file(arguments.question);
    if (!made) {
        for (const std::string& error : made.error()) complain("{}\n", error);
        return std::nullopt;
    }
    const std::string text = made->text + advise_section(), path = arguments.out + "/fabric.toml";
    if (std::error_code none; std::filesystem::exists(path, none)) {
        const auto known = read_config_file(path);
        if (known && *known == text) return path;
        return complain("{}: it is of another question; do: name another folder by --out\n", path),
               std::nullopt;
    }
    auto folder = OutputFolder::open(arguments.out);
    const std::string error = folder ? folder->write("fabric.toml", text) : folder.error();
    if (!error.empty()) return failed(error), std::nullopt;
    for (const std::string& each : made->notes) say("{}\n", each);
    return path;
}

int advise(const Arguments& arguments) {
    const auto scenario = read_scenario(arguments, arguments.files[0]);
    if (!scenario) return exit_configuration;
    const auto text = read_config_file(arguments.files[0]);
    if (!text) return complain("{}\n", text.error().text()), exit_configuration;
    if (!scenario->goal)
        return refuse(arguments, "it has no [goal]; do: say in one what should be small, as least"),
               exit_configuration;
    const ScenarioConfig& config = scenario->plan.file.scenario;
    if (!config.vary.axes.empty() || config.find)
        return refuse(arguments, "it has [vary] or [find] beside [advise]; do: leave one of them out"),
               exit_configuration;
    auto file = parse_fabric(*text, arguments.files[0], arguments.sets);
    if (!file) return complain("{}\n", file.error().front().text()), exit_configuration;
    auto space = AdviseSpace::of(*text, arguments.files[0], arguments.sets);
    if (!space) {
        for (const std::string& error : space.error()) complain("{}\n", error);
        return exit_configuration;
    }
    Advising advising{arguments, *text, std::move(*file), scenario->plan, std::move(*space), {}};
    advising.question.allows = check_of(advising);
    if (!ask(arguments, advising)) return exit_configuration;
    advising.question.goal = goal_for(scenario->goal->json(), advising.space);
    const Breakings breakings = breakings_of(advising.file, advising.plan, {});
    for (const Breaking& each : breakings.list) advising.question.trials.push_back(each.name);
    const auto named = folder_for(arguments, files_of_advice);
    if (!named) return exit_configuration;
    auto html = open_page(arguments.html);
    if (!html) return failed(html.error());
    auto folder = SweepFolder::create(*named, manifest_of(advising, *scenario));
    if (!folder) return failed(folder.error());
    say_earlier(*folder);
    if (!config.name.empty()) say("{}\n", config.name);
    if (!config.question.empty()) say("{}\n", config.question);
    watch_signals();
    std::vector<Json> rows;
    auto state = run_rounds(advising, *folder, rows);
    if (!state) return state.error();
    for (const AdviseLeftOut& each : advising.space.left_out())
        state->not_tried.push_back(fmt::format("{}: {}", each.name, each.reason));
    for (const std::string& each : breakings.left_out) state->not_tried.push_back(each);
    Json advice = advice_json(advising.question, *state);
    const bool changes = advice["answer"] == "change";
    const auto values = values_of(advising, *folder, *state, changes);
    advice["trials"] = values ? values->trials() : Json::array();
    if (const std::string error = folder->write("advice.json", json_text(advice, 2) + "\n"); !error.empty())
        return failed(error);
    if (!values) return failed(values.error());
    if (const std::string error = write_values(*folder, *values); !error.empty()) return failed(error);
    say("{}{}    the evidence: {}/advice.json\n", advice_text(advice),
        changes ? steps_text(folder->path(), *values, advice["trials"]) : std::string(), folder->path());
    if (html->file) {
        const Json data = advice_for_page(scenario->name(), config.question, advice);
        if (const std::string error =
                write_text(html->file, advice_page(data, advice_page_text(data), html->charts));
            !error.empty())
            return failed(error);
    }
    return advice["answer"] == "none keeps" ? exit_false : exit_done;
}

}  // namespace

int advise_verb(const Arguments& arguments) {
    if (arguments.question.is_asked() != arguments.files.empty())
        return complain("sluice-fabric: advise takes {}; see: sluice-fabric --help\n",
                        arguments.files.empty() ? "a file, or --ports and what else describes a switch"
                                                : "a file or the options that describe a switch, not both"),
               exit_configuration;
    if (!arguments.files.empty()) return advise(arguments);
    Arguments own = arguments;
    if (own.out.empty()) own.out = "out/advice";
    const auto file = write_question(own);
    if (!file) return exit_configuration;
    own.files = {*file};
    return advise(own);
}

}  // namespace sluice::fabric
