#include <array>
#include <memory>

#include "control/config/schema/command_line.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/fabric/report/drawing.hh"
#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/scenario/files.hh"
#include "control/fabric/scenario/run_once.hh"
#include "control/report/figures/assertions.hh"
#include "control/report/page/report_page.hh"
#include "control/report/page/report_shape.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"
#include "dataplane/base/output_folder.hh"
#include "tools/fabric/cli/progress.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

// Load and pauses of a report, for the picture.
Shades shades_of(const nlohmann::ordered_json& report) {
    Shades shades{{}, report["fabric"].get<std::string>(), {}, {}};
    const double end_ns = std::max(report["end_ns"].get<double>(), 1.0);
    for (const auto& link : report["links"]) {
        auto& made = shades.links.emplace_back();
        for (unsigned n = 0; n < 2; ++n) {
            const auto& direction = link["directions"][n];
            made[n].load = direction["load_ppm"].get<double>() / 1e6;
            for (const auto& paused : direction["paused_ns"])
                made[n].paused = std::max(made[n].paused, paused.get<double>() / end_ns);
        }
    }
    if (const nlohmann::ordered_json& trees = report["pause_trees"]; !trees.empty()) {
        shades.culprit = culprit_of(trees);
        shades.culprit_text = trees[0]["text"].get<std::string>();
    }
    return shades;
}

constexpr std::array files_of_run{"report.json", "series.json", "fabric.svg"};
constexpr std::string_view messages_file = "messages.csv";

// The files of all runs, open before the first of them.
struct Outputs {
    std::optional<OutputFolder> folder;  // --out
    std::vector<std::string> below;      // of each run: "", or "NAME/"
    std::unique_ptr<OutputFile> junit;
    PageOutput html;
};

// Nothing: it says why, and `status` is the exit status.
std::optional<Outputs> open_outputs(const Arguments& arguments, const std::vector<Scenario>& scenarios,
                                    int& status) {
    const auto refused = [&](int with, const std::string& error) {
        status = failed(error, with);
        return std::nullopt;
    };
    Outputs made;
    FileRoles roles;
    for (const std::string& file : arguments.files) roles.reads("the scenario", file);
    for (const Scenario& scenario : scenarios)
        for (const WorkloadPlan& each : scenario.plan.workloads)
            if (!each.path.empty()) roles.reads("a workload", each.path);
    for (const std::string& file : arguments.files) {
        std::string below;
        if (arguments.files.size() > 1 && !arguments.out.empty()) {
            const auto name = folder_name(file);
            if (!name) return refused(exit_configuration, name.error());
            below = *name + "/";
        }
        for (const char* name : files_of_run)
            if (!arguments.out.empty())
                roles.writes("the run of " + file, arguments.out + "/" + below + name);
        made.below.push_back(std::move(below));
    }
    roles.writes("--junit", arguments.junit);
    roles.writes("--html", arguments.html);
    if (const std::string clash = roles.clash_text(); !clash.empty())
        return refused(exit_configuration, clash);
    if (!arguments.out.empty()) {
        auto folder = OutputFolder::open(arguments.out);
        if (!folder) return refused(exit_failed, folder.error());
        for (const std::string& below : made.below)
            for (const char* name : files_of_run)
                if (const std::string why = folder->prepare(below + name); !why.empty())
                    return refused(exit_failed, why);
        made.folder.emplace(std::move(*folder));
    }
    auto junit = open_output(arguments.junit);
    auto html = open_page(arguments.html);
    if (!junit) return refused(exit_failed, junit.error());
    if (!html) return refused(exit_failed, html.error());
    made.junit = std::move(*junit), made.html = std::move(*html);
    return made;
}

// The rows of a run's messages; null: nobody wants them.
tl::expected<std::unique_ptr<OutputFile>, std::string> open_messages(const Outputs& outputs,
                                                                     const std::string& name,
                                                                     const FabricPlan& plan) {
    if (!plan.file.results.messages) return nullptr;
    if (!outputs.folder) {
        complain("sluice-fabric: {} is not written; do: write --out DIR\n", name);
        return nullptr;
    }
    if (std::string why = outputs.folder->prepare(name); !why.empty()) return tl::unexpected(std::move(why));
    return OutputFile::create(outputs.folder->file(name));
}

// Prints the result of a run, and writes it into its folder, if any. Returns its exit status.
int finish(Outputs& outputs, const std::string& below, const FabricPlan& plan, RunOutcome& outcome) {
    if (outputs.folder) {
        const std::array texts{json_text(outcome.report, 2), json_text(outcome.series),
                               svg_of(plan.topology, shades_of(outcome.report))};
        for (std::size_t n = 0; n < texts.size(); ++n)
            if (std::string error = outputs.folder->write(below + files_of_run[n], texts[n] + "\n");
                !error.empty())
                outcome.errors.push_back(std::move(error));
    }
    say("{}{}", summarise(outcome.report), assertions_text(outcome.report["asserts"]));
    for (const std::string& error : outcome.errors) complain("sluice-fabric: {}\n", error);
    for (const std::string& each : false_assertions(outcome.report["asserts"]))
        complain("sluice-fabric: {}\n", each);
    if (outcome.interrupted) return exit_signalled + signal_that_came();
    if (!outcome.errors.empty()) return exit_failed;
    return all_met(outcome.report["asserts"]) ? exit_done : exit_false;
}

// EAL for the largest of them, one after the other.
EalOptions eal_options(const std::vector<Scenario>& scenarios, unsigned threads) {
    EalOptions largest;
    for (const Scenario& each : scenarios) {
        EalOptions options = eal_options(each.plan, threads);
        if (options.memory_bytes > largest.memory_bytes) largest = std::move(options);
    }
    return largest;
}

}  // namespace

// The exit status of all: the first that is not 0.
int run_verb(const Arguments& arguments) {
    if (arguments.files.size() > 1 && !(arguments.sockets.empty() && arguments.page.empty()))
        return complain_of_usage(
            "sluice-fabric",
            fmt::format("{} wants one file", arguments.sockets.empty() ? "--page" : "--socket"));
    std::vector<Scenario> scenarios;
    for (const std::string& file : arguments.files) {
        auto scenario = read_scenario(arguments, file);
        if (!scenario) return exit_configuration;
        scenarios.push_back(std::move(*scenario));
    }
    const bool several = scenarios.size() > 1;
    int status = exit_done;
    auto outputs = open_outputs(arguments, scenarios, status);
    if (!outputs) return status;
    const auto eal = Eal::start(eal_options(scenarios, arguments.threads));
    if (!eal) return failed(eal.error());
    watch_signals();
    std::vector<ScenarioResult> results;
    std::vector<nlohmann::ordered_json> for_page;
    for (const Scenario& each : scenarios) {
        if (signal_that_came() != 0) break;
        const ScenarioConfig& scenario = each.plan.file.scenario;
        if (several || !scenario.name.empty() || !scenario.variant.empty())
            say("{}{}\n", several && !results.empty() ? "\n" : "", each.name());
        if (!scenario.question.empty()) say("{}\n", scenario.question);
        const ThreadChoice choice = threads_for(each.plan, arguments.threads);
        if (!choice.why.empty()) complain("sluice-fabric: {} {}\n", each.name(), choice.why);
        StartProgress start;
        Progress progress(arguments.duration);
        RunOptions options;
        options.duration = arguments.duration;
        options.sockets = arguments.sockets;
        options.page = arguments.page;
        options.on_page = [](const std::string& address) {
            complain_as(Priority::info, "page: {}\n", address);
        };
        options.interactive = arguments.interactive;
        options.threads = choice.threads;
        options.series = !arguments.out.empty() || !arguments.html.empty();
        options.asserts = &each.asserts;
        options.stage = std::ref(start);
        options.goes_on = [&](Fabric& fabric) {
            progress.show(fabric);
            return signal_that_came() == 0;
        };
        options.is_stopped = [] { return signal_that_came() != 0; };
        const std::string messages_name = outputs->below[results.size()] + std::string(messages_file);
        auto messages = open_messages(*outputs, messages_name, each.plan);
        if (!messages) return failed(messages.error());
        if (*messages) options.messages = [&](std::string_view rows) { (*messages)->write(rows); };
        auto outcome = run_once(each.plan, options);
        if (outcome && *messages)
            if (std::string error = (*messages)->close(
                    [&](const std::string& part) { return outputs->folder->own(messages_name, part); });
                !error.empty())
                outcome->errors.push_back(std::move(error));
        int own = exit_done;
        if (outcome) {
            own = finish(*outputs, outputs->below[results.size()], each.plan, *outcome);
            if (each.asserts.empty() && !scenario.question.empty())
                say("\n{}: it asserts nothing, so nothing can fail; do: write [[assert]]\n", each.name());
            if (!arguments.html.empty())
                for_page.push_back(page_run(each.name(), report_for_page(json_text(outcome->report)).value(),
                                            std::move(outcome->series), outcome->errors));
            results.push_back({each.name(), std::move(outcome->report), std::move(outcome->errors)});
        } else {
            for (const std::string& error : outcome.error().texts) complain("sluice-fabric: {}\n", error);
            own = outcome.error().is_configuration ? exit_configuration : exit_failed;
            if (!arguments.html.empty())
                for_page.push_back(page_run(each.name(), nullptr, nullptr, outcome.error().texts));
            results.push_back({each.name(), nullptr, outcome.error().texts});
        }
        if (status == exit_done) status = own;
    }
    if (outputs->junit)
        if (const std::string error = write_text(outputs->junit, junit_text(results)); !error.empty())
            return failed(error);
    if (outputs->html.file && !for_page.empty())
        if (const std::string error =
                write_text(outputs->html.file, runs_page(for_page, outputs->html.charts));
            !error.empty())
            return failed(error);
    return status;
}

}  // namespace sluice::fabric
