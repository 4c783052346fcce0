// Runs a fabric, from its plan to its report with phases and judged assertions. EAL runs; it serves many
// runs.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/goal/asserts.hh"
#include "control/fabric/goal/goal.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

struct RunOptions {
    std::optional<Duration> duration;
    std::string page;  // [ADDRESS:]PORT of the live page; empty: none
    std::function<void(const std::string& address)> on_page = [](const std::string&) {};  // it is there
    std::string sockets;               // folder of the switches' control sockets; empty: none
    bool interactive = false;          // the clock moves when a client of one says so
    unsigned threads = 1;              // those of threads_for
    const Asserts* asserts = nullptr;  // null: none
    const Goal* goal = nullptr;        // null: none
    bool series = false;               // takes samples over time
    std::function<void(std::string_view)>
        messages;               // takes rows (report/message_rows.hh), if results.messages
    Stage stage = tell_nobody;  // before the first packet
    // After each window of the clock, on the calling thread; false: the run is interrupted there.
    std::function<bool(Fabric&)> goes_on = [](Fabric&) { return true; };
    // An interactive clock that stands still is over; so are runs of jobs alone.
    std::function<bool()> is_stopped = [] { return false; };
};

struct RunOutcome {
    nlohmann::ordered_json report;
    nlohmann::ordered_json series;    // report/series.hh; null: it was not asked for
    nlohmann::ordered_json goal;      // Goal::judge; null: there is none
    std::vector<std::string> errors;  // what went wrong beside the fabric: outputs, internal errors
    bool interrupted = false;
};

// Why there was no run.
struct NoRun {
    std::vector<std::string> texts;
    bool is_configuration = false;  // assertions or a goal that can never be judged
};

tl::expected<RunOutcome, NoRun> run_once(const FabricPlan& plan, const RunOptions& options);

// The report of a run among many; null: it was stopped. With a goal it has `goal`, as Goal::judge gives it.
// An error's text.
tl::expected<nlohmann::ordered_json, std::string> run_judged(const FabricPlan& plan, const Asserts& asserts,
                                                             const Goal* goal,
                                                             std::optional<Duration> duration,
                                                             const std::function<bool()>& is_stopped);

// Results of scenarios as a JUnit file.
struct ScenarioResult {
    std::string name;
    nlohmann::ordered_json report;    // null: there was no run
    std::vector<std::string> errors;  // why there was none, or what went wrong beside it
};

std::string junit_text(const std::vector<ScenarioResult>& results);

}  // namespace sluice::fabric
