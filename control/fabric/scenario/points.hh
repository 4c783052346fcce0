// The points of a sweep (the cross product of its axes or a sample, each with its seeds) and of a search.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/plan/value_range.hh"

namespace sluice::fabric {

struct SweepPoint {
    std::vector<std::string> values;  // of each axis, as a file has them
    std::uint64_t seed = 1;

    // The arguments of --set, after `sets`.
    std::vector<std::string> sets(const VaryConfig& vary, std::vector<std::string> sets = {}) const;
    // By path, as rows have them.
    nlohmann::ordered_json row_values(const VaryConfig& vary) const;
    // "switch.default.buffer.size = 4MB, seed 2".
    std::string text(const VaryConfig& vary) const;
};

inline constexpr std::uint64_t max_points = 1'000'000;

// In order: the last axis changes first, seeds before it. An error: there are too many.
tl::expected<std::vector<SweepPoint>, std::string> sweep_points(const FabricConfig& file);

// By path the values of the points that leave the file's keys as they are with `sets`, as rows have them. Of
// a pattern: that leave all keys so. A value that cannot stand alone is none.
nlohmann::ordered_json values_of_today(std::string_view text, const std::string& file,
                                       const std::vector<std::string>& sets, const VaryConfig& vary,
                                       const std::vector<SweepPoint>& points);

// A value as people read it: without its quotes.
std::string plain(const std::string& value);

// The least or the most value of a key for which something holds, by bisection. Both ends run first: that
// something holds at one and not at the other is the premise. It takes the condition to change once in
// between; the two runs beside the answer are its evidence.

struct FindStep {
    std::uint64_t value;
    bool holds;
};

struct FindAnswer {
    std::uint64_t holds;          // the least or most value that was seen to hold
    std::uint64_t fails;          // its neighbor that was seen not to
    std::vector<FindStep> steps;  // in the order of the runs
};

// `holds`: runs with a value; an error ends the search. Errors are sentences.
using FindTry = std::function<tl::expected<bool, std::string>(std::uint64_t value)>;
tl::expected<FindAnswer, std::string> find_edge(const FindConfig& find, const ValueRange& range,
                                                const FindTry& holds);

}  // namespace sluice::fabric
