// Names of nodes in a fabric's file, and what is wrong with the file as a fabric. Private to the makers of a
// plan.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

class PlanNames {
  public:
    // The plan has its topology and nodes before a name is asked for.
    explicit PlanNames(FabricPlan& plan) : plan_(plan) {}

    std::vector<ConfigError>& errors() { return errors_; }
    void refuse(SourcePlace place, std::string path, std::string wrong, std::string remedy);

    bool is(const std::string& name, bool host) const;
    // There is no such host or switch.
    void unknown(SourcePlace place, std::string path, const std::string& name, bool host);
    // Each once, in the order named: "h1..h8", a switch's name for its hosts, "all".
    std::vector<std::string> expand(const std::vector<std::string>& names, SourcePlace place,
                                    const std::string& path);

  private:
    FabricPlan& plan_;
    std::vector<ConfigError> errors_;
};

// Gives collectives and workloads the hosts and starts of their jobs. Each that has none is a job of its
// name. False: there is an error.
bool place_jobs(FabricPlan& plan, PlanNames& names);

}  // namespace sluice::fabric
