// Collects decision records and microbursts from the workers' rings, and counts the lost ones. Control drains
// it after every step of the virtual clock, so a ring need only hold an instant's events.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/decisions/decision_joiner.hh"
#include "control/config/schema/config.hh"
#include "dataplane/base/output_file.hh"
#include "lib/record/microburst.hh"

namespace sluice {

class Switch;

class Observation {
  public:
    static constexpr std::size_t max_microbursts = 1000;

    // Opens the file for records, if configured. `max_open`: packets that can be in the switch. `timeline`,
    // which outlives this or is null: see json_line.
    static tl::expected<std::unique_ptr<Observation>, std::string> create(const Config& config,
                                                                          PortNames ports,
                                                                          std::size_t max_open,
                                                                          const CaptureTimeline* timeline);

    void drain(Switch& device);
    // After the last turn. An error's text, or empty.
    std::string finish(Switch& device, Time now);

    RecordMode mode() const { return mode_; }
    // Null: nothing is ever recorded.
    const DecisionJoiner* log() const { return log_.get(); }
    std::uint64_t decisions_lost() const { return decisions_lost_; }  // events that did not fit a ring
    const PortNames& ports() const { return ports_; }
    // In the order of their ends; those that outlast the run come last.
    struct Burst {
        Microburst burst;
        std::uint64_t threshold_bytes;
        std::uint64_t peak_bytes;
        bool ended;
    };
    const std::vector<Burst>& microbursts() const { return bursts_; }
    std::uint64_t microbursts_left_out() const { return left_out_; }

  private:
    Observation(const Config& config, PortNames ports, std::size_t max_open, const CaptureTimeline* timeline);
    void drain_decisions(Switch& device);
    void drain_microbursts(Switch& device);
    void keep(const Switch& device, std::vector<Microburst>& bursts, bool ended);

    PortNames ports_;
    RecordMode mode_;
    std::string path_;
    std::unique_ptr<OutputFile> file_;     // null: only the report says why
    std::unique_ptr<DecisionJoiner> log_;  // null: nothing is ever recorded
    std::uint64_t decisions_lost_ = 0;
    std::vector<Burst> bursts_;
    std::uint64_t left_out_ = 0;
};

}  // namespace sluice
