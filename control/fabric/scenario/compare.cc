#include "control/fabric/scenario/compare.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "control/config/text/json_text.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array verdict_words{"same", "too few to say", "within its spread", "changed"};

std::string key_of(const Json& row) { return json_text(row["values"]) + json_text(row["seed"]); }

std::optional<double> figure_of(const Json& row, const std::string& name) {
    const Json* found = nullptr;
    if (row["figures"].contains(name)) found = &row["figures"][name];
    for (const Json& each : row["asserts"])
        if ("holds: " + each["that"].get<std::string>() == name) found = &each["met"];
    if (found == nullptr || found->is_null()) return std::nullopt;
    return found->is_boolean() ? (found->get<bool>() ? 1.0 : 0.0) : found->get<double>();
}

std::vector<std::string> names_of(const std::vector<Json>& rows) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const Json& row : rows) {
        for (const auto& [name, value] : row["figures"].items())
            if (value.is_number() || value.is_boolean()) add(name);
        for (const Json& each : row["asserts"]) add("holds: " + each["that"].get<std::string>());
    }
    return names;
}

// The figure of each run that has it.
std::vector<Sample> samples_of(const std::vector<Json>& rows, const std::string& name) {
    std::vector<Sample> samples;
    for (const Json& row : rows)
        if (const auto value = figure_of(row, name)) samples.push_back({key_of(row), *value});
    return samples;
}

}  // namespace

std::vector<FigureChange> compare_rows(const std::vector<Json>& before, const std::vector<Json>& after) {
    std::vector<Json> all = before;
    all.insert(all.end(), after.begin(), after.end());
    std::vector<FigureChange> changes;
    for (const std::string& name : names_of(all))
        changes.push_back(change_of(name, samples_of(before, name), samples_of(after, name)));
    return changes;
}

bool differ(const std::vector<FigureChange>& changes) {
    return std::ranges::any_of(changes, [](const FigureChange& each) {
        return each.verdict == FigureChange::Verdict::changed ||
               each.verdict == FigureChange::Verdict::too_few;
    });
}

Json changes_json(const std::vector<FigureChange>& changes) {
    Json figures = Json::array();
    for (const FigureChange& each : changes)
        figures.push_back({{"figure", each.figure},
                           {"verdict", verdict_words.at(static_cast<std::size_t>(each.verdict))},
                           {"before", each.before},
                           {"after", each.after},
                           {"half_width", each.half_width},
                           {"runs_before", each.runs_before},
                           {"runs_after", each.runs_after},
                           {"paired", each.paired}});
    return {{"differ", differ(changes)}, {"figures", std::move(figures)}};
}

std::string changes_text(const std::vector<FigureChange>& changes) {
    using Verdict = FigureChange::Verdict;
    TextTable table("figure<28|before>16|after>16|change>12|95 % within>14|<");
    for (const FigureChange& each : changes) {
        if (each.verdict == Verdict::same) continue;
        std::string share = "-", spread = "-",
                    words = verdict_words.at(static_cast<std::size_t>(each.verdict));
        if (each.before != 0) {
            share = fmt::format("{:+.2f} %", (each.after - each.before) / each.before * 100);
            if (each.verdict != Verdict::too_few)
                spread = fmt::format("+-{:.2f} %", each.half_width / std::abs(each.before) * 100);
        }
        if (!each.paired)
            words += fmt::format(" (not paired: {} and {} runs)", each.runs_before, each.runs_after);
        table.row({each.figure, fmt::format("{:.6g}", each.before), fmt::format("{:.6g}", each.after), share,
                   spread, words});
    }
    const auto same = std::ranges::count(changes, Verdict::same, &FigureChange::verdict);
    return table.text().erase(0, 1) +
           fmt::format("{} of {} figures are the same in every run\n", same, changes.size());
}

}  // namespace sluice::fabric
