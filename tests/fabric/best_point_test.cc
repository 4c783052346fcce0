// [goal] without a run: figures without a comparison, what a file may not say, the best of some points.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/goal/goal.hh"
#include "control/fabric/goal/ranking.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/scenario/points.hh"
#include "control/report/figures/expression.hh"
#include "tests/fabric/small_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::best_point_test {
namespace {

using namespace sluice::fabric;
using Json = nlohmann::ordered_json;

const std::string late = R"([[phase]]
name = "late"
from = "50us"
)";
const std::string small = small_fabric + late;

// The first error of a file with this [goal]: of its keys, of its expressions, or by the names of its plan.
std::string wrong(const std::string& goal, const std::string& more = {}) {
    auto file = parse_fabric(small + "[goal]\n" + goal + "\n" + more, "f.toml");
    if (!file) return file.error().front().text();
    const auto made = Goal::of(file->scenario, "f.toml");
    if (!made) return made.error().front().text();
    const auto plan = make_plan(std::move(*file));
    CHECK(plan.has_value());
    const auto errors = made->check(*plan);
    return errors.empty() ? std::string() : errors.front().text();
}

Json goal_json(const std::string& text) {
    const FabricConfig file = parsed(late + "[goal]\n" + text);
    return Goal::of(file.scenario, "f.toml")->json();
}

}  // namespace

TEST_GROUP(Goal){};

TEST(Goal, WhatIsNoneIsRefusedWithItsPlace) {
    for (const auto& [goal, words] : std::vector<std::pair<std::string, std::string>>{
             {R"(least = [])", "least is empty"},
             {R"(keep = ["verdict.lossless"])", "least"},
             {R"(least = "end_ns")", "is not a list"},
             {R"(least = [5])", "is not an expression"},
             {R"(least = ["end_ns", "end_ns"])", "is in the list twice"},
             {R"(least = ["end_ns", "seed", "ledger.rx", "ledger.tx", "ledger.dropped"])", "at most 4"},
             {R"(least = ["end_ns lt 5ms"])", "has no comparison; leave out lt 5ms"},
             {R"(least = ["all flows.*.throughput_bps"])", "all has a truth"},
             {R"(least = ["port p1 up"])", "has a truth"},
             {R"(least = ["verdict.lossless"])", "is not a number"},
             {R"(least = ["flows.*.name"])", "is not a number"},
             {R"(least = ["flows.a.completion_ns"])", "completion_ns"},
             {R"(least = ["max switches.tor*.ports.*.tx.packets"])", "no figure matches"},
             {R"(least = ["max flows.*.troughput_bps"])", "throughput_bps"},
             {R"(least = ["end_ns over verdict.lossless"])", "is not a number"},
             {R"(least = ["end_ns ratio to early"])", "no phase"},
             {R"(least = [{that = "flows.a.messages", phase = "early"}])", "there is no phase \"early\""},
             {R"(least = [{phase = "late"}])", "that"},
             {R"(least = [{that = "end_ns", when = "late"}])", "when"},
             {R"(least = [{that = "end_ns", phase = "late"}])", "end_ns"},
             {R"(least = ["end_ns"]
tolerance = "2")",
              "tolerance"},
             {R"(least = ["end_ns"]
tolerance = "101%")",
              "tolerance"},
             {R"(least = ["end_ns"]
kep = ["verdict.lossless"])",
              "keep"},
             {R"(least = ["end_ns"]
keep = ["max flows.*.throughput_bps"])",
              "OP VALUE"},
             {R"(least = ["end_ns"]
keep = ["verdict.losless"])",
              "lossless"}}) {
        const std::string error = wrong(goal);
        if (!says(error, words)) FAIL((goal + ": " + error).c_str());
        if (!says(error, "f.toml:")) FAIL((goal + " has no place: " + error).c_str());
    }
    CHECK(says(wrong(R"(least = ["end_ns"])",
                     "[find]\nleast = \"flow.0.depth\"\nwithin = \"1..9\"\nsuch_that = \"verdict.lossless\""),
               "a search has such_that"));
    CHECK(
        says(wrong(R"(least = ["end_ns"])", "[vary]\n\"goal.tolerance\" = [1, 2]"), "says nothing of a run"));
}

TEST(Goal, EntriesMayHaveAPhaseAndFoldOrDivide) {
    for (
        const char* goal :
        {R"(least = ["max flows.*.slowdown_permille.p99"])",
         R"(least = ["max switches.*.ports.*.pfc.tx_paused_ns.3 over end_ns", "count pauses.*"])",
         R"(least = [{that = "max flows.*.completion_ns.p99", phase = "late"}, "mean flows.*.throughput_bps ratio to late"])",
         R"(least = ["end_ns"]
keep = ["verdict.lossless", {that = "all flows.*.throughput_bps ge 1G", phase = "late"}]
tolerance = "0.5%")"})
        STRCMP_EQUAL("", wrong(goal).c_str());
}

TEST(Goal, ToleranceIsAtLeastABucketForQuantilesThatAreRounded) {
    const auto within = [](const std::string& that, const char* tolerance = "2%") {
        return goal_json("least = [\"" + that + "\"]\ntolerance = \"" + tolerance +
                         "\"")["least"][0]["within"]
            .get<double>();
    };
    DOUBLES_EQUAL(0.07, within("max switches.*.ports.*.queues.*.latency_ns.p99"), 1e-12);
    DOUBLES_EQUAL(0.07, within("max switches.leaf1.ports.h1.queues.3.latency_ns.max over end_ns"), 1e-12);
    DOUBLES_EQUAL(0.07, within("end_ns over max switches.*.ports.*.cnp_latency_ns.p50"), 1e-12);
    DOUBLES_EQUAL(0.09, within("max switches.*.ports.*.queues.*.latency_ns.p99", "9%"), 1e-12);
    for (const char* exact :
         {"max flows.*.slowdown_permille.p99", "flows.a.completion_ns.p999",
          "message_sizes.20KB.completion_ns.max", "max switches.*.ports.*.queues.*.deepest_bytes",
          "p99 switches.*.ports.*.pfc.tx_paused_ns.3"})
        DOUBLES_EQUAL(0.02, within(exact), 1e-12);
    DOUBLES_EQUAL(0.02, goal_json("least = [\"end_ns\"]")["least"][0]["within"].get<double>(), 1e-12);
}

TEST_GROUP(Ranking){};

namespace {

// Points with the values of `least` by seed; each changes so many keys.
struct Point {
    std::vector<std::vector<double>> least;  // by entry and seed
    unsigned keys = 1;
    bool keeps = true;
};

Ranking ranking(const std::vector<Point>& points, double within = 0.02) {
    Json goal = {{"keep", {{{"that", "verdict.lossless"}, {"phase", nullptr}}}},
                 {"least", Json::array()},
                 {"today", {{"a", {"0"}}, {"b", {"0"}}, {"c", {"0"}}}}};
    for (std::size_t n = 0; n < points[0].least.size(); ++n)
        goal["least"].push_back({{"that", n == 0 ? "end_ns" : "max flows.*.completion_ns.p99"},
                                 {"phase", nullptr},
                                 {"within", within}});
    std::vector<Json> rows;
    for (std::size_t at = 0; at < points.size(); ++at)
        for (std::size_t seed = 0; seed < points[at].least[0].size(); ++seed) {
            Json least = Json::array();
            for (const auto& entry : points[at].least)
                least.push_back({{"that", "end_ns"},
                                 {"phase", nullptr},
                                 {"value", std::isnan(entry[seed]) ? Json() : Json(entry[seed])},
                                 {"met", !std::isnan(entry[seed])},
                                 {"where", "end_ns"},
                                 {"wrong", std::isnan(entry[seed]) ? "no message completed" : ""}});
            rows.push_back({{"run", rows.size()},
                            {"seed", seed + 1},
                            {"values",
                             {{"id", std::to_string(at)},
                              {"a", points[at].keys > 0 ? "1" : "0"},
                              {"b", points[at].keys > 1 ? "1" : "0"}}},
                            {"goal",
                             {{"keep",
                               {{{"that", "verdict.lossless"},
                                 {"phase", nullptr},
                                 {"value", points[at].keeps},
                                 {"met", points[at].keeps},
                                 {"where", "verdict.lossless"},
                                 {"wrong", ""}}}},
                              {"least", least}}},
                            {"error", nullptr}});
        }
    return {goal, judged_points(rows, goal)};
}

}  // namespace

TEST(Ranking, TheFirstFigureDecidesWhereItTellsPointsApart) {
    const Ranking made = ranking({{{{100}, {1}}}, {{{90}, {9}}}, {{{93}, {0}}}});
    const auto best = made.best(9);
    LONGS_EQUAL(3, best.size());
    LONGS_EQUAL(1, best[0].point);
    LONGS_EQUAL(2, best[1].point);
    LONGS_EQUAL(0, best[2].point);
    CHECK(best[0].by == Choice::By::least && best[0].entry == 0 && best[0].alike.empty());
    CHECK(best[2].by == Choice::By::only_point);
    STRCMP_EQUAL("end_ns", made.json()["decided_by"].get<std::string>().c_str());
}

TEST(Ranking, WithinToleranceTheNextFigureDecidesThenKeysThenTheRun) {
    // 102 is within 2 % of 100, 102.1 is not; the leader is the smallest, not the first.
    const auto next = ranking({{{{102}, {5}}}, {{{100}, {9}}}, {{{102.1}, {1}}}}).best(1)[0];
    LONGS_EQUAL(0, next.point);
    CHECK(next.by == Choice::By::least && next.entry == 1);
    const auto keys = ranking({{{{100}}, 2}, {{{102}}, 1}, {{{101}}, 2}}).best(1)[0];
    LONGS_EQUAL(1, keys.point);
    CHECK(keys.by == Choice::By::keys_changed && keys.alike == (std::vector<std::size_t>{0, 2}));
    const auto first = ranking({{{{102}}}, {{{100}}}}).best(1)[0];
    LONGS_EQUAL(0, first.point);
    CHECK(first.by == Choice::By::first_run);
    // Without tolerance the smallest is best, also of zeros and of equal ones.
    LONGS_EQUAL(1, ranking({{{{0.5}}}, {{{0}}}, {{{0}}}}, 0).best(1)[0].point);
}

TEST(Ranking, WithinTheSpreadOverFiveSeedsPointsAreAlikeButNotBelow) {
    const std::vector<double> noisy{80, 120, 95, 105, 100}, other{120, 85, 110, 100, 100};
    const auto spread = ranking({{{other}, 0}, {{noisy}, 1}}, 0).best(1)[0];
    LONGS_EQUAL(0, spread.point);
    CHECK(spread.by == Choice::By::keys_changed);
    // Paired: each seed is 3 better, so the noise common to both says nothing.
    std::vector<double> better = noisy;
    for (double& each : better) each -= 3;
    const auto paired = ranking({{{noisy}, 0}, {{better}, 1}}, 0).best(1)[0];
    LONGS_EQUAL(1, paired.point);
    CHECK(paired.by == Choice::By::least);
    // Four seeds have no spread: the means decide.
    const std::vector<double> four(noisy.begin(), noisy.begin() + 4),
        others(other.begin(), other.begin() + 4);
    LONGS_EQUAL(1, ranking({{{others}, 0}, {{four}, 1}}, 0).best(1)[0].point);
    CHECK(says(ranking({{{others}, 0}, {{four}, 1}}, 0).text(), "4 seeds a point are too few for a spread"));
}

TEST(Ranking, APointThatDoesNotKeepOrHasNoFigureIsNoCandidate) {
    const Ranking made = ranking({{{{1}}, 1, false}, {{{std::nan("")}}}, {{{500}}}});
    LONGS_EQUAL(2, made.best(1)[0].point);
    LONGS_EQUAL(1, made.candidates().size());
    CHECK(says(made.text(), "best: run 2 (id = 2, a = 1, b = 0); 1 of 3 points meet the goal"));
    const Ranking none = ranking({{{{1, 2}}, 1, false}, {{{5, std::nan("")}}}});
    CHECK(none.best(1).empty());
    CHECK(none.json()["run"].is_null());
    LONGS_EQUAL(2, none.json()["nearest"]["run"].get<int>());
    CHECK(says(none.text(),
               "best: none, 0 of 2 points meet the goal; the nearest is run 2 (id = 1, a = 1, b = 0)"));
    CHECK(says(none.text(), "end_ns: no message completed"));
}

TEST(Ranking, RunsThatEndWithAnErrorAreNoPoint) {
    Json goal = {{"keep", Json::array()},
                 {"least", {{{"that", "end_ns"}, {"phase", nullptr}, {"within", 0.02}}}},
                 {"today", Json::object()}};
    const Json row = {{"run", 0}, {"seed", 1}, {"values", {{"a", "1"}}}, {"error", "no memory"}};
    const Ranking made(goal, judged_points({row}, goal));
    CHECK(made.best(1).empty() && !made.nearest());
    STRCMP_EQUAL("best: none, no point could be judged\n", made.text().c_str());
    CHECK(made.json()["nearest"].is_null());
}

TEST(Ranking, ATextHasFiguresInTheirUnitWithTheirSpread) {
    const Ranking made = ranking({{{{1000, 2000, 3000, 4000, 5000}}}, {{{8000, 9000, 9500, 9900, 9000}}}});
    CHECK(says(made.text(), "    3000 ns +-1963 ns        end_ns\n"));
    DOUBLES_EQUAL(2.776 * std::sqrt(2.5e6 / 5), made.json()["least"][0]["half_width"].get<double>(), 1);
}

TEST_GROUP(Today){};

TEST(Today, ValuesAreThoseThatChangeNoKey) {
    const std::string text = small + "[switch.default]\nbuffer.size = \"4MB\"\n";
    VaryConfig vary;
    vary.axes = {{"switch.leaf*.buffer.size", {"\"2MB\"", "\"4MB\""}},
                 {"flow.a.qps", {"1", "2"}},
                 {"flow.0.message", {"\"20KB\"", "20000", "\"x\""}}};
    std::vector<SweepPoint> points;
    for (const auto& a : vary.axes[0].values)
        for (const auto& b : vary.axes[1].values)
            for (const auto& c : vary.axes[2].values) points.push_back({{a, b, c}, 1});
    const Json today = values_of_today(text, "f.toml", {}, vary, points);
    CHECK(today["switch.leaf*.buffer.size"] == Json({"4MB"}));
    CHECK(today["flow.a.qps"] == Json({"1"}));
    CHECK(today["flow.0.message"] == Json({"20KB", "20000"}));
    // What the command line sets is today's.
    CHECK(values_of_today(text, "f.toml", {"flow.a.qps=2"}, vary, points)["flow.a.qps"] == Json({"2"}));
}

}  // namespace sluice::best_point_test
