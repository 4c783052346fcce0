// Phases of a run as it goes: takes down where each begins and ends.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "control/fabric/plan/scenario_config.hh"
#include "control/fabric/report/phase_report.hh"

namespace sluice::fabric {

class Phases {
  public:
    // Before the run. The fabric's clock goes on to the end of the last phase. The user's watermarks of all
    // switches begin anew with each phase.
    Phases(Fabric& fabric, const std::vector<PhaseConfig>& phases);
    Phases(const Phases&) = delete;
    Phases& operator=(const Phases&) = delete;

    // After the run, which may have ended early. By name, in order of time.
    nlohmann::ordered_json reports();

  private:
    void begin();
    void end(const PhaseConfig& phase);

    Fabric& fabric_;
    const std::vector<PhaseConfig>& phases_;
    std::optional<RunMoment> began_;  // the phase that goes on
    nlohmann::ordered_json reports_ = nlohmann::ordered_json::object();
};

}  // namespace sluice::fabric
