// The unit of a figure, values that a person writes in it, and figures that a person reads in it: the one
// rule for expressions, assertions, comparisons and tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "control/report/figures/figures.hh"

namespace sluice {

// By the catalogue, else by the end of a name (completion_ns.p99). A part of the path may be a pattern.
FigureUnit unit_of(std::string_view path);
// The part of a path that tells the unit; else the last.
std::string_view unit_part(std::string_view path);

// "90G" of bps, "2ms" of ns, "400KB" of bytes, "5%" of ppm, permille and ratios ("1.2x" of these, too), true,
// false, null, a number, or else text.
nlohmann::ordered_json read_value(const std::string& text, FigureUnit unit);
// The reason why figures (or numbers) of `path` cannot be compared with `text`; empty: they can.
std::string value_error(const std::string& text, std::string_view path, bool is_number);

// "61.2 Gb/s", "12.5 us", "400.0 KB", "51.86 %", "1.23x", "12 345", "true".
std::string figure_text(const nlohmann::ordered_json& value, FigureUnit unit);
// A number as the report has it, with its unit: "2 000 012 ns".
std::string exact_text(const nlohmann::ordered_json& value, FigureUnit unit);

}  // namespace sluice
