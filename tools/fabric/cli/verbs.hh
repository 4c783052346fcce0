// The commands of sluice-fabric: each says what it finds and returns an exit status.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "control/config/text/say.hh"
#include "control/fabric/advise/question.hh"
#include "control/fabric/goal/asserts.hh"
#include "control/fabric/goal/goal.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/scenario/points.hh"
#include "control/fabric/scenario/sweep.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

enum : int {
    exit_done = 0,
    exit_failed = 1,
    exit_differ = 1,
    exit_configuration = 2,
    exit_false = 4,
    exit_signalled = 128
};

// Says why; the exit status.
inline int failed(const std::string& error, int status = exit_failed) {
    complain("sluice-fabric: {}\n", error);
    return status;
}

struct Arguments : SweepOptions {
    std::string verb, out;
    std::string variant;             // --variant, which is among sets, too; empty: none
    std::vector<std::string> files;  // at least one, where the verb takes any; of advise perhaps none
    std::string sockets, page, junit, html;
    bool interactive = false, all = false;
    bool json = false, exit_code = false;  // of compare
    unsigned threads = 1;
    unsigned runs = 0;  // of advise; 0: as the file says
    Question question;  // of advise, in place of a file
};

// The arguments with another variant of the file.
Arguments with_variant(Arguments arguments, const std::string& name);
// Reads and judges; says every finding, with the variant that is asked for. Nothing: it may not run.
std::optional<FabricPlan> read_fabric(const Arguments& arguments, const std::string& file);

// A scenario that may be run, as its file says it.
struct Scenario {
    std::string file;
    FabricPlan plan;
    Asserts asserts;
    std::optional<Goal> goal;

    std::string name() const {
        const ScenarioConfig& scenario = plan.file.scenario;
        const std::string own =
            scenario.name.empty() ? std::filesystem::path(file).stem().string() : scenario.name;
        return scenario.variant.empty() ? own : fmt::format("{}, variant {}", own, scenario.variant);
    }
};
std::optional<Scenario> read_scenario(const Arguments& arguments, const std::string& file);

// The folder below --out for the results of `file`: its name without the extension.
tl::expected<std::string, std::string> folder_name(const std::string& file);

// `such_that` as an assertion.
AssertConfig such_that_of(const FindConfig& find);
// Checks points of a sweep, or the ends of a search, before any runs. Returns the memory of the largest.
std::optional<EalOptions> judge_points(const Arguments& arguments, const std::string& text,
                                       const std::vector<SweepPoint>& points, const VaryConfig& vary);
std::optional<EalOptions> judge_ends(const Arguments& arguments, const std::string& text,
                                     const FindConfig& find);

// SIGINT and SIGTERM from now on ask to stop; a second one ends the process at once.
void watch_signals();
// The signal that came; 0: none.
int signal_that_came();

int check_verb(const Arguments& arguments);
int run_verb(const Arguments& arguments);
int sweep_verb(const Arguments& arguments);
int advise_verb(const Arguments& arguments);
int merge_verb(const Arguments& arguments);
int compare_verb(const Arguments& arguments);
int report_verb(const Arguments& arguments);

}  // namespace sluice::fabric
