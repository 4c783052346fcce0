// A search for advice over functions that are known, in the place of runs.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "control/config/text/json_text.hh"
#include "control/fabric/advise/answer.hh"
#include "control/fabric/advise/search.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_test {

using namespace sluice::fabric;
using Json = nlohmann::ordered_json;

inline std::vector<std::string> numbers(unsigned from, unsigned to) {
    std::vector<std::string> made;
    for (unsigned n = from; n <= to; ++n) made.push_back(std::to_string(n));
    return made;
}

inline AdviseSpace::Axis axis(const std::string& path, const std::string& today,
                              const std::vector<std::string>& grid) {
    return {{path, "range", today, grid.front(), grid.back(), true}, grid};
}

// From 0 to 1, by seed and point.
inline double noise(const AdvisePoint& point, std::uint64_t seed) {
    std::uint64_t mark = seed;
    for (const std::string& value : point)
        for (const char c : value + ",") mark = scramble(mark ^ static_cast<unsigned char>(c));
    return static_cast<double>(mark % 1000) / 1000;
}

inline double at(const AdvisePoint& point, std::size_t key) { return std::stod(point[key]); }

struct World {
    std::vector<std::function<double(const AdvisePoint&, std::uint64_t seed)>> figures;
    std::function<bool(const AdvisePoint&, std::uint64_t seed, const std::string& trial)> keeps =
        [](const AdvisePoint&, std::uint64_t, const std::string&) { return true; };
};

// A search over such a world.
struct Bench {
    explicit Bench(std::vector<AdviseSpace::Axis> axes, World of, double within = 0.02)
        : space(std::move(axes)), world(std::move(of)) {
        question.space = &space;
        question.starts = space.starts();
        Json goal = {{"keep", {{{"that", "verdict.lossless"}, {"phase", nullptr}}}},
                     {"least", Json::array()}};
        for (std::size_t n = 0; n < world.figures.size(); ++n)
            goal["least"].push_back(
                {{"that", n == 0 ? "end_ns" : "seed"}, {"phase", nullptr}, {"within", within}});
        question.goal = goal_for(goal, space);
        question.runs = 400;
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    Json row(std::size_t number, const AdviseRun& run) const {
        const bool keeps = world.keeps(run.point, run.seed, run.trial);
        Json least = Json::array();
        for (std::size_t n = 0; n < world.figures.size(); ++n)
            least.push_back({{"that", question.goal["least"][n]["that"]},
                             {"phase", nullptr},
                             {"value", world.figures[n](run.point, run.seed)},
                             {"met", true},
                             {"where", question.goal["least"][n]["that"]},
                             {"wrong", ""}});
        Json made = {{"run", number},
                     {"seed", run.seed},
                     {"values", head_of(space, number, run).values},
                     {"error", nullptr},
                     {"goal",
                      {{"keep",
                        {{{"that", "verdict.lossless"},
                          {"phase", nullptr},
                          {"value", keeps},
                          {"met", keeps},
                          {"where", "verdict.lossless"},
                          {"wrong", ""}}}},
                       {"least", least}}},
                     {"packets", 10}};
        if (!run.trial.empty()) made["trial"] = run.trial;
        return made;
    }
    // `mix` changes the order in which the rows of a round arrive.
    void run(const std::function<void(std::vector<Json>&)>& mix = [](std::vector<Json>&) {}) {
        for (unsigned round = 0; round < 1000; ++round) {
            const AdviseState state = next_round(question, rows);
            if (state.round.empty()) return;
            rounds.push_back(state.round.size());
            std::vector<Json> made;
            for (const std::size_t number : state.round)
                made.push_back(row(number, state.runs.list()[number]));
            mix(made);
            for (Json& each : made) rows.push_back(std::move(each));
        }
        FAIL("the search has no end");
    }
    AdviseState state() const { return next_round(question, rows); }
    Json advice() const { return advice_json(question, state()); }
    // Every run that was asked for, in order.
    std::string asked() const {
        std::string text;
        const AdviseState all = state();
        for (const AdviseRun& each : all.runs.list())
            text += json_text(Json({each.point, each.seed, each.trial})) + "\n";
        return text;
    }

    AdviseSpace space;
    World world;
    AdviseQuestion question;
    std::vector<Json> rows;
    std::vector<std::size_t> rounds;
};

// Least at 8 and 4, with noise of a part in a thousand.
inline World bowl() {
    return {{[](const AdvisePoint& point, std::uint64_t seed) {
        const double x = at(point, 0) - 8, y = at(point, 1) - 4;
        return 1000 * (1 + (x * x + y * y) / 50) + noise(point, seed);
    }}};
}
inline std::vector<AdviseSpace::Axis> two_keys() {
    return {axis("a", "1", numbers(1, 12)), axis("b", "12", numbers(1, 12))};
}

inline bool says(const Json& advice, const std::string& words) {
    return advice_text(advice).find(words) != std::string::npos;
}

}  // namespace sluice::advise_test
