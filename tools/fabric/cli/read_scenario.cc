#include <unistd.h>
#include <csignal>
#include <functional>

#include "control/config/schema/hosts.hh"
#include "control/config/text/say.hh"
#include "control/fabric/plan/fabric_lint.hh"
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

}  // namespace

void watch_signals() {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

int signal_that_came() { return signalled; }

std::optional<FabricPlan> read_fabric(const Arguments& arguments, const std::string& file) {
    auto loaded = load_fabric(file, arguments.sets);
    const auto say_errors = [](const std::vector<ConfigError>& errors) {
        for (const ConfigError& error : errors) complain("{}\n", error.text());
    };
    if (!loaded) return say_errors(loaded.error()), std::nullopt;
    StartProgress progress;
    auto plan = make_plan(std::move(*loaded), std::ref(progress));
    if (!plan) return say_errors(plan.error()), std::nullopt;
    bool good = true;
    for (const EventConfig& event : plan->file.events)
        if (const std::string error = check_command(*plan, event.command); !error.empty()) {
            complain("{}\n", ConfigError{file, event.place, "event.do", error, {}, {}}.text());
            good = false;
        }
    for (const FabricFinding& each : judge_plan(*plan, arguments.force, std::ref(progress))) {
        good &= each.finding.severity != Severity::error;
        if (arguments.verb == "check" || each.finding.severity != Severity::note)
            complain("{}\n", each.text(file));
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
    Config world;
    world.flows = plan->file.flows;
    if (const std::string flow = endless_flow(world);
        !flow.empty() && !arguments.duration && !arguments.interactive) {
        complain("{}: flow {} never ends; do: write stop or messages for it, or run with --duration\n", file,
                 flow);
        return std::nullopt;
    }
    auto asserts = Asserts::of(plan->file.scenario, file, arguments.asserts);
    if (asserts) return Scenario{file, std::move(*plan), std::move(*asserts)};
    for (const ConfigError& error : asserts.error()) complain("{}\n", error.text());
    return std::nullopt;
}

}  // namespace sluice::fabric
