// Expressions that a scenario has over its report: its assertions, those of the file and then those of the
// command line, and the entries of its [goal].
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "control/report/figures/assertions.hh"

namespace sluice::fabric {

class Asserts {
  public:
    // Those that must hold for the scenario's variant, or for any. An error for every expression that is
    // none, of any variant, with its place in `file`.
    static tl::expected<Asserts, std::vector<ConfigError>> of(const ScenarioConfig& scenario,
                                                              const std::string& file,
                                                              const std::vector<std::string>& command_line);
    // A list of expressions of the file, each `wanted` as a truth or as a figure.
    static tl::expected<Asserts, std::vector<ConfigError>> of(
        std::vector<AssertConfig> list, const std::vector<PhaseConfig>& phases, const std::string& file,
        Expression::Wanted wanted = Expression::Wanted::truth);
    bool empty() const { return list_.empty(); }
    std::size_t left_out() const { return left_out_; }  // those of other variants

    // Errors of those that can never be judged: without any run, by the names of its plan.
    std::vector<ConfigError> check(const FabricPlan& plan) const;
    // And before it, as `report` and `phase` (of any phase) are of a run in which nothing has happened.
    std::vector<ConfigError> check(const nlohmann::ordered_json& report,
                                   const nlohmann::ordered_json& phase) const;
    const std::vector<Assertion>& list() const { return list_; }

  private:
    std::vector<ConfigError> errors_of(const std::function<std::string(const Assertion&)>& check) const;

    std::string file_;
    std::vector<Assertion> list_;
    std::vector<AssertConfig> said_;  // of each
    std::size_t left_out_ = 0;
};

}  // namespace sluice::fabric
