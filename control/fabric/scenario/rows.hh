// The rows of a sweep: what a run came to in one line, and tables of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/scenario/points.hh"
#include "control/report/figures/shaped_json.hh"

namespace sluice::fabric {

// run, version, fingerprint, seed, values, met, figures, asserts, error. `fingerprint`: of the sweep, as its
// manifest (sweep_folder.hh) has it.
nlohmann::ordered_json make_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary,
                                const std::string& fingerprint, const nlohmann::ordered_json& report);
nlohmann::ordered_json error_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary,
                                 const std::string& fingerprint, const std::string& error);

// What a row that comes from a file has at least.
const JsonShape& shape_of_row();
// A figure that every run has, unless it ended with an error, and that this row has not; empty: none.
std::string figure_missing(const nlohmann::ordered_json& row);

std::string jsonl_text(const std::vector<nlohmann::ordered_json>& rows);
// A column for each value, figure and assertion; a heading line.
std::string csv_text(const std::vector<nlohmann::ordered_json>& rows);

}  // namespace sluice::fabric
