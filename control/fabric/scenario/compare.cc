#include "control/fabric/scenario/compare.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "control/config/text/json_text.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// 0.975 quantiles of Student's t by degrees of freedom, from 1; beyond the table of the normal one.
constexpr std::array t_table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

constexpr std::array verdict_words{"same", "too few to say", "within its spread", "changed"};

double t_quantile(double freedom) {
    const auto whole = static_cast<std::size_t>(std::max(freedom, 1.0));
    return whole <= t_table.size() ? t_table[whole - 1] : 1.96;
}

struct Moments {
    double mean = 0, variance = 0;  // of the sample
};

Moments moments(const std::vector<double>& values) {
    Moments found;
    for (const double value : values) found.mean += value / static_cast<double>(values.size());
    for (const double value : values) found.variance += (value - found.mean) * (value - found.mean);
    found.variance = values.size() < 2 ? 0 : found.variance / static_cast<double>(values.size() - 1);
    return found;
}

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

std::vector<double> values_of(const std::vector<Json>& rows, const std::string& name) {
    std::vector<double> values;
    for (const Json& row : rows)
        if (const auto value = figure_of(row, name)) values.push_back(*value);
    return values;
}

FigureChange change_of(const std::string& name, const std::vector<Json>& before,
                       const std::vector<Json>& after, const std::map<std::string, const Json*>& by_key) {
    FigureChange change;
    change.figure = name;
    std::vector<double> differences;
    for (const Json& row : after)
        if (const auto found = by_key.find(key_of(row)); found != by_key.end()) {
            const auto one = figure_of(*found->second, name), other = figure_of(row, name);
            if (one && other) differences.push_back(*other - *one);
        }
    const std::vector<double> a = values_of(before, name), b = values_of(after, name);
    change.runs_before = a.size(), change.runs_after = b.size();
    const Moments of_a = moments(a), of_b = moments(b);
    change.before = of_a.mean, change.after = of_b.mean;
    change.paired = differences.size() == a.size() && differences.size() == b.size();
    if (a == b) return change;
    if (std::min(a.size(), b.size()) < fewest_runs) {
        change.verdict = FigureChange::Verdict::too_few;
        return change;
    }
    if (change.paired) {
        const Moments of_both = moments(differences);
        const auto count = static_cast<double>(differences.size());
        change.half_width = t_quantile(count - 1) * std::sqrt(of_both.variance / count);
    } else {
        const double x = of_a.variance / static_cast<double>(a.size()),
                     y = of_b.variance / static_cast<double>(b.size());
        const double freedom =
            x + y == 0
                ? 1
                : (x + y) * (x + y) /
                      (x * x / static_cast<double>(a.size() - 1) + y * y / static_cast<double>(b.size() - 1));
        change.half_width = t_quantile(freedom) * std::sqrt(x + y);
    }
    change.verdict = std::abs(change.after - change.before) > change.half_width
                         ? FigureChange::Verdict::changed
                         : FigureChange::Verdict::within_spread;
    return change;
}

}  // namespace

std::vector<FigureChange> compare_rows(const std::vector<Json>& before, const std::vector<Json>& after) {
    std::map<std::string, const Json*> by_key;
    for (const Json& row : before) by_key.emplace(key_of(row), &row);
    std::vector<Json> all = before;
    all.insert(all.end(), after.begin(), after.end());
    std::vector<FigureChange> changes;
    for (const std::string& name : names_of(all)) changes.push_back(change_of(name, before, after, by_key));
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
