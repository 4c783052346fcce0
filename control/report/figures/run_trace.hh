// For pictures: the run's name and verdict; by port, the depth of queues, the use, limit and headroom of
// lossless groups in bytes as [start_ps, peak, last] slots, and the pauses that we asserted and obeyed, as
// [at_ps, mask of priorities from then on] and as time in slots; storms, and the first other events.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "control/report/figures/report_hosts.hh"
#include "lib/queue/wred.hh"
#include "lib/record/sample_trace.hh"

namespace sluice {

class RunningSwitch;

// `name`: of the run, for people.
nlohmann::ordered_json make_run_trace(const RunningSwitch& running, const std::string& name);

// Beside them, on the same time axis: rates of flows, marks, CNPs, pauses, drops, and WRED thresholds.
//
// The clock's loop calls it after each instant. It causes no event: a sample is taken at an instant that
// occurs anyway, the first of each microsecond, and of longer slots when there would be too many.
class TraceSamples {
  public:
    static constexpr std::size_t max_samples = 1024;
    static constexpr std::size_t max_thresholds = 64;  // of a queue

    // The switch outlives it.
    explicit TraceSamples(const RunningSwitch& running);

    void sample_instant();
    // Into the object of make_run_trace. The last sample is the end's: its totals are the report's.
    void add_to(nlohmann::ordered_json& trace) const;

  private:
    struct Sample {
        std::uint64_t marked = 0;
        std::uint64_t cnps = 0;
        std::uint64_t pauses = 0;
        std::uint64_t dropped = 0;  // packets
        std::uint64_t lost = 0;     // lossless ones among them
        std::vector<FlowMoment> flows;
    };
    // The curve for green ECT packets, in bytes, from a moment on.
    struct Thresholds {
        Time at;
        std::optional<WredCurve> curve;  // nothing: there is none over the queue's length
    };
    Sample sample() const;
    void look_at_thresholds();
    nlohmann::ordered_json samples_json() const;

    const RunningSwitch& running_;
    SampleTrace<Sample> samples_;
    std::optional<std::uint64_t> generation_;  // of the policy whose thresholds are here
    std::vector<std::array<std::vector<Thresholds>, classes>> thresholds_;  // by port and queue
};

}  // namespace sluice
