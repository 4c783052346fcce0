// The answer of a search for advice, where it is known.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/fabric/advise_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_answer_test {
namespace {

using namespace sluice::advise_test;

}  // namespace

TEST_GROUP(AdviseAnswer){};

TEST(AdviseAnswer, WhereNothingDiffersItSaysSo) {
    Bench bench(two_keys(), {{[](const AdvisePoint&, std::uint64_t) { return 1000.0; }}});
    bench.run();
    CHECK(bench.state().found == bench.question.today());
    const Json advice = bench.advice();
    STRCMP_EQUAL("no difference", advice["answer"].get<std::string>().c_str());
    for (const Json& each : advice["sensitivity"]) {
        CHECK(each["below"].is_null());
        CHECK(each["above"].is_null());
    }
    CHECK(advice_text(advice).starts_with("no difference within the spread"));
}

TEST(AdviseAnswer, WhereTodayIsBestItSaysLeaveIt) {
    Bench bench({axis("a", "8", numbers(1, 12)), axis("b", "4", numbers(1, 12))}, bowl(), 0.001);
    bench.run();
    CHECK(bench.state().found == bench.question.today());
    STRCMP_EQUAL("leave it", bench.advice()["answer"].get<std::string>().c_str());
}

TEST(AdviseAnswer, WhereNoPointKeepsTheGoalTheNearestIsNamed) {
    World world = bowl();
    world.keeps = [](const AdvisePoint& point, std::uint64_t seed, const std::string&) {
        return at(point, 1) == 9 && seed == 1;
    };
    Bench bench(two_keys(), world);
    bench.run();
    CHECK_FALSE(bench.state().keeps);
    const Json advice = bench.advice();
    STRCMP_EQUAL("none keeps", advice["answer"].get<std::string>().c_str());
    STRCMP_EQUAL("9", advice["nearest"]["values"]["b"].get<std::string>().c_str());
    CHECK(says(advice, "verdict.lossless"));
    CHECK(says(advice, "today's values fail: verdict.lossless"));
    for (const Json& row : bench.rows) CHECK(row["seed"] < held_seeds_from);
    CHECK(advice["gain"].empty());
}

TEST(AdviseAnswer, ValueAtAnEndOfItsRangeSaysSo) {
    Bench bench({axis("a", "5", numbers(1, 9))},
                {{[](const AdvisePoint& point, std::uint64_t) { return 100 * at(point, 0); }}});
    bench.run();
    const Json advice = bench.advice();
    STRCMP_EQUAL("1..9", advice["values"][0]["edge"].get<std::string>().c_str());
    CHECK(says(advice, "at the edge of 1..9"));
    CHECK(advice["certificate"][0]["below"].is_null());
    STRCMP_EQUAL("2", advice["certificate"][0]["above"]["value"].get<std::string>().c_str());
}

TEST(AdviseAnswer, HeldSeedsDecideWhatIsSaid) {
    // What the search sees is chance: on other seeds the point is no better, or worse, or fails.
    for (const auto& [held, answer] :
         std::vector<std::pair<double, const char*>>{{1000, "no difference"}, {1300, "leave it"}}) {
        Bench bench(two_keys(), {{[held = held](const AdvisePoint& point, std::uint64_t seed) {
                        if (at(point, 0) == 1 && at(point, 1) == 12) return 1000.0;
                        return seed < held_seeds_from ? 500.0 : held;
                    }}});
        bench.run();
        const Json advice = bench.advice();
        STRCMP_EQUAL(answer, advice["answer"].get<std::string>().c_str());
        for (const Json& each : advice["values"]) CHECK(each["today"] == each["advised"]);
        CHECK_FALSE(advice["found"].is_null());
    }
    World world = bowl();
    world.keeps = [](const AdvisePoint& point, std::uint64_t seed, const std::string&) {
        return seed != held_seeds_from + 3 || (at(point, 0) == 1 && at(point, 1) == 12);
    };
    Bench bench(two_keys(), world);
    bench.run();
    STRCMP_EQUAL("leave it", bench.advice()["answer"].get<std::string>().c_str());
    CHECK(says(bench.advice(), "found fails on held seeds: verdict.lossless"));
}

TEST(AdviseAnswer, WhatAnotherSeedMayFailIsNearItsEdge) {
    for (const double least : {950'500.0, 960'000.0}) {
        Bench bench(two_keys(), bowl());
        bench.run([&](std::vector<Json>& made) {
            for (Json& row : made) {
                Json& keep = row["goal"]["keep"][0];
                keep["that"] = "links.a-b.directions.1.load_ppm ge 95%";
                keep["where"] = "links.a-b.directions.1.load_ppm";
                keep["value"] = least + static_cast<double>(row["seed"].get<std::uint64_t>() % 5) * 1000;
            }
        });
        const Json advice = bench.advice();
        const Json& near = advice["held"]["near"];
        CHECK_EQUAL(least < 955'000 ? 1U : 0U, near.size());
        if (near.empty()) continue;
        DOUBLES_EQUAL(least, near[0]["least"].get<double>(), 0);
        DOUBLES_EQUAL(least + 4000, near[0]["most"].get<double>(), 0);
        // Mean +- 2.776 s sqrt(1 + 1/5), s = 1581.1.
        DOUBLES_EQUAL(least + 2000 - 4808, near[0]["low"].get<double>(), 2);
        DOUBLES_EQUAL(least + 2000 + 4808, near[0]["high"].get<double>(), 2);
        CHECK(says(advice, "near its edge: links.a-b.directions.1.load_ppm ge 95%: 95.05 % to 95.45 %"));
    }
}

TEST(AdviseAnswer, WideSpreadIsUndecided) {
    for (const auto& [width, verdict] :
         std::vector<std::pair<double, const char*>>{{20, "no difference"}, {600, "undecided"}}) {
        World world = bowl();
        world.figures.push_back([width = width](const AdvisePoint& point, std::uint64_t seed) {
            return 1000 + width * (noise(point, seed) - 0.5);
        });
        Bench bench(two_keys(), world);
        bench.run();
        const Json gain = bench.advice()["gain"];
        CHECK_EQUAL(2U, gain.size());
        STRCMP_EQUAL("better", gain[0]["verdict"].get<std::string>().c_str());
        STRCMP_EQUAL(verdict, gain[1]["verdict"].get<std::string>().c_str());
    }
}

TEST(AdviseAnswer, StartsAreComparedOnHeldSeeds) {
    Bench bench(two_keys(), bowl(), 0.001);
    bench.question.starts.push_back({"a public configuration", "somebody", {"5", "5"}});
    bench.run();
    const Json gain = bench.advice()["gain"];
    CHECK_EQUAL(2U, gain.size());
    STRCMP_EQUAL("a public configuration", gain[1]["against"].get<std::string>().c_str());
    STRCMP_EQUAL("somebody", gain[1]["source"].get<std::string>().c_str());
    CHECK(says(bench.advice(), "nowhere worse than 1 other start set"));
}

TEST(AdviseAnswer, FailedRunsAreNotChosen) {
    Bench bench(two_keys(), bowl(), 0.001);
    bench.run([](std::vector<Json>& made) {
        for (Json& row : made)
            if (row["values"]["a"] == "8") row["error"] = "it has no room", row.erase("goal");
    });
    const AdvisePoint found = bench.state().found;
    CHECK(found[0] == "7" || found[0] == "9");
    CHECK(says(bench.advice(), "it has no room"));
}

TEST(AdviseAnswer, AnswerHasWhatBreaksAndItsEvidence) {
    World world = bowl();
    world.keeps = [](const AdvisePoint& point, std::uint64_t seed, const std::string& trial) {
        return trial != "cables x 1.5" && !(at(point, 0) == 10 && seed == 3);
    };
    Bench bench(two_keys(), world, 0.001);
    bench.question.trials = {"cables x 1.5", "senders x 2"};
    bench.run([](std::vector<Json>& made) {
        for (Json& row : made) row["packets"] = std::numeric_limits<std::uint64_t>::max();
    });
    const Json advice = bench.advice();
    CHECK_EQUAL(2U, advice["breaks"].size());
    CHECK_EQUAL(false, advice["breaks"][0]["holds"].get<bool>());
    STRCMP_EQUAL("verdict.lossless", advice["breaks"][0]["fails"][0].get<std::string>().c_str());
    CHECK_EQUAL(true, advice["breaks"][1]["holds"].get<bool>());
    CHECK(says(advice, "breaks with cables x 1.5: verdict.lossless"));
    CHECK(advice["packets"] == std::numeric_limits<std::uint64_t>::max());
    // The key a: at 7 and 9 the figure is another; four times its value is beyond, a quarter is 2.
    const Json& of_a = advice["sensitivity"][0];
    STRCMP_EQUAL("8", of_a["same_from"].get<std::string>().c_str());
    STRCMP_EQUAL("7", of_a["below"]["value"].get<std::string>().c_str());
    STRCMP_EQUAL("9", of_a["above"]["value"].get<std::string>().c_str());
    CHECK(of_a["above"]["goal"] == 0);
    const AdviseState state = bench.state();
    const Json& above = advice["certificate"][0]["above"];
    const AdviseRun& evidence = state.runs.list()[above["run"].get<std::size_t>()];
    CHECK(evidence.point == (AdvisePoint{"9", "4"}));
    CHECK_EQUAL(above["seed"].get<std::uint64_t>(), evidence.seed);
}

TEST(AdviseAnswer, CertificateNamesTheSeedThatFails) {
    World world = bowl();
    world.keeps = [](const AdvisePoint& point, std::uint64_t seed, const std::string&) {
        return at(point, 0) < 9 || seed != 3;
    };
    Bench bench(two_keys(), world, 0.001);
    bench.run();
    const Json advice = bench.advice();
    const Json& above = advice["certificate"][0]["above"];
    STRCMP_EQUAL("9", above["value"].get<std::string>().c_str());
    CHECK_EQUAL(3U, above["seed"].get<std::uint64_t>());
    CHECK(above["wrong"].get<std::string>().find("verdict.lossless") == 0);
}

TEST(AdviseAnswer, TheEdgeOfAMaxFollowsItsMin) {
    const auto far_from = [](double wanted) {
        return [wanted](const AdvisePoint& point, std::uint64_t) {
            return 1000 + std::abs(at(point, 0) - 200) + std::abs(at(point, 1) - wanted);
        };
    };
    AdviseSpace::Axis max = axis("w.green_max", "200", {"1", "2", "4"});
    max.is_of_min = true;
    Bench bench({axis("w.green_min", "200", {"100", "200", "400"}), max}, {{far_from(800)}}, 0);
    bench.run();
    const Json advice = bench.advice();
    STRCMP_EQUAL("change", advice["answer"].get<std::string>().c_str());
    STRCMP_EQUAL("800", advice["values"][1]["advised"].get<std::string>().c_str());
    STRCMP_EQUAL("200..800", advice["values"][1]["edge"].get<std::string>().c_str());
}

}  // namespace sluice::advise_answer_test
