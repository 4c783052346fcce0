// Figures of several runs: their mean with its spread, and what lies between two sets of runs.
//
// Runs are paired where they have the same key (values and seed), else the sets are compared as they are
// (Welch). A difference stands out when 0 lies outside its interval of 95 % (Student's t) of five or more
// runs a side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::fabric {

inline constexpr std::size_t fewest_runs = 5;

// A figure of a run.
struct Sample {
    std::string key;  // a run of the other set with the same key is its pair
    double value = 0;
};

struct Spread {
    double mean = 0;                   // 0: there is no value
    std::optional<double> half_width;  // of the interval around the mean; nothing: there are too few runs
    std::size_t runs = 0;
};
Spread spread_of(const std::vector<Sample>& samples);

struct FigureChange {
    std::string figure;
    double before = 0, after = 0;  // means
    double half_width = 0;         // of the interval around after - before; 0 where there are too few
    std::size_t runs_before = 0, runs_after = 0;
    bool paired = false;
    enum class Verdict : std::uint8_t { same, too_few, within_spread, changed };
    Verdict verdict = Verdict::same;
};

// The change of one figure from a set of runs to another, each in the order of its runs.
FigureChange change_of(std::string figure, const std::vector<Sample>& before,
                       const std::vector<Sample>& after);

}  // namespace sluice::fabric
