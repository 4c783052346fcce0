// Checks of a fabric that parsed: lint of every switch, flows, circles of pauses.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// The findings of one switch, or of the flows of all (empty name).
struct FabricFinding {
    std::string switch_name;
    Finding finding;
    std::size_t others = 0;  // switches that have the same to hear
    std::string text(const std::string& file) const;
};
// Of all; of switches that have the same to hear the first one says it.
class FabricFindings {
  public:
    void add(Finding finding) { all_.push_back({{}, std::move(finding)}); }
    void add(const std::string& switch_name, Finding finding);
    std::vector<FabricFinding>& all() { return all_; }

  private:
    std::vector<FabricFinding> all_;
    std::map<std::string, std::size_t> heard_;
};

// Worst first. `force`: what may be forced (control/config/schema/finding.hh), and a circle of pauses, is no
// error; switches remember it.
std::vector<FabricFinding> judge_plan(FabricPlan& plan, bool force, const Stage& stage = tell_nobody);

// Load balancing against the hosts behind it: what reorders, and what does nothing. `world`: all hosts and
// flows.
void check_load_balance(const FabricPlan& plan, const Config& world, bool force, FabricFindings& findings);

}  // namespace sluice::fabric
