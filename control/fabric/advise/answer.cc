#include "control/fabric/advise/answer.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/fabric/goal/goal.hh"
#include "control/report/figures/measure.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Points = std::vector<AdvisePoint>;

constexpr std::size_t most_in_front = 64;
constexpr double undecided_share = 0.07;  // of a figure: below it nobody asks
constexpr std::size_t most_steps = 4096;  // from the point found to the end of a grid

// A point that was tried beside the one found, with one key changed.
struct Beside {
    std::string value;                    // of the key
    std::size_t run = 0;                  // the worst
    std::uint64_t seed = 0;               // of that run
    std::string wrong{};                  // what fails; empty: nothing
    std::optional<std::size_t> entry{};   // of `least`: the first that differs
    double before = 0, after = 0;         // of that entry
    std::vector<FigureChange> changes{};  // by entry, where nothing fails

    bool is_same() const { return wrong.empty() && !entry; }
    bool is_in_certificate() const { return !wrong.empty() || entry == 0U; }
    Json json() const {
        Json made = {{"value", value}, {"run", run}, {"seed", seed}};
        if (!wrong.empty())
            made["wrong"] = wrong;
        else
            made.update({{"goal", *entry}, {"before", number_json(before)}, {"after", number_json(after)}});
        return made;
    }
    Json tried(bool up) const {
        Json made = {{"side", up ? "above" : "below"},
                     {"value", value},
                     {"run", run},
                     {"wrong", wrong.empty() ? Json() : Json(wrong)},
                     {"change", Json::array()}};
        for (const FigureChange& each : changes)
            made["change"].push_back({{"before", number_json(each.before)},
                                      {"after", number_json(each.after)},
                                      {"spread", number_json(each.half_width)}});
        return made;
    }
};

// The run of a point that fails, else the one whose figure is the largest.
std::pair<std::size_t, std::uint64_t> worst_run(const std::vector<const Json*>& rows, bool fails,
                                                std::size_t entry) {
    const Json* worst = rows.front();
    for (const Json* row : rows) {
        if (fails) {
            const auto holds = [](const Json& each) { return each["met"] == true; };
            if (!(*row)["error"].is_null() || !std::ranges::all_of((*row)["goal"]["keep"], holds) ||
                !std::ranges::all_of((*row)["goal"]["least"], holds)) {
                worst = row;
                break;
            }
            continue;
        }
        const auto figure = [&](const Json& of) { return of["goal"]["least"][entry]["value"].get<double>(); };
        if (figure(*row) > figure(*worst)) worst = row;
    }
    return {(*worst)["run"].get<std::size_t>(), (*worst)["seed"].get<std::uint64_t>()};
}

class AnswerMaker {
  public:
    AnswerMaker(const AdviseQuestion& question, const AdviseState& state)
        : question_(question), state_(state), space_(*question.space) {}

    Json make() const {
        const AdvisePoint& today = question_.today();
        const std::string answer = kind();
        const AdvisePoint& advised = answer == "change" ? state_.found : today;
        Json made = {
            {"answer", answer}, {"today_fails", Json()}, {"goal", goals()}, {"values", Json::array()}};
        if (const std::string fails = today_fails(question_, state_); !fails.empty())
            made["today_fails"] = fails;
        for (std::size_t key = 0; key < space_.keys().size(); ++key) {
            const bool at_edge = advised[key] != today[key] && space_.is_at_edge(advised, key);
            const auto [low, high] = space_.ends(advised, key);
            made["values"].push_back({{"path", space_.keys()[key].path},
                                      {"today", today[key]},
                                      {"advised", advised[key]},
                                      {"edge", at_edge ? Json(low + ".." + high) : Json()}});
        }
        made["base"] = space_.base_sets();
        made["starts"] = Json::array();
        for (const AdviseStart& start : question_.starts)
            made["starts"].push_back(
                {{"name", start.name}, {"source", start.source}, {"values", values(start.point)}});
        made["found"] = state_.found == advised || !state_.keeps ? Json() : values(state_.found);
        made["nearest"] = answer == "none keeps" ? nearest() : Json();
        made["headroom"] = Json::array();
        for (const AdviseHeadroom& each : space_.headroom())
            made["headroom"].push_back({{"port", each.port},
                                        {"today", each.today_bytes},
                                        {"computed", each.computed_bytes},
                                        {"edit", each.edit.empty() ? Json() : Json(each.edit)}});
        made["held"] = held();
        made["gain"] = gains();
        add_front(made);
        made["sensitivity"] = Json::array(), made["certificate"] = Json::array();
        for (std::size_t key = 0; state_.keeps && key < space_.keys().size(); ++key) add_key(key, made);
        made["breaks"] = breaks();
        made["not_tried"] = state_.not_tried;
        made["runs"] = state_.runs.list().size();
        made["packets"] = packets();
        return made;
    }

  private:
    using Ranked = AdviseRuns::Ranked;

    Ranked by_search(const Points& points) const {
        return state_.runs.rank(points, question_.seed, question_.seeds);
    }
    Ranked by_held(const Points& points) const {
        return state_.runs.rank(points, question_.seed + held_seeds_from, question_.seeds);
    }
    Json values(const AdvisePoint& point) const { return head_of(space_, 0, {point}).values; }
    std::size_t entries() const { return question_.goal["least"].size(); }

    // The answer's word: what the point found is on held seeds, beside today's.
    std::string kind() const {
        if (!state_.keeps) return "none keeps";
        if (state_.found == question_.today()) return anything_differs() ? "leave it" : "no difference";
        const Ranked held = by_held({question_.today(), state_.found});
        if (held.points.size() != 2) return "no difference";
        const auto keeps = [&](std::size_t n) { return held.ranking.points()[n].may_be_chosen(); };
        if (!keeps(1)) return keeps(0) ? "leave it" : "none keeps";
        if (!keeps(0)) return "change";
        for (std::size_t entry = 0; entry < entries(); ++entry)
            if (held.ranking.is_told_apart(entry, 0, 1))
                return held.ranking.is_better(entry, 0, 1) ? "change" : "leave it";
        return "no difference";
    }

    // A point that was tried does not keep the goal, or has another figure than today's.
    bool anything_differs() const {
        const AdvisePoint& today = question_.today();
        return std::ranges::any_of(state_.points, [&](const AdvisePoint& point) {
            if (point == today) return false;
            const auto both_seeds =
                static_cast<unsigned>(std::min(state_.runs.rows_of(point, question_.seed, question_.seeds),
                                               state_.runs.rows_of(today, question_.seed, question_.seeds)));
            const Ranked both = state_.runs.rank({today, point}, question_.seed, both_seeds);
            if (both.points.size() != 2) return false;
            if (both.ranking.candidates().size() != 2) return true;
            for (std::size_t entry = 0; entry < entries(); ++entry)
                if (both.ranking.is_told_apart(entry, 0, 1)) return true;
            return false;
        });
    }

    // Entries of `least`, each with the path that gave its figure.
    Json goals() const {
        const Ranked found = by_search({state_.found});
        Json made = Json::array();
        for (std::size_t n = 0; n < entries(); ++n) {
            const Json& entry = question_.goal["least"][n];
            const std::string where =
                found.points.empty() ? std::string() : found.ranking.points()[0].where[n];
            made.push_back({{"that", entry["that"]}, {"phase", entry["phase"]}, {"where", where}});
        }
        return made;
    }

    Json nearest() const {
        const Ranked found = by_search({state_.found});
        if (found.points.empty()) return nullptr;
        const JudgedPoint& point = found.ranking.points()[0];
        std::string wrong = point.wrong;
        if (const Ranked held = by_held({state_.found}); wrong.empty() && !held.points.empty())
            wrong = held.ranking.points()[0].wrong;
        if (wrong.empty())
            wrong = fmt::format("it has run with {} alone", print_count(point.runs.size(), "seed"));
        return {{"run", point.runs.front()}, {"values", point.values}, {"wrong", std::move(wrong)}};
    }

    // What the found set keeps on held seeds, and may not keep on another.
    Json near() const {
        Json made = Json::array();
        if (!state_.keeps) return made;
        for (std::size_t n = 0; n < question_.goal["keep"].size(); ++n) {
            std::vector<Sample> figures;
            Json judged;
            for (unsigned seed = 0; seed < question_.seeds; ++seed) {
                const Json* row = state_.runs.row({state_.found, question_.seed + held_seeds_from + seed});
                if (row == nullptr || !(*row)["error"].is_null()) continue;
                judged = (*row)["goal"]["keep"][n];
                if (judged["value"].is_number() && judged["met"] == true)
                    figures.push_back({std::to_string(seed), judged["value"].get<double>()});
            }
            const Spread spread = spread_of(figures);
            if (figures.size() != question_.seeds || !spread.half_width) continue;
            // A mean has a narrower interval than one more figure.
            const double reach = *spread.half_width * std::sqrt(static_cast<double>(figures.size() + 1));
            const auto that = judged["that"].get<std::string>(), where = judged["where"].get<std::string>();
            const auto fails_at = [&](double value) { return keeps_at(that, where, value) == false; };
            if (!fails_at(spread.mean - reach) && !fails_at(spread.mean + reach)) continue;
            const auto [least, most] = std::ranges::minmax_element(figures, {}, &Sample::value);
            made.push_back({{"that", that},
                            {"phase", judged["phase"]},
                            {"where", where},
                            {"least", number_json(least->value)},
                            {"most", number_json(most->value)},
                            {"low", number_json(spread.mean - reach)},
                            {"high", number_json(spread.mean + reach)}});
        }
        return made;
    }

    Json held() const {
        Json fails = Json::array();
        const auto look = [&](const std::string& name, const AdvisePoint& point) {
            const Ranked own = by_held({point});
            if (!own.points.empty() && !own.ranking.points()[0].wrong.empty())
                fails.push_back({{"name", name}, {"wrong", own.ranking.points()[0].wrong}});
        };
        if (state_.keeps) look("found", state_.found);
        for (const AdviseStart& start : question_.starts) look(start.name, start.point);
        return {{"first_seed", question_.seed + held_seeds_from},
                {"seeds", question_.seeds},
                {"fails", std::move(fails)},
                {"near", near()}};
    }

    // Against today's set and each start, by entry; on held seeds.
    Json gains() const {
        Json made = Json::array();
        Points known{state_.found};
        for (const AdviseStart& start : question_.starts) {
            if (!state_.keeps || std::ranges::find(known, start.point) != known.end()) continue;
            known.push_back(start.point);
            const Ranked held = by_held({start.point, state_.found});
            if (held.points.size() != 2) continue;
            for (std::size_t entry = 0; entry < entries(); ++entry) {
                const FigureChange change = held.ranking.change(entry, 0, 1);
                if (change.runs_before == 0 || change.runs_after == 0) continue;
                const double share = (change.after - change.before) / std::abs(change.before);
                made.push_back({{"against", start.name},
                                {"source", start.source},
                                {"goal", entry},
                                {"today", number_json(change.before)},
                                {"advised", number_json(change.after)},
                                {"change", std::isfinite(share) ? Json(share) : Json()},
                                {"spread", number_json(change.half_width)},
                                {"verdict", verdict(held.ranking, entry, change)}});
            }
        }
        return made;
    }
    static std::string verdict(const Ranking& ranking, std::size_t entry, const FigureChange& change) {
        const double reach = std::abs(change.after - change.before) + change.half_width;
        if (!ranking.is_told_apart(entry, 0, 1))
            return reach > undecided_share * std::abs(change.before) ? "undecided" : "no difference";
        if (change.verdict == FigureChange::Verdict::too_few) return "too few runs";
        return change.after < change.before ? "better" : "worse";
    }

    // Points with all seeds that no other beats in every figure beyond the spread; `beaten`: those of the
    // others that have a name.
    void add_front(Json& made) const {
        Points whole;
        for (const AdvisePoint& point : state_.points)
            if (state_.runs.rows_of(point, question_.seed, question_.seeds) == question_.seeds)
                whole.push_back(point);
        const Ranked ranked = by_search(whole);
        const Ranking& ranking = ranked.ranking;
        const auto beats = [&](std::size_t one, std::size_t other) {
            for (std::size_t entry = 0; entry < entries(); ++entry)
                if (!ranking.is_better(entry, other, one)) return false;
            return true;
        };
        made["front"] = Json::array(), made["beaten"] = Json::array();
        for (const std::size_t n : ranking.candidates()) {
            const auto beaten = [&](std::size_t other) { return other != n && beats(other, n); };
            const bool is_beaten = std::ranges::any_of(ranking.candidates(), beaten);
            const Json name = name_of(ranked.points[n]);
            Json& list = made[is_beaten ? "beaten" : "front"];
            if ((is_beaten && name.is_null()) || list.size() == most_in_front) continue;
            const JudgedPoint& point = ranking.points()[n];
            Json least = Json::array(), spread = Json::array();
            for (const auto& figures : point.least) {
                const Spread own = spread_of(figures);
                least.push_back(number_json(own.mean));
                spread.push_back(own.half_width ? number_json(*own.half_width) : Json());
            }
            list.push_back({{"run", point.runs.front()},
                            {"name", name},
                            {"values", point.values},
                            {"least", std::move(least)},
                            {"spread", std::move(spread)}});
        }
    }
    // Null: it has none.
    Json name_of(const AdvisePoint& point) const {
        if (const AdviseStart* start = question_.start_at(point)) return start->name;
        return point == state_.found ? Json("found") : Json();
    }

    // The points on one side of a key that were tried with enough seeds, the nearest first.
    std::vector<Beside> beside(std::size_t key, bool up) const {
        Points tried;
        AdvisePoint at = state_.found;
        for (std::size_t n = 0; n < most_steps; ++n) {
            auto next = space_.step(at, key, up);
            if (!next) break;
            at = std::move(*next);
            tried.push_back(at);
        }
        if (const auto far = space_.far(state_.found, key, up);
            far && std::ranges::find(tried, *far) == tried.end())
            tried.push_back(*far);
        std::vector<Beside> made;
        for (const AdvisePoint& point : tried)
            if (const auto judged = judge(point, key)) made.push_back(*judged);
        return made;
    }

    // Nothing: it was not tried, or with too few seeds to tell.
    std::optional<Beside> judge(const AdvisePoint& point, std::size_t key) const {
        std::vector<const Json*> rows;
        for (unsigned n = 0; n < question_.seeds; ++n)
            if (const Json* row = state_.runs.row({point, question_.seed + n})) rows.push_back(row);
        const Ranked both = by_search({state_.found, point});
        if (rows.empty() || both.points.size() != 2) return std::nullopt;
        Beside made{point[key]};
        made.wrong = both.ranking.points()[1].wrong;
        if (made.wrong.empty() && rows.size() < question_.seeds) return std::nullopt;
        for (std::size_t entry = 0; made.wrong.empty() && entry < entries(); ++entry)
            made.changes.push_back(both.ranking.change(entry, 0, 1));
        for (std::size_t entry = 0; made.wrong.empty() && !made.entry && entry < entries(); ++entry)
            if (both.ranking.is_told_apart(entry, 0, 1)) {
                const FigureChange& change = made.changes[entry];
                made.entry = entry, made.before = change.before, made.after = change.after;
            }
        std::tie(made.run, made.seed) = worst_run(rows, !made.wrong.empty(), made.entry.value_or(0));
        return made;
    }

    // A row of `sensitivity` and of `certificate`.
    void add_key(std::size_t key, Json& made) const {
        const std::string& path = space_.keys()[key].path;
        Json ends = Json::array(), different = Json::array(), certain = Json::array();
        Json tried = Json::array(), stops = Json::array();
        for (const bool up : {false, true}) {
            std::string same = state_.found[key];
            Json first, evidence;
            for (const Beside& each : beside(key, up)) {
                if (each.is_same() && first.is_null()) same = each.value;
                if (!each.is_same() && first.is_null()) first = each.json();
                if (each.is_in_certificate() && evidence.is_null()) evidence = each.json();
                tried.push_back(each.tried(up));
            }
            stops.push_back(!space_.step(state_.found, key, up));
            ends.push_back(same), different.push_back(first), certain.push_back(evidence);
        }
        made["sensitivity"].push_back({{"path", path},
                                       {"at", state_.found[key]},
                                       {"same_from", ends[0]},
                                       {"same_to", ends[1]},
                                       {"below", different[0]},
                                       {"above", different[1]},
                                       {"ends", std::move(stops)},
                                       {"tried", std::move(tried)}});
        made["certificate"].push_back({{"path", path}, {"below", certain[0]}, {"above", certain[1]}});
    }

    Json breaks() const {
        Json made = Json::array();
        const Json* before = state_.runs.row({state_.found, question_.seed});
        for (const std::string& trial : question_.trials) {
            const Json* row = state_.runs.row({state_.found, question_.seed, trial});
            if (row == nullptr || before == nullptr) continue;
            Json each = {{"what", trial},    {"holds", true},   {"fails", Json::array()},  {"goal", 0},
                         {"before", Json()}, {"after", Json()}, {"error", (*row)["error"]}};
            if ((*row)["error"].is_null()) {
                for (const Json& entry : (*row)["goal"]["keep"])
                    if (entry["met"] != true) each["fails"].push_back(entry_text(entry));
                each["before"] = (*before)["goal"]["least"][0]["value"];
                each["after"] = (*row)["goal"]["least"][0]["value"];
            }
            each["holds"] = each["error"].is_null() && each["fails"].empty();
            made.push_back(std::move(each));
        }
        return made;
    }

    // Frames that hosts sent, in all runs; as many as a number holds.
    std::uint64_t packets() const {
        std::uint64_t sum = 0;
        for (std::size_t n = 0; n < state_.runs.list().size(); ++n) {
            const Json* row = state_.runs.row(n);
            const auto own =
                row == nullptr || !row->contains("packets") ? 0 : (*row)["packets"].get<std::uint64_t>();
            sum = own > std::numeric_limits<std::uint64_t>::max() - sum
                      ? std::numeric_limits<std::uint64_t>::max()
                      : sum + own;
        }
        return sum;
    }

    const AdviseQuestion& question_;
    const AdviseState& state_;
    const AdviseSpace& space_;
};

}  // namespace

Json advice_json(const AdviseQuestion& question, const AdviseState& state) {
    return AnswerMaker(question, state).make();
}

std::string today_fails(const AdviseQuestion& question, const AdviseState& state) {
    const auto own = state.runs.rank({question.today()}, question.seed, question.seeds);
    return own.points.empty() ? std::string() : own.ranking.points()[0].wrong;
}

}  // namespace sluice::fabric
