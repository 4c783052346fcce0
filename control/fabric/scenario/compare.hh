// Compares two sets of runs: each figure's mean, and the difference with its spread over seeds
// (goal/spread.hh).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/goal/spread.hh"

namespace sluice::fabric {

// In the order of the rows' figures; assertions count as the share of runs in which they hold.
std::vector<FigureChange> compare_rows(const std::vector<nlohmann::ordered_json>& before,
                                       const std::vector<nlohmann::ordered_json>& after);
// True when a figure differs by more than its spread, or in too few runs to say.
bool differ(const std::vector<FigureChange>& changes);
nlohmann::ordered_json changes_json(const std::vector<FigureChange>& changes);
std::string changes_text(const std::vector<FigureChange>& changes);

// The differences between the reports of two runs, of sluiced or of sluice-fabric: {differ, totals,
// configuration, assertions, message_sizes, flows, figures}, the lists with {figure, before, after}, the
// largest difference first; message_sizes with {size, before, after}, every class of the report's, if any
// differs. Null: it is not there; of a key of the configuration: its default. Any JSON will do.
//
// Entries of a list are the same ones where they have the same name, port, queue and the like, else by place.
// Lists that grow (events, pauses) differ by their lengths.
inline constexpr int max_report_levels = 32;  // of what `compare_reports` takes

nlohmann::ordered_json compare_reports(const nlohmann::ordered_json& before,
                                       const nlohmann::ordered_json& after);
// Tables, with `rows_shown` of each list.
std::string differences_text(const nlohmann::ordered_json& differences, std::size_t rows_shown);

}  // namespace sluice::fabric
