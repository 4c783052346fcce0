#include "control/fabric/advise/answer_page.hh"

#include <optional>
#include <utility>
#include <vector>

#include "control/fabric/advise/answer.hh"
#include "control/fabric/advise/grids.hh"
#include "control/fabric/goal/goal.hh"
#include "control/report/figures/figure_unit.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of_unit(FigureUnit unit) {
    switch (unit) {
        case FigureUnit::bytes:
            return "bytes";
        case FigureUnit::bps:
            return "bps";
        case FigureUnit::ns:
            return "ns";
        case FigureUnit::ppm:
            return "ppm";
        case FigureUnit::permille:
            return "permille";
        default:
            return "count";
    }
}

FigureUnit unit_of_values(Quantity::Unit unit) {
    switch (unit) {
        case Quantity::Unit::size:
            return FigureUnit::bytes;
        case Quantity::Unit::rate:
            return FigureUnit::bps;
        case Quantity::Unit::time:
            return FigureUnit::ns;
        case Quantity::Unit::plain:
            break;
    }
    return FigureUnit::none;
}

// Values of one key as numbers of one unit; all null where one of them is a word, or of another unit.
struct KeyNumbers {
    std::optional<Quantity::Unit> unit;
    std::vector<Json> numbers;
};
KeyNumbers numbers_of(const std::vector<std::string>& values) {
    KeyNumbers made;
    for (const std::string& value : values) {
        const auto quantity = Quantity::read(value);
        if (!quantity || quantity->unit != made.unit.value_or(quantity->unit))
            return {std::nullopt, std::vector<Json>(values.size())};
        made.unit = quantity->unit;
        constexpr double ps_per_ns = 1000;
        made.numbers.emplace_back(quantity->number / (made.unit == Quantity::Unit::time ? ps_per_ns : 1));
    }
    return made;
}

Json row_for_page(const Json& advice, const Json& row) {
    std::vector<std::string> values{row["at"].get<std::string>(), row["at"].get<std::string>()};
    for (const Json& each : advice["values"])
        if (each["path"] == row["path"]) values[0] = each["today"].get<std::string>();
    for (const Json& each : row["tried"]) values.push_back(each["value"].get<std::string>());
    const auto [unit, numbers] = numbers_of(values);
    Json tried = Json::array();
    for (std::size_t n = 2; n < numbers.size(); ++n) tried.push_back(numbers[n]);
    return {{"unit", name_of_unit(unit ? unit_of_values(*unit) : FigureUnit::none)},
            {"today", numbers[0]},
            {"at", numbers[1]},
            {"tried", std::move(tried)},
            {"says", sensitivity_text(advice, row)}};
}

}  // namespace

Json advice_for_page(const std::string& name, const std::string& question, Json advice) {
    Json units = Json::array(), rows = Json::array(), near = Json::array();
    for (const Json& each : advice["held"]["near"]) near.push_back(near_text(advice, each));
    for (const Json& each : advice["goal"])
        units.push_back(
            name_of_unit(unit_of_least(each["that"].get<std::string>(), each["where"].get<std::string>())));
    for (const Json& each : advice["sensitivity"]) rows.push_back(row_for_page(advice, each));
    return {{"name", name},
            {"question", question},
            {"headline", advice_headline(advice)},
            {"units", std::move(units)},
            {"rows", std::move(rows)},
            {"near", std::move(near)},
            {"advice", std::move(advice)}};
}

std::string advice_page_text(const Json& data) {
    std::string text = advice_text(data["advice"]);
    for (const Json& each : data["advice"]["trials"]) text += each["command"].get<std::string>() + "\n";
    return text;
}

}  // namespace sluice::fabric
