// The report of a phase, which is between two moments of a run.
//
// Counters are differences; of times that messages took, those of the messages that ended in the phase, and
// of collectives those of the steps that did; rates are those of the phase. Gauges are as of its end.
// Watermarks since the start say nothing of a phase and are left out; queues have those since the phase began
// (user_deepest_bytes, user_watermark_bytes), and with results.depths depth_bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "control/fabric/report/collective_report.hh"
#include "control/fabric/run/fabric.hh"
#include "lib/roce/nic_statistics.hh"

namespace sluice::fabric {

// A run at one moment.
struct RunMoment {
    Time at;
    nlohmann::ordered_json figures;  // of figures_json at least
    std::vector<roce::FlowStatistics> flows;
    std::vector<CollectiveMoment> collectives;
};
RunMoment moment_of(Fabric& fabric);

// `to` is now. Every figure is there.
nlohmann::ordered_json phase_report(const Fabric& fabric, const RunMoment& from, const RunMoment& to);

// For a file, where most figures of most ports are zero: keeps of the switches' ports the figures that are
// not zero, false or empty, and texts that differ from the whole run's.
void shorten_phase(nlohmann::ordered_json& phase, const nlohmann::ordered_json& whole);

}  // namespace sluice::fabric
