// A sweep: the runs of all points, by processes of their own side by side, each with one EAL that it keeps.
//
// A row appears as soon as its run is over (sweep_folder.hh), so a sweep that is stopped, by a signal or a
// power cut, goes on where it was. A shard is every N-th run. The rows do not depend on jobs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/scenario/points.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "dataplane/base/eal.hh"

namespace sluice::fabric {

struct SweepOptions {
    unsigned jobs = 1;
    unsigned shard = 1, shards = 1;
    std::vector<std::string> sets, asserts;  // of the command line
    std::optional<Duration> duration;
    bool force = false;
    std::function<bool()> is_stopped = [] { return false; };  // in every process
    std::function<void(std::size_t done, std::size_t of)> progress = [](std::size_t, std::size_t) {};
};

struct SweepResult {
    std::vector<std::string> errors;
    bool stopped = false;
    std::size_t kept = 0;  // rows that were there already
};

// A run among several.
struct SweepRun {
    RowHead row;
    std::vector<std::string> sets;  // all of them, in order
    bool force = false;             // although it is not lossless, or may deadlock
};

// The plan of a point, or its errors, a line each. `force`: although it is not lossless, or may deadlock.
tl::expected<FabricPlan, std::vector<std::string>> plan_of(std::string_view text, const std::string& file,
                                                           const std::vector<std::string>& sets, bool force);

// All points are good (plan_of); EAL does not run in this process.
SweepResult run_sweep(const SweepFolder& folder, std::string_view text, const std::string& file,
                      const std::vector<SweepPoint>& points, const VaryConfig& vary, const EalOptions& eal,
                      const SweepOptions& options);

// The runs of these numbers that have no row yet, likewise. `run_of`: in any process; the row's head says
// which row is this run's. Progress counts these runs alone. Asserts, duration and jobs are those of the
// options.
SweepResult run_rows(const SweepFolder& folder, std::string_view text, const std::string& file,
                     const std::vector<std::size_t>& runs,
                     const std::function<SweepRun(std::size_t run)>& run_of, const EalOptions& eal,
                     const SweepOptions& options);

}  // namespace sluice::fabric
