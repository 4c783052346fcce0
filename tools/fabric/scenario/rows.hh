// The rows of a sweep: what a run came to in one line, and tables of them on disk.
//
// DIR/runs/NNNNNN.json has the row of a run as soon as it is over, so that a sweep that was stopped goes on
// where it was; DIR/sweep.jsonl and DIR/sweep.csv have all of them in the order of points.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/fabric/scenario/points.hh"

namespace sluice::fabric {

// What a row was made of: the file, what was set, and the point. A row with another mark is of another sweep.
std::string fingerprint(std::string_view text, const std::vector<std::string>& sets);

// run, fingerprint, seed, values, met, figures, asserts, error.
nlohmann::ordered_json make_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary,
                                const std::string& fingerprint, const nlohmann::ordered_json& report);
nlohmann::ordered_json error_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary,
                                 const std::string& fingerprint, const std::string& error);

std::string row_file(const std::string& folder, std::size_t run);
// Null: there is none, or it is no row.
nlohmann::ordered_json load_row(const std::string& folder, std::size_t run);
// The rows in `folder`/runs by their run, or of `folder`/sweep.jsonl; an error's text.
tl::expected<std::vector<nlohmann::ordered_json>, std::string> load_rows(const std::string& folder);

std::string jsonl_text(const std::vector<nlohmann::ordered_json>& rows);
// A column for each value, figure and assertion; a heading line.
std::string csv_text(const std::vector<nlohmann::ordered_json>& rows);

}  // namespace sluice::fabric
