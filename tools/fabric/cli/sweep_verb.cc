// Commands over many runs: sweep (and search), merge.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/fabric/goal/ranking.hh"
#include "control/fabric/scenario/files.hh"
#include "control/fabric/scenario/points.hh"
#include "control/fabric/scenario/run_once.hh"
#include "control/fabric/scenario/sweep.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "control/report/figures/assertions.hh"
#include "control/report/figures/text_table.hh"
#include "control/report/page/report_page.hh"
#include "dataplane/base/output_folder.hh"
#include "tools/fabric/cli/sweeps.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// Names of what a search writes into its folder.
constexpr std::array files_of_search{"holds/report.json", "fails/report.json", "find.json"};

// Every run in a line; of many those of which an assertion is false.
void say_rows(const std::vector<Json>& rows) {
    constexpr std::size_t most = 40;
    std::size_t met = 0, errors = 0;
    TextTable table("run<6|values<48|asserts>8|throughput>14|p99>14|XOFF>10|lost>10|<", most);
    for (const Json& row : rows) {
        met += row["met"] == true ? 1 : 0;
        errors += row["error"].is_null() ? 0 : 1;
        if (rows.size() > most && row["met"] == true) continue;
        std::string values;
        for (const auto& [path, value] : row["values"].items())
            append_item(values, ", ",
                        fmt::format("{}={}", path.substr(path.rfind('.') + 1),
                                    value.is_string() ? words(value) : json_text(value)));
        append_item(values, ", ", fmt::format("seed={}", number(row["seed"])));
        std::vector<std::string> cells{counted(row["run"]), values};
        const Json& figures = row["figures"];
        if (!row["error"].is_null())
            cells.insert(cells.end(), {"-", "-", "-", "-", "-", words(row["error"])});
        else
            cells.insert(
                cells.end(),
                {row["asserts"].empty() ? "-"
                 : row["met"] == true   ? "hold"
                                        : "FALSE",
                 fmt::format("{:.2f} Gb/s", figures["throughput_bps"].get<double>() / 1e9),
                 figures["completion_p99_ns"].is_null() ? "-"
                                                        : quantile_text(number(figures["completion_p99_ns"]),
                                                                        number(figures["completion_max_ns"])),
                 counted(figures["xoff_sent"]), counted(figures["lost_lossless_packets"])});
        table.row(cells);
    }
    say("{}{}; all assertions hold in {}\n", table.text().erase(0, 1), print_count(rows.size(), "run"), met);
    if (errors != 0) say("{} could not be judged\n", print_count(errors, "run"));
}

// Writes and says the best point of all rows, where there is a goal. An error's text.
std::string tell_best(SweepFolder& folder, const std::vector<Json>& rows) {
    const auto goal = folder.manifest().json.find("goal");
    if (goal == folder.manifest().json.end()) return {};
    const Ranking ranking(*goal, judged_points(rows, *goal));
    say("{}", ranking.text());
    return folder.write_best(ranking.json());
}

// [find]: runs one after the other in this process.
int find(const Arguments& arguments, const Scenario& scenario, const std::string& text) {
    const FindConfig& find = *scenario.plan.file.scenario.find;
    const auto range = ValueRange::parse(find.within);
    const auto named = folder_for(arguments, files_of_search);
    if (!named) return exit_configuration;
    auto out = OutputFolder::open(*named);
    if (!out) return failed(out.error());
    for (const char* name : files_of_search)
        if (const std::string why = out->prepare(name); !why.empty()) return failed(why);
    const std::string& folder = out->path();
    const auto sets_of = [&](std::uint64_t value) {
        std::vector<std::string> sets = arguments.sets;
        sets.push_back(find.path() + "=" + range->text(value));
        return sets;
    };
    const auto largest = judge_ends(arguments, text, find);
    if (!largest) return exit_configuration;
    const auto eal = Eal::start(*largest);
    if (!eal) return failed(eal.error());
    watch_signals();
    std::map<std::uint64_t, std::string> reports;
    const auto attempt = [&](std::uint64_t value) -> tl::expected<bool, std::string> {
        const auto plan = plan_of(text, scenario.file, sets_of(value), arguments.force);
        if (!plan) return tl::unexpected(plan.error().front());
        ScenarioConfig judged = plan->file.scenario;
        if (!find.such_that.empty()) judged.asserts = {such_that_of(find)};
        const auto asserts = Asserts::of(judged, scenario.file, arguments.asserts);
        if (!asserts) return tl::unexpected(asserts.error().front().text());
        const auto report =
            run_judged(*plan, *asserts, nullptr, arguments.duration, [] { return signal_that_came() != 0; });
        if (!report) return tl::unexpected(report.error());
        if (report->is_null()) return tl::unexpected(std::string("interrupted"));
        reports[value] = json_text(*report, 2) + "\n";
        const bool holds = all_met((*report)["asserts"]);
        say("{:>16}  {}{}", plain(range->text(value)), holds ? "holds" : "does not hold",
            holds ? "\n" : "\n" + assertions_text((*report)["asserts"]));
        return holds;
    };
    say("{} {} within {}\n", find.least.empty() ? "most" : "least", find.path(), find.within);
    const auto answer = find_edge(find, *range, attempt);
    if (signal_that_came() != 0) return exit_signalled + signal_that_came();
    if (!answer) return failed(answer.error());
    Json steps = Json::array();
    for (const FindStep& step : answer->steps)
        steps.push_back({{"value", plain(range->text(step.value))}, {"holds", step.holds}});
    const Json found = {{"path", find.path()},
                        {"kind", find.least.empty() ? "most" : "least"},
                        {"holds", plain(range->text(answer->holds))},
                        {"fails", plain(range->text(answer->fails))},
                        {"runs", std::move(steps)}};
    const std::array texts{reports[answer->holds], reports[answer->fails], json_text(found, 2) + "\n"};
    for (std::size_t n = 0; n < texts.size(); ++n)
        if (const std::string error = out->write(files_of_search[n], texts[n]); !error.empty())
            return failed(error);
    say("{} {} = {}: it holds there, and not at {} ({}); the runs on either side: {}/holds, {}/fails\n",
        find.least.empty() ? "most" : "least", find.path(), plain(range->text(answer->holds)),
        plain(range->text(answer->fails)), print_count(answer->steps.size(), "run"), folder, folder);
    return exit_done;
}

}  // namespace

int sweep_verb(const Arguments& arguments) {
    const auto scenario = read_scenario(arguments, arguments.files[0]);
    if (!scenario) return exit_configuration;
    const auto text = read_config_file(arguments.files[0]);
    if (!text) return complain("{}\n", text.error().text()), exit_configuration;
    const ScenarioConfig& config = scenario->plan.file.scenario;
    if (!config.name.empty()) say("{}\n", config.name);
    if (!config.question.empty()) say("{}\n", config.question);
    if (config.find) {
        if (arguments.html.empty()) return find(arguments, *scenario, *text);
        complain(
            "{}: a search has no page; do: leave --html out, and run report on the holds and fails that it "
            "leaves\n",
            arguments.files[0]);
        return exit_configuration;
    }
    const auto points = sweep_points(scenario->plan.file);
    if (!points) return complain("{}: {}\n", arguments.files[0], points.error()), exit_configuration;
    if (config.vary.axes.empty() && config.vary.seeds == 1) {
        complain("{}: there is neither [vary] nor [find], so there is one run; do: write one, or use run\n",
                 arguments.files[0]);
        return exit_configuration;
    }
    const auto named = folder_for(arguments, files_of_sweep);
    if (!named) return exit_configuration;
    const auto eal = judge_points(arguments, *text, *points, config.vary);
    if (!eal) return exit_configuration;
    SweepOptions options = options_of_runs(arguments);
    const std::vector<std::string> words = words_of_rows(arguments, scenario->plan);
    auto html = open_page(arguments.html);
    if (!html) return failed(html.error());
    Json goal;
    if (scenario->goal) {
        goal = scenario->goal->json();
        goal["today"] = values_of_today(*text, arguments.files[0], arguments.sets, config.vary, *points);
    }
    auto folder = SweepFolder::create(
        *named, SweepManifest::of(scenario->name(), scenario->plan.file, *text, words, points->size(), goal));
    if (!folder) return failed(folder.error());
    say_earlier(*folder);
    watch_signals();
    SweepResult result;
    {
        SweepProgress progress;
        options.progress = [&](std::size_t done, std::size_t of) { progress.show(done, of); };
        result = run_sweep(*folder, *text, arguments.files[0], *points, config.vary, *eal, options);
    }
    for (const std::string& error : result.errors) complain("sluice-fabric: {}\n", error);
    if (result.kept != 0) say("{} kept from before\n", print_count(result.kept, "run"));
    if (result.stopped) {
        say("stopped; the same command goes on where it was\n");
        return exit_signalled + signal_that_came();
    }
    if (!result.errors.empty()) return exit_failed;
    std::vector<Json> rows;
    for (std::size_t run = arguments.shard - 1; run < points->size(); run += arguments.shards)
        rows.push_back(folder->row(run));
    if (const std::string error = folder->write_tables(rows); !error.empty()) return failed(error);
    say_rows(rows);
    if (arguments.shards != 1 && scenario->goal)
        say("best: not known of a shard; do: merge the shards\n");
    else if (const std::string error = tell_best(*folder, rows); !error.empty())
        return failed(error);
    if (html->file)
        if (const std::string error =
                write_text(html->file, sweep_page(folder->manifest().json, rows, html->charts));
            !error.empty())
            return failed(error);
    say("{0}/sweep.csv, {0}/sweep.jsonl\n", folder->path());
    return std::ranges::any_of(rows, [](const Json& row) { return !row["error"].is_null(); }) ? exit_failed
                                                                                              : exit_done;
}

int merge_verb(const Arguments& arguments) {
    FileRoles roles;
    for (const std::string& folder : arguments.files) roles.reads("a folder that it merges", folder);
    roles.writes("--out", arguments.out);
    if (const std::string clash = roles.clash_text(); !clash.empty())
        return failed(clash, exit_configuration);
    std::optional<SweepManifest> manifest;
    std::map<std::size_t, Json> rows;
    for (const std::string& folder : arguments.files) {
        auto own = read_sweep(folder);
        if (!own) return failed(own.error());
        if (manifest && own->manifest.text != manifest->text)
            return failed(
                fmt::format("{} is of another sweep than {}: of another file, other words or another version "
                            "of sluice-fabric",
                            folder, arguments.files[0]));
        manifest = std::move(own->manifest);
        for (Json& row : own->rows) {
            const auto run = row["run"].get<std::size_t>();
            const auto there = rows.find(run);
            if (there != rows.end() && there->second != row)
                return failed(fmt::format("run {} is there twice, and differs: {}", run, folder));
            rows.emplace(run, std::move(row));
        }
    }
    const std::size_t wanted = manifest->runs;
    std::string missing;
    for (std::size_t run = 0; run < wanted; ++run)
        if (!rows.contains(run) && missing.size() < 60) append_item(missing, ", ", std::to_string(run));
    if (!missing.empty())
        return failed(fmt::format("{} of {} runs are missing: {} ...; do: run their shards again",
                                  wanted - rows.size(), wanted, missing));
    auto folder = SweepFolder::create(arguments.out, std::move(*manifest));
    if (!folder) return failed(folder.error());
    say_earlier(*folder);
    std::vector<Json> all;
    for (auto& [run, row] : rows) {
        if (const std::string error = folder->write_row(run, row); !error.empty()) return failed(error);
        all.push_back(std::move(row));
    }
    if (const std::string error = folder->write_tables(all); !error.empty()) return failed(error);
    say_rows(all);
    if (const std::string error = tell_best(*folder, all); !error.empty()) return failed(error);
    say("{0}/sweep.csv, {0}/sweep.jsonl\n", arguments.out);
    return exit_done;
}

}  // namespace sluice::fabric
