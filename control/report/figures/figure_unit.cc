#include "control/report/figures/figure_unit.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/quantity_text.hh"
#include "control/report/figures/figures.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr double most = 1e18;  // that is written with all of its digits

std::optional<double> number_before(std::string_view text, char unit) {
    if (!text.ends_with(unit)) return std::nullopt;
    const Json number = Json::parse(text.substr(0, text.size() - 1), nullptr, false);
    return number.is_number() ? std::optional(number.get<double>()) : std::nullopt;
}

std::optional<double> share_of(std::string_view text, double whole) {
    if (const auto percent = number_before(text, '%')) return *percent / 100 * whole;
    if (const auto times = number_before(text, 'x')) return *times * whole;
    return std::nullopt;
}

using Reader = Json (*)(const std::string& text);  // null: it is not one
template <auto parse, auto number>
Json read_as(const std::string& text) {
    const auto value = parse(text);
    return value ? Json(number(*value)) : Json();
}
template <int whole>
Json read_share(const std::string& text) {
    const auto share = share_of(text, whole);
    return share ? Json(*share) : Json();
}

struct UnitRule {
    FigureUnit unit;
    std::string_view ending;  // of names
    std::string_view what, example, word;
    Reader read;
};
constexpr std::array rules{
    UnitRule{FigureUnit::bps, "bps", "rate", "90G", "b/s",
             read_as<parse_rate, [](Rate rate) { return rate.bits_per_second; }>},
    UnitRule{FigureUnit::ns, "_ns", "time", "2ms", "ns",
             read_as<parse_time, [](Duration time) { return time.ps / 1000; }>},
    UnitRule{FigureUnit::bytes, "bytes", "size", "400KB", "B", read_as<parse_size, std::identity{}>},
    UnitRule{FigureUnit::ppm, "ppm", "share", "5%", "ppm", read_share<1'000'000>},
    UnitRule{FigureUnit::permille, "permille", "share", "5%", "permille", read_share<1000>},
};

const UnitRule* rule_of(FigureUnit unit) {
    const auto* const found = std::ranges::find(rules, unit, &UnitRule::unit);
    return found == rules.end() ? nullptr : found;
}
const UnitRule* rule_by_name(std::string_view name) {
    const auto* const found =
        std::ranges::find_if(rules, [&](const UnitRule& rule) { return name.ends_with(rule.ending); });
    return found == rules.end() ? nullptr : found;
}

std::string rate_text(double bps) {
    if (bps != 0 && bps < 1e6) return grouped_text(static_cast<std::uint64_t>(std::llround(bps))) + " b/s";
    return fmt::format("{:g} Gb/s", std::round(bps / 1e6) / 1e3);
}

}  // namespace

std::string_view unit_part(std::string_view path) {
    const std::string_view last = path.substr(path.rfind('.') + 1);  // npos + 1 is 0
    for (std::string_view rest = path;;) {
        const std::size_t dot = rest.rfind('.');
        const std::string_view part = rest.substr(dot + 1);
        if (rule_by_name(part) != nullptr) return part;
        if (dot == rest.npos) return last;
        rest = rest.substr(0, dot);
    }
}

FigureUnit unit_of(std::string_view path) {
    if (const Figure* row = row_of(path); row != nullptr) return row->unit;
    const UnitRule* rule = rule_by_name(unit_part(path));
    return rule == nullptr ? FigureUnit::none : rule->unit;
}

Json read_value(const std::string& text, FigureUnit unit) {
    if (text == "true" || text == "false") return text == "true";
    if (text == "null") return nullptr;
    if (Json number = Json::parse(text, nullptr, false); number.is_number()) return number;
    const UnitRule* rule = rule_of(unit);
    Json value = rule == nullptr ? read_share<1>(text) : rule->read(text);
    return value.is_null() ? Json(text) : value;
}

std::string value_error(const std::string& text, std::string_view path, bool is_number) {
    const bool is_truth = text == "true" || text == "false";
    if (text == "null") return {};
    const Figure* row = row_of(path);
    const std::string_view name = unit_part(path);
    if (row != nullptr && row->kind == FigureKind::flag)
        return is_truth ? ""
                        : fmt::format("{} cannot be compared with {}, which is true or false",
                                      in_quotes(text), path.substr(path.rfind('.') + 1));
    if (is_truth || Json::parse(text, nullptr, false).is_number()) return {};
    if (const UnitRule* rule = rule_of(unit_of(path)); rule != nullptr)
        return !rule->read(text).is_null() ? ""
                                           : fmt::format("{} is not a {}, as {} is; write for example {}",
                                                         in_quotes(text), rule->what, name, rule->example);
    const bool counts = row != nullptr && row->kind != FigureKind::text;
    const bool has_unit =
        std::ranges::any_of(rules, [&](const UnitRule& rule) { return !rule.read(text).is_null(); });
    return (is_number || counts) && has_unit
               ? fmt::format("{} is not a number without a unit, as {} is; write for example 5",
                             in_quotes(text), name)
               : "";
}

std::string figure_text(const Json& value, FigureUnit unit) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number()) return json_text(value);
    const auto number = value.get<double>();
    if (number < 0 || number > most) return fmt::format("{:.4g}", number);
    const auto whole =
        value.is_number_float() ? static_cast<std::uint64_t>(std::round(number)) : value.get<std::uint64_t>();
    switch (unit) {
        case FigureUnit::bytes:
            return size_text(whole);
        case FigureUnit::ns:
            return time_text(whole);
        case FigureUnit::bps:
            return rate_text(number);
        case FigureUnit::mc:
            return fmt::format("{:.1f} C", number / 1000);
        case FigureUnit::ppm:
            return fmt::format("{:.2f} %", number / 1e4);
        case FigureUnit::permille:
            return fmt::format("{:.2f}x", number / 1e3);
        default:
            return value.is_number_float() ? fmt::format("{:.4g}", number) : grouped_text(whole);
    }
}

std::string exact_text(const Json& value, FigureUnit unit) {
    const std::string text =
        value.is_number_integer() ? grouped_text(value.get<std::uint64_t>()) : json_text(value);
    const UnitRule* rule = rule_of(unit);
    return rule == nullptr ? text : fmt::format("{} {}", text, rule->word);
}

}  // namespace sluice
