// One run of a fabric, from its plan to its report with phases and judged assertions. EAL runs, and may serve
// one run after the other.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/fabric/run/fabric.hh"
#include "tools/fabric/scenario/asserts.hh"

namespace sluice::fabric {

struct RunOptions {
    std::optional<Duration> duration;
    std::string sockets;               // folder of the switches' control sockets; empty: none
    bool interactive = false;          // the clock moves when a client of one says so
    unsigned threads = 1;              // those of threads_for
    const Asserts* asserts = nullptr;  // null: none
    // After each window of the clock, on the calling thread; false: the run is interrupted there.
    std::function<bool(Fabric&)> goes_on = [](Fabric&) { return true; };
    // An interactive clock that stands still is over.
    std::function<bool()> is_stopped = [] { return false; };
};

struct RunOutcome {
    nlohmann::ordered_json report;
    std::vector<std::string> errors;  // what went wrong beside the fabric: outputs, internal errors
    bool interrupted = false;
};

// Why there was no run.
struct NoRun {
    std::vector<std::string> texts;
    bool is_configuration = false;  // assertions that can never be judged
};

tl::expected<RunOutcome, NoRun> run_once(const FabricPlan& plan, const RunOptions& options);

}  // namespace sluice::fabric
