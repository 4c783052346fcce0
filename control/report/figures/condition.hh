// A condition on the report, for scripts and gates: "queue p1.3 dropped eq 0", "port p0 up",
// "ports.p0.drops.no_route lt 3", "verdict.lossless".
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace sluice {

enum class Comparison : std::uint8_t { equal, unequal, below, at_most, above, at_least };

// "eq", or "==".
tl::expected<Comparison, std::string> read_comparison(std::string_view word);
// A value as a report has it: a number, in the unit that the name of `field` ends with ("90G" of a field in
// bps, "2ms", "400KB", "5%" of one in ppm or permille, and of a ratio); true, false, null; else text.
nlohmann::ordered_json wanted_value(const std::string& text, std::string_view field);
// Whether figures of that name have a unit.
bool names_unit(std::string_view name);
// The part of a path that tells the unit: completion_ns of flows.f.completion_ns.p99; else the last.
std::string_view unit_part(std::string_view path);
// Why no figure of that name can be compared with `text`, or no number of it; empty: one may.
std::string value_error(const std::string& text, std::string_view name, bool is_number);
// An error when the two cannot be compared.
tl::expected<bool, std::string> compare(const nlohmann::ordered_json& value, Comparison comparison,
                                        const nlohmann::ordered_json& wanted);

struct Condition {
    std::string path;   // of the part of the report that holds the field
    std::string field;  // the beginning of its name there; empty: the part itself
    Comparison comparison = Comparison::equal;
    std::string wanted;  // as it was said
    enum class Form : std::uint8_t { compared, bare, link_state };
    Form form = Form::compared;  // bare: nothing but the path of a boolean; "port P up"

    // An error is a sentence that names the wrong words.
    static tl::expected<Condition, std::string> parse(std::span<const std::string> words);
    // The field in the part at `path`; an error where there is none, or several.
    tl::expected<const nlohmann::ordered_json*, std::string> find(const nlohmann::ordered_json& part) const;
    // An error when the two cannot be compared.
    tl::expected<bool, std::string> holds(const nlohmann::ordered_json& value) const;
    // The value in the words of the condition.
    std::string figure(const nlohmann::ordered_json& value) const;
};

}  // namespace sluice
