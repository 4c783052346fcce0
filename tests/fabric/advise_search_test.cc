// The search for advice on functions that are known: where it ends, and what it asks.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/fabric/advise_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_search_test {
namespace {

using namespace sluice::advise_test;

}  // namespace

TEST_GROUP(AdviseSearch){};

TEST(AdviseSearch, EndsAtTheKnownOptimum) {
    Bench bench(two_keys(), bowl(), 0.001);
    bench.run();
    CHECK(bench.state().found == (AdvisePoint{"8", "4"}));
    const Json advice = bench.advice();
    STRCMP_EQUAL("change", advice["answer"].get<std::string>().c_str());
    STRCMP_EQUAL("better", advice["gain"][0]["verdict"].get<std::string>().c_str());
    // (1, 12): 49 and 64 of 50.
    DOUBLES_EQUAL(1000.0 / (1000 * (1 + 113.0 / 50)) - 1, advice["gain"][0]["change"].get<double>(), 0.002);
    CHECK(says(advice, "change 2 of 2 keys: end_ns"));
    CHECK(advice_text(advice).starts_with("change 2 of 2 keys"));
}

TEST(AdviseSearch, StepsGoOnFromTheBestPointThatWasDrawn) {
    // A needle's way: only a walk finds the far end of a long key.
    Bench bench(
        {axis("a", "1", numbers(1, 400))},
        {{[](const AdvisePoint& point, std::uint64_t) { return 1000 + std::abs(at(point, 0) - 397) * 10; }}},
        0.0001);
    bench.question.runs = 1000;
    bench.run();
    CHECK(bench.state().found == AdvisePoint{"397"});
}

TEST(AdviseSearch, KeyThatChangesNothingGoesBackToToday) {
    Bench bench(
        {axis("a", "1", numbers(1, 12)), axis("b", "7", numbers(1, 12)), axis("c", "3", numbers(1, 12))},
        {{[](const AdvisePoint& point, std::uint64_t seed) {
            return (at(point, 0) >= 6 ? 500 : 1000) + noise(point, seed);
        }}});
    bench.run();
    const AdvisePoint found = bench.state().found;
    CHECK(at(found, 0) >= 6);
    STRCMP_EQUAL("7", found[1].c_str());
    STRCMP_EQUAL("3", found[2].c_str());
    CHECK(says(bench.advice(), "change 1 of 3 keys"));
}

TEST(AdviseSearch, ManySmallLossesDoNotAddUp) {
    // Each of four keys gives 1.5 %, less than the tolerance of 2 %: one may go back as the best is chosen,
    // one after that, not all.
    std::vector<AdviseSpace::Axis> axes;
    for (const char* path : {"a", "b", "c", "d"}) axes.push_back(axis(path, "1", numbers(1, 2)));
    Bench bench(std::move(axes), {{[](const AdvisePoint& point, std::uint64_t) {
                    double figure = 1000;
                    for (std::size_t key = 0; key < 4; ++key) figure -= at(point, key) == 2 ? 15 : 0;
                    return figure;
                }}});
    bench.run();
    const AdvisePoint found = bench.state().found;
    CHECK_EQUAL(2, std::ranges::count(found, "2"));
}

TEST(AdviseSearch, PointsThatFailWithMoreSeedsMakeRoomForTheNext) {
    // The best twelve by one seed fail with the second.
    World world = bowl();
    world.keeps = [](const AdvisePoint& point, std::uint64_t seed, const std::string&) {
        return at(point, 0) <= 3 || seed == 1;
    };
    Bench bench(two_keys(), world, 0.001);
    bench.run();
    CHECK(bench.state().keeps);
    CHECK(bench.state().found == (AdvisePoint{"3", "4"}));
}

TEST(AdviseSearch, NextFigureDecidesWhereTheFirstTellsNothingApart) {
    Bench bench(
        {axis("a", "2", numbers(1, 9))},
        {{[](const AdvisePoint&, std::uint64_t) { return 1000.0; },
          [](const AdvisePoint& point, std::uint64_t) { return 100 + std::abs(at(point, 0) - 6) * 50; }}});
    bench.run();
    // A key does not go back where that costs the next figure.
    CHECK(bench.state().found == AdvisePoint{"6"});
    const Json advice = bench.advice();
    STRCMP_EQUAL("change", advice["answer"].get<std::string>().c_str());
    CHECK(advice["front"].size() >= 1);
}

TEST(AdviseSearch, EveryPointHasTheSameSeeds) {
    Bench bench(two_keys(), bowl());
    bench.question.seed = 40;
    bench.run();
    std::set<std::uint64_t> seeds;
    for (const Json& row : bench.rows) seeds.insert(row["seed"].get<std::uint64_t>());
    std::set<std::uint64_t> wanted;
    for (unsigned n = 0; n < 5; ++n) wanted.insert({40U + n, 1040U + n});
    CHECK(seeds == wanted);
    CHECK_EQUAL(24U, bench.rounds[0]);
    CHECK_EQUAL(12U, bench.rounds[1]);
    CHECK_EQUAL(12U, bench.rounds[2]);
    CHECK_EQUAL(3U, bench.rounds[3]);
}

TEST(AdviseSearch, OrderOfArrivalAndStopsChangeNothing) {
    Bench one(two_keys(), bowl());
    one.question.trials = {"cables x 1.5"};
    one.run();
    Bench other(two_keys(), bowl());
    other.question.trials = {"cables x 1.5"};
    other.run([](std::vector<Json>& made) { std::ranges::reverse(made); });
    STRCMP_EQUAL(one.asked().c_str(), other.asked().c_str());
    STRCMP_EQUAL(json_text(one.advice()).c_str(), json_text(other.advice()).c_str());
    // Stopped anywhere, also within a round, it goes on to the same end.
    const std::vector<Json> all = one.rows;
    for (std::size_t left = 0; left < all.size(); left += 7) {
        one.rows.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(left));
        one.run();
        STRCMP_EQUAL(other.asked().c_str(), one.asked().c_str());
    }
}

TEST(AdviseSearch, RowsOfOtherRunsAreLeftOut) {
    Bench bench(two_keys(), bowl());
    const AdviseState first = bench.state();
    CHECK_EQUAL(24U, first.round.size());
    for (std::size_t n = 0; n < 6; ++n) bench.rows.push_back(bench.row(n, first.runs.list()[n]));
    bench.rows[0]["seed"] = 7;
    bench.rows[1]["values"]["a"] = "11111";
    bench.rows[2]["values"]["z"] = "1";
    bench.rows[3]["trial"] = "cables x 1.5";
    bench.rows[4]["run"] = 99'999;
    bench.rows.emplace_back();
    const std::vector<std::size_t> open = bench.state().round;
    CHECK_EQUAL(23U, open.size());
    CHECK(std::ranges::find(open, std::size_t{5}) == open.end());
}

TEST(AdviseSearch, TakesHalfOfTheRunsAndNeverMoreThanAll) {
    for (const std::size_t runs : {36U, 60U, 100U, 133U, 200U, 1000U})
        for (const unsigned seeds : {5U, 12U}) {
            Bench bench({axis("a", "1", numbers(1, 30)), axis("b", "30", numbers(1, 30)),
                         axis("c", "15", numbers(1, 30))},
                        bowl(), 0.001);
            bench.question.runs = runs;
            bench.question.seeds = seeds;
            bench.question.trials = {"x", "y"};
            if (fewest_advise_runs(bench.question) > runs) continue;
            bench.run();
            CHECK(bench.rows.size() <= runs);
            std::size_t searched = 0;
            bool has_held = false;
            for (const Json& row : bench.rows) {
                has_held |= row["seed"] >= held_seeds_from;
                searched += has_held ? 0 : 1;
            }
            CHECK(has_held);
            CHECK(searched <= std::max<std::size_t>(runs / 2, 24));
            const Json advice = bench.advice();
            CHECK_EQUAL(bench.rows.size(), advice["runs"].get<std::size_t>());
            CHECK_EQUAL(10 * bench.rows.size(), advice["packets"].get<std::size_t>());
            if (runs < 200) CHECK_FALSE(advice["not_tried"].empty());
            if (runs == 1000) CHECK(advice["not_tried"].empty());
        }
}

TEST(AdviseSearch, FewestRunsAreTheFirstRoundAndTheHeldSeeds) {
    Bench bench(two_keys(), bowl());
    CHECK_EQUAL(24U + 2 * 5, fewest_advise_runs(bench.question));
    bench.question.runs = 96;
    CHECK_EQUAL(12U + 2 * 5, fewest_advise_runs(bench.question));
    bench.question.runs = 10;
    CHECK_EQUAL(8U + 2 * 5, fewest_advise_runs(bench.question));
    for (int n = 1; n <= 9; ++n)
        bench.question.starts.push_back({"a public configuration", "somebody", {"5", std::to_string(n)}});
    bench.question.starts.push_back({"the same", "somebody else", {"5", "5"}});
    CHECK_EQUAL(10U + 2 * 5, fewest_advise_runs(bench.question));
    Bench tiny({axis("a", "1", {"1", "2", "3"})}, bowl());
    CHECK_EQUAL(3U + 2 * 5, fewest_advise_runs(tiny.question));
}

TEST(AdviseSearch, FewRunsStillTellNeighborsTrialsAndTheBestStart) {
    // As many as the question without a workload has, and as many keys and starts.
    Bench bench(
        {axis("a", "1", numbers(1, 12)), axis("b", "12", numbers(1, 12)), axis("c", "3", numbers(1, 4))},
        bowl(), 0.001);
    bench.question.runs = 96;
    bench.question.trials = {"t1", "t2", "t3", "t4", "t5", "t6"};
    for (const AdvisePoint& point :
         std::vector<AdvisePoint>{{"3", "3", "1"}, {"7", "5", "1"}, {"2", "9", "2"}, {"12", "12", "4"}})
        bench.question.starts.push_back({"start " + point[0], "somebody", point});
    bench.run();
    const Json advice = bench.advice();
    CHECK_EQUAL(6U, advice["breaks"].size());
    CHECK_EQUAL(3U, advice["sensitivity"].size());
    for (const Json& each : advice["sensitivity"])
        CHECK(each["same_from"] != each["same_to"] || !each["above"].is_null() || !each["below"].is_null());
    CHECK(advice["front"].size() >= 1);
    std::set<std::string> against;
    for (const Json& each : advice["gain"]) against.insert(each["against"].get<std::string>());
    CHECK(against == (std::set<std::string>{"today", "start 7"}));
    CHECK(says(advice, "not tried: held seeds of start 3"));
}

TEST(AdviseSearch, PointsThatCheckRefusesHaveNoRun) {
    // The least of all is behind them.
    Bench bench(two_keys(), bowl(), 0.001);
    bench.question.allows = [](const AdvisePoint& point) { return at(point, 0) != 8; };
    bench.run();
    CHECK(bench.rounds[0] == 24);
    for (const Json& row : bench.rows) CHECK(row["values"]["a"] != "8");
    CHECK(bench.state().found == (AdvisePoint{"7", "4"}) || bench.state().found == (AdvisePoint{"9", "4"}));
    CHECK(says(bench.advice(), "not tried: a = 8: check refuses it\n"));
}

TEST(AdviseSearch, FiguresOfChanceHaveAnEnd) {
    for (std::uint64_t world = 0; world < 40; ++world) {
        Bench bench(two_keys(), {{[world](const AdvisePoint& point, std::uint64_t seed) {
                                      return 100 + 100 * noise(point, scramble(seed + world));
                                  },
                                  [world](const AdvisePoint& point, std::uint64_t seed) {
                                      return noise(point, seed + 77 * world);
                                  }}});
        bench.world.keeps = [world](const AdvisePoint& point, std::uint64_t seed, const std::string&) {
            return noise(point, seed ^ world) < 0.97;
        };
        bench.run();
        CHECK(bench.rows.size() <= bench.question.runs);
        CHECK_FALSE(advice_text(bench.advice()).empty());
    }
}

}  // namespace sluice::advise_search_test
