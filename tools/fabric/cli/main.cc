// sluice-fabric: runs a fabric of switches and hosts, or says what is wrong with it, or draws it.
#include <unistd.h>
#include <array>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "control/config/hosts.hh"
#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/server/boundary.hh"
#include "control/text/json_text.hh"
#include "control/text/say.hh"
#include "dataplane/base/output_file.hh"
#include "tools/fabric/cli/arguments.hh"
#include "tools/fabric/cli/progress.hh"
#include "tools/fabric/plan/fabric_lint.hh"
#include "tools/fabric/report/drawing.hh"
#include "tools/fabric/report/fabric_report.hh"
#include "tools/fabric/report/pause_report.hh"
#include "tools/fabric/run/commands.hh"
#include "tools/fabric/scenario/run_once.hh"

namespace sluice::fabric {
namespace {

volatile std::sig_atomic_t signalled = 0;
extern "C" void on_signal(int number) {
    if (signalled != 0) _exit(1);  // the second one ends at once
    signalled = number;
}

// Reads and judges; says every finding. Nothing: it may not run.
std::optional<FabricPlan> read_fabric(const Arguments& arguments) {
    auto loaded = load_fabric(arguments.file, arguments.sets);
    const auto say_errors = [](const std::vector<ConfigError>& errors) {
        for (const ConfigError& error : errors) complain("{}\n", error.text());
    };
    if (!loaded) return say_errors(loaded.error()), std::nullopt;
    auto plan = make_plan(std::move(*loaded));
    if (!plan) return say_errors(plan.error()), std::nullopt;
    bool good = true;
    for (const EventConfig& event : plan->file.events)
        if (const std::string error = check_command(*plan, event.command); !error.empty()) {
            complain("{}\n", ConfigError{arguments.file, event.place, "event.do", error, {}, {}}.text());
            good = false;
        }
    for (const FabricFinding& each : judge(*plan, arguments.force)) {
        good &= each.finding.severity != Severity::error;
        if (arguments.verb == "check" || each.finding.severity != Severity::note)
            complain("{}\n", each.text(arguments.file));
    }
    if (!good) return std::nullopt;
    return std::move(*plan);
}

std::string write_file(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    if (!file) return file.error();
    (*file)->write(text);
    (*file)->write("\n");
    return (*file)->close();
}

// Load and pauses of a report, for the picture.
Shades shades_of(const nlohmann::ordered_json& report) {
    Shades shades{{}, report["fabric"].get<std::string>()};
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
    return shades;
}

// Says what a run came to, and writes what was asked for. Its exit status.
int finish(const Arguments& arguments, const FabricPlan& plan, const RunOutcome& outcome) {
    bool good = true;
    const auto failed = [&](const std::string& error) {
        if (error.empty()) return;
        complain("sluice-fabric: {}\n", error);
        good = false;
    };
    if (!arguments.out.empty()) {
        failed(write_file(arguments.out + "/report.json", json_text(outcome.report, 2)));
        failed(write_file(arguments.out + "/fabric.svg", draw(plan.topology, shades_of(outcome.report))));
    }
    say("{}", summarise(outcome.report));
    for (const std::string& error : outcome.errors) failed(error);
    if (outcome.interrupted) return exit_signalled + signalled;
    const auto failures = arguments.assertions.failures(outcome.report);
    for (const std::string& line : failures) complain("sluice-fabric: {}\n", line);
    return !good ? exit_failed : failures.empty() ? exit_done : exit_false;
}

std::string make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path))
        error = std::make_error_code(std::errc::not_a_directory);
    return error ? path + ": " + error.message() : std::string();
}

int run(const Arguments& arguments) {
    const auto plan = read_fabric(arguments);
    if (!plan) return exit_configuration;
    Config world;
    world.flows = plan->file.flows;
    if (const std::string flow = endless_flow(world);
        !flow.empty() && !arguments.duration && !arguments.interactive) {
        complain("{}: flow {} never ends; do: write stop or messages for it, or run with --duration\n",
                 arguments.file, flow);
        return exit_configuration;
    }
    const auto failed = [](const std::string& error) {
        complain("sluice-fabric: {}\n", error);
        return exit_failed;
    };
    if (!arguments.out.empty())
        if (const std::string error = make_folder(arguments.out); !error.empty()) return failed(error);
    const auto eal = Eal::start(eal_options(*plan));
    if (!eal) return failed(eal.error());
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    Progress progress(arguments.duration);
    RunOptions options;
    options.duration = arguments.duration;
    options.sockets = arguments.sockets;
    options.interactive = arguments.interactive;
    options.assertions = &arguments.assertions;
    options.goes_on = [&](Fabric& fabric) {
        progress.show(fabric);
        return signalled == 0;
    };
    options.is_stopped = [] { return signalled != 0; };
    const auto outcome = run_once(*plan, options);
    if (outcome) return finish(arguments, *plan, *outcome);
    for (const std::string& error : outcome.error().texts) complain("sluice-fabric: {}\n", error);
    return outcome.error().of_assertions ? exit_configuration : exit_failed;
}

int check(const Arguments& arguments) {
    const auto plan = read_fabric(arguments);
    if (!plan) return exit_configuration;
    return say("{}", plan_text(*plan)), exit_done;
}

int draw_topology(const Arguments& arguments) {
    const auto plan = read_fabric(arguments);
    if (!plan) return exit_configuration;
    return say("{}", draw(plan->topology, {})), exit_done;
}

int reference(const Arguments& /*arguments*/) { return say("{}", fabric_reference()), exit_done; }

// Of a run's report.
int why(const Arguments& arguments) {
    const auto text = read_config_file(arguments.file + "/report.json");
    if (!text) return complain("{}\n", text.error().text()), exit_failed;
    const auto report = nlohmann::ordered_json::parse(*text, nullptr, false);
    if (!report.is_object() || !report.contains("pause_trees") || !report.contains("hosts")) {
        complain("sluice-fabric: {}/report.json is no report of a fabric\n", arguments.file);
        return exit_failed;
    }
    if (!arguments.host.empty() && !report["hosts"].contains(arguments.host)) {
        complain("sluice-fabric: there is no host {}\n", in_quotes(arguments.host));
        return exit_configuration;
    }
    const std::string answer = why_text(report["pause_trees"], arguments.host);
    say("{}", answer.empty() ? (arguments.host.empty() ? "nobody" : arguments.host) + " waited for no pause\n"
                             : answer);
    return exit_done;
}

struct Verb {
    std::string_view name;
    int (*run)(const Arguments&);
};
constexpr std::array verbs{Verb{"run", run}, Verb{"check", check}, Verb{"draw", draw_topology},
                           Verb{"why", why}, Verb{"reference", reference}};

int run_main(int argc, char** argv) {
    const auto arguments = parse_arguments({argv + 1, argv + argc});
    if (!arguments) {
        if (arguments.error().empty()) return say("{}", usage()), exit_done;
        complain("sluice-fabric: {}\n{}", arguments.error(), usage());
        return exit_configuration;
    }
    for (const Verb& verb : verbs)
        if (verb.name == arguments->verb) return verb.run(*arguments);
    complain("sluice-fabric: there is no command {}\n{}", in_quotes(arguments->verb), usage());
    return exit_configuration;
}

}  // namespace
}  // namespace sluice::fabric

int main(int argc, char** argv) {
    using namespace sluice;
    hold_standard_streams();
    outlive_readers();
    int status = fabric::exit_failed;
    boundary([&] { status = fabric::run_main(argc, argv); },
             [](const char* what) { complain("sluice-fabric: internal error: {}\n", what); });
    return all_said("sluice-fabric") || status != fabric::exit_done ? status : fabric::exit_failed;
}
