// The commands of sluice-fabric: each says what it finds and returns an exit status.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/scenario/asserts.hh"
#include "control/fabric/scenario/points.hh"
#include "control/fabric/scenario/sweep.hh"
#include "tools/fabric/cli/arguments.hh"

namespace sluice::fabric {

// Reads and judges; says every finding. Nothing: it may not run.
std::optional<FabricPlan> read_fabric(const Arguments& arguments, const std::string& file);

// A scenario that may be run, as its file says it.
struct Scenario {
    std::string file;
    FabricPlan plan;
    Asserts asserts;

    std::string name() const {
        if (!plan.file.scenario.name.empty()) return plan.file.scenario.name;
        return std::filesystem::path(file).stem().string();
    }
};
std::optional<Scenario> read_scenario(const Arguments& arguments, const std::string& file);

// The folder below --out for what `file` comes to: its name without the extension. An error: it would be
// none.
tl::expected<std::string, std::string> folder_name(const std::string& file);

// What an assertion of `such_that` is.
AssertConfig such_that_of(const FindConfig& find);
// Points of a sweep, or the ends of a search's range, before any runs: says which cannot. The memory of the
// largest.
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
int merge_verb(const Arguments& arguments);
int compare_verb(const Arguments& arguments);
int report_verb(const Arguments& arguments);
int list_verb(const Arguments& arguments);

}  // namespace sluice::fabric
