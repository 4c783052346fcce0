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
    std::size_t others = 0;  // switches with the same finding
    std::string text(const std::string& file) const;
};
// The findings of all switches. One that several switches have is told of the first.
class FabricFindings {
  public:
    void add(const std::string& switch_name, Finding finding);
    void add(Severity severity, std::string id, std::string path, std::string message, std::string fix,
             SourcePlace place = {}, const std::string& switch_name = {}) {
        add(switch_name,
            {severity, std::move(id), std::move(path), std::move(message), std::move(fix), place});
    }
    std::vector<FabricFinding>& all() { return all_; }

  private:
    std::vector<FabricFinding> all_;
    std::map<std::string, std::size_t> heard_;
};

// Worst first. `force`: an error that may be forced (control/config/schema/finding.hh), and a circle of
// pauses, is a warning; switches remember it.
std::vector<FabricFinding> judge_plan(FabricPlan& plan, bool force, const Stage& stage = tell_nobody);

// Load balancing that reorders for hosts that go back N, or that does nothing. `world`: all hosts, flows.
void check_load_balance(const FabricPlan& plan, const Config& world, bool force, FabricFindings& findings);

}  // namespace sluice::fabric
