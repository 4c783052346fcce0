// The conditions of --assert on a run's report, judged when the run is over.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/report/condition.hh"

namespace sluice {

class Assertions {
  public:
    // The error in the expression, or empty.
    std::string add(std::string expression);
    bool empty() const { return assertions_.empty(); }

    // Before the run, with a report in which nothing has happened yet: expressions that can never be judged,
    // a line each.
    std::vector<std::string> check(const nlohmann::ordered_json& report) const;
    // After the run: those that are false, with the figure found, a line each.
    std::vector<std::string> failures(const nlohmann::ordered_json& report) const;

  private:
    struct Assertion {
        std::string text;
        Condition condition;
    };
    std::vector<Assertion> assertions_;
};

}  // namespace sluice
