// The conditions of --assert on a run's report, judged when the run is over.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/report/figures/condition.hh"

namespace sluice {

class Assertions {
  public:
    // The error in the expression, or empty.
    std::string add(std::string expression);
    bool empty() const { return assertions_.empty(); }

    // Before the run, with a report in which nothing has happened yet: expressions that can never be judged,
    // a line each.
    std::vector<std::string> check(const nlohmann::ordered_json& report) const;
    struct Judged {
        std::string text;
        std::string figure;  // that was found
        std::string wrong;   // why it is false; empty: it holds
    };
    // After the run: all of them.
    std::vector<Judged> judge(const nlohmann::ordered_json& report) const;

  private:
    struct Assertion {
        std::string text;
        Condition condition;
    };
    std::vector<Assertion> assertions_;
};

// [{that, value, met, wrong}]: as sluice-fabric's report has them, but that `value` is in words. `met` is
// null where the run was interrupted.
nlohmann::ordered_json assertions_json(const std::vector<Assertions::Judged>& judged, bool interrupted);
// "assertions: 3 of 4 hold", and a line for each; empty: there is none.
std::string assertions_text(const std::vector<Assertions::Judged>& judged);

}  // namespace sluice
