// The search for advice: which runs come next, round by round, each fixed by the rows of those before it.
//
// It is a function of the rows, which it replays from the first run on: rows may come in any order, and a
// search that was stopped asks for the same runs. Which point is best is goal/ranking.hh's. A round:
//
//   24 points with one seed (fewer where there are less than 192 runs): the starts, then those of the space's
//   sequence; the best half of them with 2 seeds, a quarter with 4, an eighth with all (the next best, where
//   none of them keeps the goal);
//   a grid step each way, key by key, until nothing is better;
//   all keys back to today's values, then each; what costs no figure more than its spread stays there;
//   runs that say how good the answer is: held seeds of the point found and of today's, a step each way of
//   each key, what may break, held seeds of the best start, a quarter and four times each key, the other
//   starts.
//
// The first three have half of the runs. What did not fit is in `not_tried`. No input or output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "control/fabric/advise/space.hh"
#include "control/fabric/goal/ranking.hh"
#include "control/fabric/scenario/sweep_folder.hh"

namespace sluice::fabric {

inline constexpr std::uint64_t held_seeds_from = 1000;  // beyond the first seed; a search has fewer

struct AdviseRun {
    AdvisePoint point;
    std::uint64_t seed = 1;
    std::string trial{};  // the name of what may break; empty: the point alone
};

struct AdviseQuestion {
    const AdviseSpace* space = nullptr;
    std::vector<AdviseStart> starts;  // the first is today's
    nlohmann::ordered_json goal;      // goal_for
    std::uint64_t seed = 1;           // the first
    unsigned seeds = 5;               // of a point: from 5 to 50
    std::size_t runs = 200;           // of all, fewest_advise_runs or more
    std::vector<std::string> trials;  // names of what may break, each run once
    // False: check refuses the point, so it has no run. Empty: none is refused. Starts are good as they are.
    std::function<bool(const AdvisePoint&)> allows{};

    const AdvisePoint& today() const { return starts.front().point; }
    // The first start with this point; null: it is that of none.
    const AdviseStart* start_at(const AdvisePoint& point) const;
};

// Goal::json with today's values of the space, as Ranking takes it.
nlohmann::ordered_json goal_for(nlohmann::ordered_json goal, const AdviseSpace& space);
// The runs of the first round, and of held seeds those of the point found and of today's.
std::size_t fewest_advise_runs(const AdviseQuestion& question);
// What the row of a run says of it.
RowHead head_of(const AdviseSpace& space, std::size_t number, const AdviseRun& run);

// The runs that were asked for, in order, with the rows that are there. A run's number is its place.
class AdviseRuns {
  public:
    // `rows`: in any order; those of other runs than asked for are left out. Both outlive this.
    AdviseRuns(const AdviseQuestion& question, const std::vector<nlohmann::ordered_json>& rows);

    const std::vector<AdviseRun>& list() const { return list_; }
    // Asks for a run, once.
    void ask(const AdviseRun& run);
    bool is_asked(const AdviseRun& run) const { return numbers_.contains(key_of(run)); }
    // Null: there is none.
    const nlohmann::ordered_json* row(const AdviseRun& run) const;
    const nlohmann::ordered_json* row(std::size_t number) const;
    // The first `seeds` runs of a point from a seed on that have rows.
    std::size_t rows_of(const AdvisePoint& point, std::uint64_t first_seed, unsigned seeds) const;
    // The points by these seeds alone; the ranking's point N is points[N]. Points without a row are left out.
    struct Ranked {
        std::vector<AdvisePoint> points;
        Ranking ranking;
    };
    Ranked rank(const std::vector<AdvisePoint>& points, std::uint64_t first_seed, unsigned seeds) const;

  private:
    std::string key_of(const AdviseRun& run) const;

    const AdviseQuestion& question_;
    std::map<std::size_t, const nlohmann::ordered_json*> rows_;  // by number
    std::map<std::string, std::size_t> numbers_;
    std::vector<AdviseRun> list_;
};

struct AdviseState {
    AdviseRuns runs;
    std::vector<std::size_t> round;      // numbers of runs that are to come; empty: it is over
    std::string stage;                   // of the round, for people
    AdvisePoint found;                   // the best point, or the nearest; where it is over
    bool keeps = false;                  // `found` keeps the goal in the search's seeds
    std::vector<AdvisePoint> points;     // of the search, in order
    std::vector<std::string> not_tried;  // sentences
};

AdviseState next_round(const AdviseQuestion& question, const std::vector<nlohmann::ordered_json>& rows);

}  // namespace sluice::fabric
