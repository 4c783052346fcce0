// The rows of a sweep: what a run came to in one line, and tables of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/fabric/scenario/points.hh"

namespace sluice::fabric {

// run, version, fingerprint, seed, values, met, figures, asserts, error. `fingerprint`: of the sweep, as its
// manifest (sweep_folder.hh) has it.
nlohmann::ordered_json make_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary,
                                const std::string& fingerprint, const nlohmann::ordered_json& report);
nlohmann::ordered_json error_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary,
                                 const std::string& fingerprint, const std::string& error);

// Whether it has the members of a row, each of its kind.
bool is_row(const nlohmann::ordered_json& row);

std::string jsonl_text(const std::vector<nlohmann::ordered_json>& rows);
// A column for each value, figure and assertion; a heading line.
std::string csv_text(const std::vector<nlohmann::ordered_json>& rows);

}  // namespace sluice::fabric
