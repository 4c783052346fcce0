// Figures of a run over time, and the times that messages took, for pictures.
//
// It causes no event: it takes a sample after an instant that occurs anyway, the first of each slot of time
// (lib/record/sample_trace.hh). Depths are those of that instant, so a burst within a slot may be missed; the
// report's watermarks are not sampled.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "control/fabric/report/size_report.hh"
#include "control/fabric/run/fabric.hh"
#include "control/report/figures/report_hosts.hh"
#include "lib/record/sample_trace.hh"

namespace sluice::fabric {

class FabricSeries {
  public:
    static constexpr std::size_t max_samples = 512;  // and the end
    static constexpr std::size_t max_flows = 64;     // in json(): those that delivered most
    static constexpr std::size_t max_queues = 32;    // in json(): the deepest

    explicit FabricSeries(const Fabric& fabric)
        : fabric_(fabric), hosts_(fabric.hosts()) {}  // which outlives it

    // After each instant, on its thread.
    void sample_instant() {
        if (samples_.wants(fabric_.now())) samples_.add(fabric_.now(), sample());
    }
    // After the run. `at_ns`, and a column of as many figures for each flow and queue; totals since the
    // start, but for rates and depths. The last sample is the end's: its totals are the report's.
    // `completions`: completion times of messages by flow and by size, each at the shares `per_mille`; by
    // size also their slowdowns.
    nlohmann::ordered_json json(const SizeReport& sizes) const;

  private:
    struct Depth {
        std::uint32_t queue;  // (switch, port, class) counted through
        std::uint32_t cells;
    };
    struct Sample {
        std::uint64_t marked = 0, cnps = 0, pauses = 0;
        std::vector<FlowMoment> flows;
        std::vector<Depth> depths;  // of queues that are not empty
    };
    Sample sample() const;
    nlohmann::ordered_json flows_json(const std::vector<const Sample*>& samples) const;
    nlohmann::ordered_json queues_json(const std::vector<const Sample*>& samples) const;
    nlohmann::ordered_json completions_json(const SizeReport& sizes) const;

    const Fabric& fabric_;
    std::vector<const HostPort*> hosts_;
    SampleTrace<Sample> samples_{max_samples, microseconds(1)};
};

}  // namespace sluice::fabric
