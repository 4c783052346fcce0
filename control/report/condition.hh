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

struct Condition {
    std::string path;   // of the part of the report that holds the field
    std::string field;  // what begins its name there; empty: the part itself
    Comparison comparison = Comparison::equal;
    std::string wanted;  // as it was said
    enum class Form : std::uint8_t { compared, bare, link_state };
    Form form = Form::compared;  // bare: nothing but a path, of what is true or false; "port P up"

    // An error is a sentence that says what is wrong with the words.
    static tl::expected<Condition, std::string> parse(std::span<const std::string> words);
    // The field in what `path` gave; an error where there is none, or several.
    tl::expected<const nlohmann::ordered_json*, std::string> find(const nlohmann::ordered_json& part) const;
    // An error when the two cannot be compared.
    tl::expected<bool, std::string> holds(const nlohmann::ordered_json& value) const;
    // The value in the words of the condition.
    std::string figure(const nlohmann::ordered_json& value) const;
};

}  // namespace sluice
