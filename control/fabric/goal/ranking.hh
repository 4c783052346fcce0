// Which points of a sweep or a search are best by their goal (goal.hh).
//
// A point may be chosen when each `keep` holds in all its runs and each `least` has a figure in all of them.
// The first of `least` decides, by its mean over seeds: those stay that are within its tolerance of the
// smallest mean, or within the spread of their difference from that point (spread.hh: five seeds or more).
// Among these the next of `least` decides likewise, then the fewest keys changed, then the first run.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "control/fabric/goal/spread.hh"

namespace sluice::fabric {

// The runs of one point, one a seed.
struct JudgedPoint {
    std::vector<std::size_t> runs;           // ascending, at least one
    nlohmann::ordered_json values;           // as a row has them
    unsigned keys_changed = 0;               // axes whose value is not that of the file
    bool is_judged = true;                   // no run ended with an error
    std::vector<std::size_t> kept;           // of each `keep`: runs in which it holds
    std::vector<std::vector<Sample>> least;  // of each: the figures, where there are any, by seed
    std::vector<std::string> where{};        // of each: the path that gave the first of them
    std::string wrong{};                     // the first entry that fails, and why; empty: none

    bool may_be_chosen() const;
    std::size_t held() const;  // entries of `keep` that hold in all runs
};

// The points of rows (sweep_folder.hh), in the order of their runs. `goal`: Goal::json, with `today`, the
// values by path that leave the file's keys as they are. Each row is of this goal, or has an error.
std::vector<JudgedPoint> judged_points(const std::vector<nlohmann::ordered_json>& rows,
                                       const nlohmann::ordered_json& goal);

struct Choice {
    enum class By : std::uint8_t { only_point, least, keys_changed, first_run };

    std::size_t point = 0;             // index into the points
    By by = By::only_point;            // what told it apart from the last others
    std::size_t entry = 0;             // of `least`, where that did
    std::vector<std::size_t> alike{};  // points that no entry of `least` tells apart from it, by run
};

// "PATH = VALUE, PATH = VALUE" of the values of a row.
std::string values_text(const nlohmann::ordered_json& values);

class Ranking {
  public:
    Ranking(nlohmann::ordered_json goal, std::vector<JudgedPoint> points);

    const std::vector<JudgedPoint>& points() const { return points_; }
    const std::vector<std::size_t>& candidates() const { return candidates_; }  // that may be chosen
    // The best, then the best of the others, and so on: `most` of them, or as many as there are.
    std::vector<Choice> best(std::size_t most) const;
    // Where no point may be chosen: the one with the most entries that hold, then with the most runs in which
    // they do, then the first. Nothing: no point was judged.
    std::optional<std::size_t> nearest() const;
    // The change of an entry of `least` from one point to another, paired by seed.
    FigureChange change(std::size_t entry, std::size_t from, std::size_t to) const;
    // False: within the entry's tolerance of `from`, or within the spread of their difference.
    bool is_told_apart(std::size_t entry, std::size_t from, std::size_t to) const;
    // Told apart, and `to` has the smaller or the larger figure.
    bool is_better(std::size_t entry, std::size_t from, std::size_t to) const;
    bool is_worse(std::size_t entry, std::size_t from, std::size_t to) const;

    // `best` of sweep.json: {run, runs, values, keys_changed, least[]{that, phase, mean, half_width, runs},
    // decided_by, same_runs, points, candidates}; or {run: null, nearest{run, values, wrong}, ...}.
    nlohmann::ordered_json json() const;
    // "best: run 3 (...)" and its figures, in lines.
    std::string text() const;

  private:
    Choice choose(std::vector<std::size_t> among) const;
    double mean(std::size_t entry, std::size_t point) const;

    nlohmann::ordered_json goal_;
    std::vector<JudgedPoint> points_;
    std::vector<std::size_t> candidates_;
};

}  // namespace sluice::fabric
