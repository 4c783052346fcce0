#include "control/fabric/goal/ranking.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/fabric/goal/goal.hh"
#include "control/report/figures/figure_unit.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array decided_words{"only_point", "least", "keys_changed", "first_run"};

unsigned changed_in(const Json& values, const Json& today) {
    unsigned changed = 0;
    for (const auto& [path, value] : values.items()) {
        const auto own = today.find(path);
        changed += own == today.end() || std::ranges::find(*own, value) == own->end() ? 1 : 0;
    }
    return changed;
}

void add_run(JudgedPoint& point, const Json& row) {
    point.runs.push_back(row["run"].get<std::size_t>());
    const auto fails = [&](std::string text) {
        if (point.wrong.empty()) point.wrong = std::move(text);
    };
    if (!row["error"].is_null()) {
        point.is_judged = false;
        return fails(row["error"].get<std::string>());
    }
    const Json &keep = row["goal"]["keep"], &least = row["goal"]["least"];
    for (std::size_t n = 0; n < keep.size(); ++n) {
        const Json& each = keep[n];
        if (each["met"] == true) {
            ++point.kept[n];
            continue;
        }
        const auto expression = Expression::parse(each["that"].get<std::string>());
        auto wrong = each["wrong"].get<std::string>();
        if (expression)
            wrong = expression->finding(
                {false, each["value"], each["where"].get<std::string>(), std::move(wrong), false});
        fails(fmt::format("{}: {}", entry_text(each), wrong));
    }
    for (std::size_t n = 0; n < least.size(); ++n) {
        const Json& each = least[n];
        if (!each["value"].is_number()) {
            fails(fmt::format("{}: {}", entry_text(each), each["wrong"].get<std::string>()));
            continue;
        }
        if (point.where[n].empty()) point.where[n] = each["where"].get<std::string>();
        point.least[n].push_back({json_text(row["seed"]), each["value"].get<double>()});
    }
}

std::string runs_text(const std::vector<std::size_t>& runs) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t n = 0; n < std::min(runs.size(), most); ++n)
        append_item(text, ", ", std::to_string(runs[n]));
    return runs.size() > most ? fmt::format("{} and {} more", text, runs.size() - most) : text;
}

}  // namespace

std::string values_text(const Json& values) {
    std::string text;
    for (const auto& [path, value] : values.items())
        append_item(
            text, ", ",
            fmt::format("{} = {}", path, value.is_string() ? value.get<std::string>() : json_text(value)));
    return text;
}

bool JudgedPoint::may_be_chosen() const {
    const auto in_all = [&](std::size_t count) { return count == runs.size(); };
    return is_judged && std::ranges::all_of(kept, in_all) &&
           std::ranges::all_of(least, in_all, [](const auto& figures) { return figures.size(); });
}

std::size_t JudgedPoint::held() const {
    return static_cast<std::size_t>(std::ranges::count(kept, runs.size()));
}

std::vector<JudgedPoint> judged_points(const std::vector<Json>& rows, const Json& goal) {
    std::vector<JudgedPoint> points;
    std::map<std::string, std::size_t> at;  // by values
    for (const Json& row : rows) {
        const auto [known, is_new] = at.try_emplace(json_text(row["values"]), points.size());
        if (is_new) {
            JudgedPoint& made = points.emplace_back();
            made.values = row["values"];
            made.keys_changed = changed_in(made.values, goal["today"]);
            made.kept.resize(goal["keep"].size());
            made.least.resize(goal["least"].size());
            made.where.resize(goal["least"].size());
        }
        add_run(points[known->second], row);
    }
    return points;
}

Ranking::Ranking(Json goal, std::vector<JudgedPoint> points)
    : goal_(std::move(goal)), points_(std::move(points)) {
    for (std::size_t n = 0; n < points_.size(); ++n)
        if (points_[n].may_be_chosen()) candidates_.push_back(n);
}

double Ranking::mean(std::size_t entry, std::size_t point) const {
    return spread_of(points_[point].least[entry]).mean;
}

FigureChange Ranking::change(std::size_t entry, std::size_t from, std::size_t to) const {
    return change_of(entry_text(goal_["least"][entry]), points_[from].least[entry], points_[to].least[entry]);
}

bool Ranking::is_told_apart(std::size_t entry, std::size_t from, std::size_t to) const {
    const double before = mean(entry, from), after = mean(entry, to);
    if (std::abs(after - before) <= goal_["least"][entry]["within"].get<double>() * std::abs(before))
        return false;
    return change(entry, from, to).verdict != FigureChange::Verdict::within_spread;
}

bool Ranking::is_better(std::size_t entry, std::size_t from, std::size_t to) const {
    return mean(entry, to) < mean(entry, from) && is_told_apart(entry, from, to);
}

bool Ranking::is_worse(std::size_t entry, std::size_t from, std::size_t to) const {
    return mean(entry, to) > mean(entry, from) && is_told_apart(entry, from, to);
}

Choice Ranking::choose(std::vector<std::size_t> among) const {
    Choice choice;
    const auto narrow = [&](const auto& stays, Choice::By by, std::size_t entry) {
        const std::size_t before = among.size();
        std::erase_if(among, [&](std::size_t point) { return !stays(point); });
        if (before > 1 && among.size() == 1) choice.by = by, choice.entry = entry;
    };
    for (std::size_t entry = 0; entry < goal_["least"].size(); ++entry) {
        const std::size_t leader =
            *std::ranges::min_element(among, {}, [&](std::size_t point) { return mean(entry, point); });
        narrow([&](std::size_t point) { return point == leader || !is_told_apart(entry, leader, point); },
               Choice::By::least, entry);
    }
    choice.alike = among;
    const auto changed = [&](std::size_t point) { return points_[point].keys_changed; };
    const unsigned fewest = changed(*std::ranges::min_element(among, {}, changed));
    narrow([&](std::size_t point) { return changed(point) == fewest; }, Choice::By::keys_changed, 0);
    narrow([&, first = among.front()](std::size_t point) { return point == first; }, Choice::By::first_run,
           0);
    choice.point = among.front();
    std::erase(choice.alike, choice.point);
    return choice;
}

std::vector<Choice> Ranking::best(std::size_t most) const {
    std::vector<Choice> made;
    std::vector<std::size_t> left = candidates_;
    while (!left.empty() && made.size() < most) {
        made.push_back(choose(left));
        std::erase(left, made.back().point);
    }
    return made;
}

std::optional<std::size_t> Ranking::nearest() const {
    std::optional<std::size_t> found;
    const auto rank = [&](std::size_t n) {
        const JudgedPoint& point = points_[n];
        std::size_t runs = 0;
        for (const std::size_t each : point.kept) runs += each;
        return std::pair(point.held(), runs);
    };
    for (std::size_t n = 0; n < points_.size(); ++n)
        if (points_[n].is_judged && (!found || rank(n) > rank(*found))) found = n;
    return found;
}

Json Ranking::json() const {
    Json made = {{"run", nullptr}};
    const std::vector<Choice> chosen = best(1);
    if (chosen.empty()) {
        made["nearest"] = nullptr;
        if (const auto near = nearest())
            made["nearest"] = {{"run", points_[*near].runs.front()},
                               {"values", points_[*near].values},
                               {"wrong", points_[*near].wrong}};
    } else {
        const Choice& choice = chosen.front();
        const JudgedPoint& point = points_[choice.point];
        Json least = Json::array(), same = Json::array();
        for (std::size_t n = 0; n < point.least.size(); ++n) {
            const Spread spread = spread_of(point.least[n]);
            least.push_back({{"that", goal_["least"][n]["that"]},
                             {"phase", goal_["least"][n]["phase"]},
                             {"mean", spread.mean},
                             {"half_width", spread.half_width ? Json(*spread.half_width) : Json()},
                             {"runs", spread.runs}});
        }
        for (const std::size_t each : choice.alike) same.push_back(points_[each].runs.front());
        made = {{"run", point.runs.front()},
                {"runs", point.runs},
                {"values", point.values},
                {"keys_changed", point.keys_changed},
                {"least", std::move(least)},
                {"decided_by", decided_words.at(static_cast<std::size_t>(choice.by))},
                {"same_runs", std::move(same)}};
        if (choice.by == Choice::By::least) made["decided_by"] = goal_["least"][choice.entry]["that"];
    }
    made["points"] = points_.size();
    made["candidates"] = candidates_.size();
    return made;
}

std::string Ranking::text() const {
    const std::vector<Choice> chosen = best(1);
    const std::string kept =
        fmt::format("{} of {} meet the goal", candidates_.size(), print_count(points_.size(), "point"));
    if (chosen.empty()) {
        const auto near = nearest();
        if (!near) return "best: none, no point could be judged\n";
        const JudgedPoint& point = points_[*near];
        return fmt::format("best: none, {}; the nearest is run {} ({}), where this fails:\n    {}\n", kept,
                           point.runs.front(), values_text(point.values), point.wrong);
    }
    const Choice& choice = chosen.front();
    const JudgedPoint& point = points_[choice.point];
    std::string text =
        fmt::format("best: run {} ({}); {}\n", point.runs.front(), values_text(point.values), kept);
    for (std::size_t n = 0; n < point.least.size(); ++n) {
        const Json& entry = goal_["least"][n];
        const FigureUnit unit = unit_of_least(entry["that"].get<std::string>(), point.where[n]);
        const Spread spread = spread_of(point.least[n]);
        std::string figure = figure_text(number_json(spread.mean), unit);
        if (spread.half_width) figure += " +-" + figure_text(number_json(*spread.half_width), unit);
        text += fmt::format("    {:<24} {}\n", figure, entry_text(entry));
    }
    std::vector<std::size_t> same;
    for (const std::size_t each : choice.alike) same.push_back(points_[each].runs.front());
    const char* words =
        choice.by == Choice::By::keys_changed ? "it changes the fewest keys" : "it is the first of them";
    if (!same.empty())
        text += fmt::format("    no difference from {} {}: {}\n", same.size() == 1 ? "run" : "runs",
                            runs_text(same), words);
    if (point.runs.size() > 1 && point.runs.size() < fewest_runs)
        text += fmt::format("    {} a point are too few for a spread; do: seeds = {} or more\n",
                            print_count(point.runs.size(), "seed"), fewest_runs);
    return text;
}

}  // namespace sluice::fabric
