// The goal of a sweep or a search: what must hold in each run of a point, and which figures should be small.
//
// [goal] of a fabric's file, read and judged on the report of a run. Which point is best is ranking.hh's.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/goal/asserts.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

class Goal {
  public:
    // An error for every expression that is none, with its place in `file`. The scenario has a goal.
    static tl::expected<Goal, std::vector<ConfigError>> of(const ScenarioConfig& scenario,
                                                           const std::string& file);

    // Errors of entries that can never be judged: without any run, by the names of its plan.
    std::vector<ConfigError> check(const FabricPlan& plan) const;
    // And before it, as `report` and `phase` (of any phase) are of a run in which nothing has happened.
    std::vector<ConfigError> check(const nlohmann::ordered_json& report,
                                   const nlohmann::ordered_json& phase) const;

    // The report of a run (with exact quantiles: report/exact_quantiles.hh) as {keep, least}, lists in the
    // order of the file: of each {that, phase, value, met, where, wrong}. Of `least` `met` says that there is
    // a number; in an interrupted run it is null.
    nlohmann::ordered_json judge(const nlohmann::ordered_json& report) const;
    // The goal itself: {keep[]{that, phase}, least[]{that, phase, within}}. `within`: the share of a figure
    // below which two values of it are not told apart, from 0 to 1.
    nlohmann::ordered_json json() const;

  private:
    Goal(Asserts keep, Asserts least, double tolerance)
        : keep_(std::move(keep)), least_(std::move(least)), tolerance_(tolerance) {}

    Asserts keep_, least_;
    double tolerance_;
};

// "THAT", or "THAT in PHASE", of what is judged.
std::string entry_text(const nlohmann::ordered_json& judged);
// The unit of an entry, for people: at `where` of its judgment.
FigureUnit unit_of_least(const std::string& that, const std::string& where);
FigureUnit unit_of_keep(const std::string& that, const std::string& where);
// True when an entry of `keep` would hold with another figure there; nothing: it compares no number.
std::optional<bool> keeps_at(const std::string& that, const std::string& where, double value);

}  // namespace sluice::fabric
