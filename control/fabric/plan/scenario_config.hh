// What makes a fabric's file a scenario: the question it answers, phases, assertions, and what a sweep varies
// or a search looks for. Values of [vary] and [find] are the text of a value in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

// From `from` to `to` of the run; nothing: to its end. Phases do not overlap.
struct PhaseConfig {
    std::string name;
    Duration from{};
    std::optional<Duration> to;
    SourcePlace place;
};

// An expression over the report (control/report/figures/expression.hh), or over a phase of it.
struct AssertConfig {
    std::string that;
    std::string phase;  // empty: the whole run
    std::string why;
    SourcePlace place;
    const char* key = "assert.that";  // of the file
};

// The points of a sweep: the cross product of all axes, or `sample` points of it.
struct VaryConfig {
    struct Axis {
        std::string path;
        std::vector<std::string> values;  // as --set takes them
        bool operator==(const Axis&) const = default;
    };
    std::vector<Axis> axes;  // in the file's order
    std::optional<std::uint64_t> sample;
    std::uint64_t seeds = 1;  // of each point: the file's seed and those after it
    SourcePlace place;
};

// The least or the most value of `path` for which `such_that` holds.
struct FindConfig {
    std::string least, most;  // the path; one of them
    std::string within;       // "100KB..1600KB"
    std::string such_that;    // an expression; empty: every assertion is met
    std::string precision;    // how far apart the runs beside the answer are at most; empty: 1 % of the range
    SourcePlace place;

    const std::string& path() const { return least.empty() ? most : least; }
};

struct ScenarioConfig {
    std::string name, question;
    std::vector<PhaseConfig> phases;  // in order of time
    std::vector<AssertConfig> asserts;
    VaryConfig vary;
    std::optional<FindConfig> find;
};

}  // namespace sluice::fabric
