#include "control/fabric/advise/search.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Points = std::vector<AdvisePoint>;

constexpr std::size_t most_first_points = 24, fewest_first_points = 8;
constexpr std::size_t runs_of_a_first_point = 8;
constexpr std::size_t fewest_promoted = 2;
constexpr unsigned all_seeds = 0;
constexpr unsigned search_rounds[] = {2, 4, all_seeds};  // seeds of each point; each has half of the points

void add_once(Points& points, const AdvisePoint& point) {
    if (std::ranges::find(points, point) == points.end()) points.push_back(point);
}

// Starts, then points of the sequence until there are enough for the runs; a small space has fewer.
Points points_of_first_round(const AdviseQuestion& question) {
    const std::size_t wanted =
        std::clamp(question.runs / runs_of_a_first_point, fewest_first_points, most_first_points);
    const std::size_t most_draws = 16 * most_first_points;
    Points made;
    for (const AdviseStart& start : question.starts)
        if (made.size() < most_first_points) add_once(made, start.point);
    for (std::size_t n = 0; n < most_draws && made.size() < wanted; ++n)
        if (const AdvisePoint point = question.space->drawn(n); !question.allows || question.allows(point))
            add_once(made, point);
    return made;
}

// Runs of held seeds that are always done: those of the point found and of today's.
std::size_t held_runs(const AdviseQuestion& question) { return std::size_t{2} * question.seeds; }

class Replay {
  public:
    Replay(const AdviseQuestion& question, const std::vector<Json>& rows)
        : question_(question),
          space_(*question.space),
          state_{AdviseRuns(question, rows), {}, {}, {}, false, {}, {}} {}

    AdviseState run() {
        if (search()) measure();
        return std::move(state_);
    }

  private:
    // Seeds of points that are asked for: the first one, and how many.
    struct Seeds {
        std::uint64_t first;
        unsigned count;
    };
    Seeds all() const { return {question_.seed, question_.seeds}; }
    Seeds held() const { return {question_.seed + held_seeds_from, question_.seeds}; }

    std::vector<AdviseRun> missing(const Points& points, Seeds seeds) const {
        std::vector<AdviseRun> made;
        for (unsigned n = 0; n < seeds.count; ++n)
            for (const AdvisePoint& point : points) {
                AdviseRun run{point, seeds.first + n};
                if (!state_.runs.is_asked(run)) made.push_back(std::move(run));
            }
        return made;
    }
    bool fits(const Points& points, Seeds seeds, std::size_t limit) const {
        return state_.runs.list().size() + missing(points, seeds).size() <= limit;
    }
    // Asks for the runs that nobody has asked for; false: rows are to come, and the round is known.
    bool want(const Points& points, Seeds seeds, std::string stage) {
        ask(points, seeds);
        return is_complete(std::move(stage));
    }
    void ask(const Points& points, Seeds seeds) {
        for (const AdviseRun& run : missing(points, seeds)) state_.runs.ask(run);
        for (const AdvisePoint& point : points) add_once(state_.points, point);
    }
    bool is_complete(std::string stage) {
        for (; complete_ < state_.runs.list().size(); ++complete_)
            if (state_.runs.row(complete_) == nullptr) state_.round.push_back(complete_);
        if (!state_.round.empty()) state_.stage = std::move(stage);
        return state_.round.empty();
    }
    void leave_out(std::string what) { state_.not_tried.push_back(std::move(what)); }
    AdviseRuns::Ranked rank(const Points& points, Seeds seeds) const {
        return state_.runs.rank(points, seeds.first, seeds.count);
    }

    // False: rows are to come.
    bool search() {
        Points field = points_of_first_round(question_);
        unsigned seeds = 1;
        if (!want(field, {question_.seed, seeds},
                  fmt::format("{}, one seed each", print_count(field.size(), "point"))))
            return false;
        std::size_t most = field.size();
        for (const unsigned of_round : search_rounds) {
            const unsigned next =
                of_round == all_seeds ? question_.seeds : std::min(of_round, question_.seeds);
            most = std::max(most / 2, fewest_promoted);
            auto chosen = promote(field, seeds, most, next);
            if (!chosen) return false;
            if (chosen->empty()) break;
            field = std::move(*chosen);
            seeds = next;
        }
        state_.found = leader(rank(field, {question_.seed, seeds}));
        return climb() && go_back();
    }

    // The best points with more seeds; where none of them keeps the goal then, the next best. Empty: none
    // does, or no more fit. Nothing: rows are to come.
    std::optional<Points> promote(const Points& field, unsigned seeds, std::size_t most, unsigned next) {
        const AdviseRuns::Ranked before = rank(field, {question_.seed, seeds});
        const std::vector<Choice> order = before.ranking.best(field.size());
        const Seeds wanted{question_.seed, next};
        for (std::size_t at = 0; at < order.size();) {
            Points chosen;
            while (chosen.size() < most && at + chosen.size() < order.size())
                chosen.push_back(before.points[order[at + chosen.size()].point]);
            const std::size_t whole = chosen.size();
            while (!chosen.empty() && !fits(chosen, wanted, search_limit())) chosen.pop_back();
            if (chosen.size() < whole)
                leave_out(fmt::format("{} more with {}", print_count(whole - chosen.size(), "point"),
                                      print_count(next, "seed")));
            if (chosen.empty()) return chosen;
            if (!want(chosen, wanted,
                      fmt::format("the best {}, {} each", print_count(chosen.size(), "point"),
                                  print_count(next, "seed"))))
                return std::nullopt;
            if (!rank(chosen, wanted).ranking.candidates().empty()) return chosen;
            at += chosen.size();
        }
        return Points{};
    }

    // The best point, where none may be chosen the nearest; where none was judged the first.
    static AdvisePoint leader(const AdviseRuns::Ranked& ranked) {
        const std::vector<Choice> best = ranked.ranking.best(1);
        if (!best.empty()) return ranked.points[best.front().point];
        return ranked.points[ranked.ranking.nearest().value_or(0)];
    }
    // The point that is better than the first of them by a figure; nothing: none is. Fewer keys changed are
    // no reason to go there, as many such steps would lose more than the tolerance; go_back sees to that.
    static std::optional<AdvisePoint> better(const AdviseRuns::Ranked& ranked) {
        const Ranking& ranking = ranked.ranking;
        const std::vector<Choice> best = ranking.best(1);
        if (best.empty()) {
            const auto near = ranking.nearest();
            return near && *near != 0 ? std::optional(ranked.points[*near]) : std::nullopt;
        }
        const Choice& choice = best.front();
        const bool is_alike = std::ranges::find(choice.alike, std::size_t{0}) != choice.alike.end();
        return choice.point == 0 || is_alike ? std::nullopt : std::optional(ranked.points[choice.point]);
    }

    // A grid step of one key each way, then of the next, until no key gives a better point. It comes to no
    // point twice: alike is not transitive. False: rows are to come.
    bool climb() {
        Points visited{state_.found};
        std::set<std::size_t> skipped;
        const std::size_t keys = space_.keys().size();
        for (std::size_t key = 0, still = 0; still < keys;) {
            Points around{state_.found};
            for (const bool up : {false, true})
                if (const auto next = step(key, up);
                    next && std::ranges::find(visited, *next) == visited.end())
                    add_once(around, *next);
            std::optional<AdvisePoint> moved;
            if (around.size() > 1 && !fits(around, all(), search_limit())) {
                if (skipped.insert(key).second) leave_out("a further step of " + space_.keys()[key].path);
            } else if (around.size() > 1) {
                if (!want(around, all(), "a step each way of " + space_.keys()[key].path)) return false;
                moved = better(rank(around, all()));
            }
            if (moved) {
                state_.found = *moved;
                visited.push_back(*moved);
                still = 0;
            } else {
                ++still;
                key = (key + 1) % keys;
            }
        }
        state_.keeps = keeps(state_.found);
        return true;
    }

    // The point, where check takes it.
    std::optional<AdvisePoint> allowed(std::optional<AdvisePoint> point) {
        if (!point || !question_.allows || question_.allows(*point)) return point;
        std::string values;
        for (std::size_t key = 0; key < point->size(); ++key)
            if ((*point)[key] != state_.found[key])
                append_item(values, ", ", fmt::format("{} = {}", space_.keys()[key].path, (*point)[key]));
        if (refused_.insert(values).second) leave_out(values + ": check refuses it");
        return std::nullopt;
    }
    std::optional<AdvisePoint> step(std::size_t key, bool up) {
        return allowed(space_.step(state_.found, key, up));
    }

    bool keeps(const AdvisePoint& point) const {
        const AdviseRuns::Ranked ranked = rank({point}, all());
        return !ranked.points.empty() && !ranked.ranking.candidates().empty();
    }

    // All changed keys at once, then each, back to today's; always beside the best point, so that many small
    // losses do not add up. False: rows are to come.
    bool go_back() {
        if (!state_.keeps) return true;
        const AdvisePoint best = state_.found;
        std::optional<bool> stays = is_alike(best, question_.today(), "today's values");
        if (!stays) return false;
        if (*stays) {
            state_.found = question_.today();
            return true;
        }
        for (std::size_t key = 0; key < best.size(); ++key) {
            AdvisePoint back = state_.found;
            back[key] = question_.today()[key];
            if (back == state_.found) continue;
            stays = is_alike(best, back, "today's value of " + space_.keys()[key].path);
            if (!stays) return false;
            if (*stays) state_.found = back;
        }
        return true;
    }

    // `point` keeps the goal, and no figure of it is worse than that of `best`; nothing: rows are to come.
    std::optional<bool> is_alike(const AdvisePoint& best, const AdvisePoint& point, const std::string& what) {
        if (point == best) return true;
        const Points both{best, point};
        if (!fits(both, all(), search_limit())) {
            leave_out(what + ", instead of the changed");
            return false;
        }
        if (!want(both, all(), what)) return std::nullopt;
        const Ranking ranking = rank(both, all()).ranking;
        if (ranking.candidates().size() != 2) return false;
        for (std::size_t entry = 0; entry < question_.goal["least"].size(); ++entry)
            if (ranking.is_worse(entry, 0, 1)) return false;
        return true;
    }

    // Runs that say how good the answer is, all in one round.
    void measure() {
        if (!state_.keeps) {
            const AdviseRuns::Ranked searched = rank(state_.points, all());
            state_.found = searched.points[searched.ranking.nearest().value_or(0)];
            return leave_out("held seeds, neighbors and what may break: no point keeps the goal");
        }
        hold(state_.found);
        hold(question_.today());
        const auto near = [&](std::size_t key, bool up) { return step(key, up); };
        const auto far = [&](std::size_t key, bool up) { return allowed(space_.far(state_.found, key, up)); };
        look_around(near, "a step of");
        for (const std::string& trial : question_.trials)
            if (state_.runs.list().size() < question_.runs)
                state_.runs.ask({state_.found, question_.seed, trial});
            else
                leave_out(trial);
        const Points starts = starts_in_order();
        for (std::size_t n = 0; n < starts.size(); ++n) {
            hold(starts[n]);
            if (n == 0) look_around(far, "a quarter and four times");
        }
        if (starts.empty()) look_around(far, "a quarter and four times");
        is_complete("held seeds, neighbors and what may break");
    }
    void hold(const AdvisePoint& point) {
        if (fits({point}, held(), question_.runs))
            ask({point}, held());
        else
            leave_out("held seeds of " + name_of(point));
    }
    // The points beside the one found, key by key, with all seeds.
    template <class Next>
    void look_around(Next next, std::string_view what) {
        for (std::size_t key = 0; key < space_.keys().size(); ++key) {
            Points around{state_.found};
            for (const bool up : {false, true})
                if (const auto point = next(key, up)) add_once(around, *point);
            if (fits(around, all(), question_.runs))
                ask(around, all());
            else
                leave_out(fmt::format("{} {}", what, space_.keys()[key].path));
        }
    }
    // The starts but today's and the point found, as their first seed ranks them; those that fail come last.
    Points starts_in_order() const {
        Points all_starts, made;
        for (const AdviseStart& start : question_.starts) add_once(all_starts, start.point);
        const AdviseRuns::Ranked ranked = rank(all_starts, {question_.seed, 1});
        const auto add = [&](const AdvisePoint& point) {
            if (point != state_.found && point != question_.today()) add_once(made, point);
        };
        for (const Choice& choice : ranked.ranking.best(ranked.points.size()))
            add(ranked.points[choice.point]);
        for (const AdvisePoint& point : all_starts) add(point);
        return made;
    }
    std::string name_of(const AdvisePoint& point) const {
        const AdviseStart* start = question_.start_at(point);
        return start == nullptr ? "the point found" : start->name;
    }

    // Half of the runs, and the held seeds of two points fit behind them.
    std::size_t search_limit() const {
        return std::min(question_.runs / 2, question_.runs - std::min(question_.runs, held_runs(question_)));
    }

    const AdviseQuestion& question_;
    const AdviseSpace& space_;
    AdviseState state_;
    std::size_t complete_ = 0;       // runs that were looked at
    std::set<std::string> refused_;  // values of points beside the one found, in words
};

}  // namespace

Json goal_for(Json goal, const AdviseSpace& space) {
    goal["today"] = Json::object();
    for (const AdviseKey& key : space.keys()) goal["today"][key.path] = Json::array({key.today});
    return goal;
}

const AdviseStart* AdviseQuestion::start_at(const AdvisePoint& point) const {
    const auto found = std::ranges::find(starts, point, &AdviseStart::point);
    return found == starts.end() ? nullptr : &*found;
}

std::size_t fewest_advise_runs(const AdviseQuestion& question) {
    return points_of_first_round(question).size() + held_runs(question);
}

RowHead head_of(const AdviseSpace& space, std::size_t number, const AdviseRun& run) {
    Json values = Json::object();
    for (std::size_t n = 0; n < run.point.size(); ++n) values[space.keys()[n].path] = run.point[n];
    return {number, run.seed, std::move(values), run.trial, true};
}

AdviseRuns::AdviseRuns(const AdviseQuestion& question, const std::vector<Json>& rows) : question_(question) {
    for (const Json& row : rows)
        if (!row.is_null()) rows_.emplace(row["run"].get<std::size_t>(), &row);
}

std::string AdviseRuns::key_of(const AdviseRun& run) const {
    return json_text(Json::array({run.point, run.seed, run.trial}));
}

void AdviseRuns::ask(const AdviseRun& run) {
    if (numbers_.try_emplace(key_of(run), list_.size()).second) list_.push_back(run);
}

const Json* AdviseRuns::row(std::size_t number) const {
    const auto found = rows_.find(number);
    return found != rows_.end() && number < list_.size() &&
                   head_of(*question_.space, number, list_[number]).is_of(*found->second)
               ? found->second
               : nullptr;
}

const Json* AdviseRuns::row(const AdviseRun& run) const {
    const auto number = numbers_.find(key_of(run));
    return number == numbers_.end() ? nullptr : row(number->second);
}

std::size_t AdviseRuns::rows_of(const AdvisePoint& point, std::uint64_t first_seed, unsigned seeds) const {
    std::size_t there = 0;
    for (unsigned n = 0; n < seeds; ++n) there += row(AdviseRun{point, first_seed + n}) != nullptr ? 1 : 0;
    return there;
}

AdviseRuns::Ranked AdviseRuns::rank(const std::vector<AdvisePoint>& points, std::uint64_t first_seed,
                                    unsigned seeds) const {
    std::vector<AdvisePoint> judged;
    std::vector<Json> own;
    for (const AdvisePoint& point : points) {
        const std::size_t before = own.size();
        for (unsigned n = 0; n < seeds; ++n)
            if (const Json* there = row(AdviseRun{point, first_seed + n})) own.push_back(*there);
        if (own.size() > before) judged.push_back(point);
    }
    return {std::move(judged), Ranking(question_.goal, judged_points(own, question_.goal))};
}

AdviseState next_round(const AdviseQuestion& question, const std::vector<Json>& rows) {
    return Replay(question, rows).run();
}

}  // namespace sluice::fabric
