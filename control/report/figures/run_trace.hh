// For pictures: the run's name and verdict; by port, the depth of queues, the use, limit and headroom of
// lossless groups in bytes as [start_ps, peak, last] slots, and the pauses that we asserted and obeyed, as
// [at_ps, mask of priorities from then on] and as time in slots; storms, and the first other events. Beside
// them, on the same time axis: rates of flows, marks, CNPs, pauses, drops, and WRED thresholds.
//
// It is written as it is walked: no part of it is in memory as JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/report/figures/report_hosts.hh"
#include "lib/queue/wred.hh"
#include "lib/record/sample_trace.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

class JsonWriter;
class OutputFile;
class RunningSwitch;

// Rates of flows, marks, CNPs, pauses, drops, and WRED thresholds, while the switch runs.
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
    // The changes of a queue's thresholds, as [at_ps, min, max].
    void write_thresholds(JsonWriter& json, PortId port, ClassId queue) const;
    // A column of each figure, under its name in the report. The last sample is the end's: its totals are the
    // report's.
    void write_samples(JsonWriter& json) const;

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

    const RunningSwitch& running_;
    SampleTrace<Sample> samples_;
    std::optional<std::uint64_t> generation_;  // of the policy whose thresholds are here
    std::vector<std::array<std::vector<Thresholds>, classes>> thresholds_;  // by port and queue
};

// Writes one JSON object, without a line's end. `name`: of the run, for people. The file keeps an error for
// its `close`.
void write_run_trace(OutputFile& file, const RunningSwitch& running, const std::string& name,
                     const TraceSamples& samples);

}  // namespace sluice
