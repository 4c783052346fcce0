// Scenarios without a run: expressions over a report, ranges and points of a sweep, searches, comparisons,
// JUnit.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/goal/asserts.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/plan/value_range.hh"
#include "control/fabric/scenario/compare.hh"
#include "control/fabric/scenario/points.hh"
#include "control/fabric/scenario/run_once.hh"
#include "control/report/figures/expression.hh"
#include "tests/fabric/small_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::scenario_test {
namespace {

using namespace sluice::fabric;
using Json = nlohmann::ordered_json;

const Json& sample() {
    static const Json report = Json::parse(R"({
        "verdict": {"lossless": true, "reasons": [], "interrupted": false},
        "flows": [{"name": "in cast", "throughput_bps": 60000000000, "completion_ns": {"p99": 1500}},
                  {"name": "b.c", "throughput_bps": 30000000000, "completion_ns": {"p99": 2500}}],
        "phases": {"idle": {"flows": [{"name": "in cast", "throughput_bps": 0, "completion_ns": {"p99": null}},
                                      {"name": "b.c", "throughput_bps": 0, "completion_ns": {"p99": 2500}}]}},
        "collectives": [{"name": "ring", "step_ns": {"p50": null}, "straggler": {"host": null}}],
        "switches": {"leaf1": {"ports": {"h1": {"drops": {}, "load_ppm": 500000, "up": true},
                                         "h2": {"drops": {"no_route": 3}, "load_ppm": 100000, "up": false}}}},
        "pauses": []})");
    return report;
}

Judgment judge(const std::string& text, const Json* baseline = nullptr) {
    const auto expression = Expression::parse(text);
    if (!expression) FAIL((text + ": " + expression.error()).c_str());
    return expression->judge(sample(), baseline);
}
bool holds(const std::string& text) {
    const Judgment judged = judge(text);
    if (!judged.wrong.empty()) FAIL((text + ": " + judged.wrong).c_str());
    return judged.met;
}
std::string wrong(const std::string& text) {
    const auto expression = Expression::parse(text);
    return expression ? expression->judge(sample(), nullptr).wrong : expression.error();
}
std::string check(const std::string& text) {
    const auto expression = Expression::parse(text);
    return expression ? expression->check(sample()) : expression.error();
}
}  // namespace

TEST_GROUP(Expression){};

TEST(Expression, WhatIsNoneIsRefused) {
    CHECK(says(wrong(""), "wanted"));
    CHECK(says(wrong("verdict..lossless"), "empty part"));
    CHECK(says(wrong("verdict.lossless is true"), "compares nothing"));
    CHECK(says(wrong("verdict.lossless eq"), "one value"));
    CHECK(says(wrong("verdict.lossless eq true and more"), "one value"));
    CHECK(says(wrong("flows.'in cast.throughput_bps ge 1"), "second"));
    CHECK(says(wrong("max flows.*.throughput_bps"), "OP VALUE"));
    CHECK(says(wrong("flows.1.throughput_bps ge 5ms"), "\"5ms\" is not a rate, as throughput_bps is"));
    CHECK(says(wrong("flows.1.throughput_bps ge 5GB"), "not a rate"));
    CHECK(says(wrong("flows.1.completion_ns.p99 lt 5KB"), "\"5KB\" is not a time, as completion_ns is"));
    CHECK(says(wrong("flows.1.delivered_bytes lt 5ms"), "not a size"));
    CHECK(says(wrong("count flows.* eq 5ms"), "not a number"));
    CHECK(says(wrong("flows.1.throughput_bps ratio to idle ge 1G"), "not a number"));
    CHECK(says(wrong("flows.*.throughput_bps ge 1G"), "names 2 figures"));
    CHECK(says(wrong("flows ge 1G"), "not a single value"));
    CHECK(says(wrong("verdict.lossless ge 1"), "cannot be compared"));
    CHECK(says(wrong("flows.b.d.throughput_bps"), "\"b\""));
    CHECK(says(wrong("flows.b.c.throughput_bps"), "neither true nor false"));
    CHECK(says(wrong("flows.'b.c'.throughput_bps"), "neither true nor false"));
    CHECK(says(wrong("max switches.*.ports.*.up ge 1"), "not a number"));
}

TEST(Expression, ASingleFigureIsComparedInItsUnit) {
    CHECK(holds("verdict.lossless"));
    CHECK(holds("flows.'in cast'.throughput_bps ge 60G"));
    CHECK_FALSE(holds("flows.'in cast'.throughput_bps gt 60G"));
    CHECK(holds("flows.1.completion_ns.p99 le 2.5us"));
    CHECK(holds("flows.'b.c'.completion_ns.p99 eq 2500"));
    CHECK(holds("switches.leaf1.ports.h1.load_ppm eq 50%"));
    CHECK(holds("switches.leaf1.ports.h1.drops.no_route eq 0"));
    CHECK_FALSE(holds("switches.leaf1.ports.h2.drops.no_route eq 0"));
}

TEST(Expression, FunctionsJudgeEachFigureOrFoldThem) {
    CHECK(holds("all flows.*.throughput_bps ge 30G"));
    CHECK_FALSE(holds("all flows.*.throughput_bps ge 31G"));
    CHECK(holds("any flows.*.throughput_bps ge 31G"));
    CHECK(holds("none flows.*.throughput_bps ge 61G"));
    CHECK_FALSE(holds("none flows.*.throughput_bps ge 31G"));
    CHECK(holds("max flows.*.completion_ns.p99 eq 2500"));
    CHECK(holds("min flows.*.completion_ns.p99 eq 1500"));
    CHECK(holds("sum flows.*.throughput_bps eq 90G"));
    CHECK(holds("mean flows.*.throughput_bps eq 45G"));
    CHECK(holds("count flows.*.throughput_bps eq 2"));
    CHECK(holds("p50 flows.*.completion_ns.p99 eq 1500"));
    CHECK(holds("p99 flows.*.completion_ns.p99 eq 2500"));
    CHECK(holds("jain flows.*.throughput_bps eq 0.9"));
    CHECK(holds("imbalance flows.*.throughput_bps lt 1.34"));
    STRCMP_EQUAL("flows.b.c.throughput_bps", judge("min flows.*.throughput_bps ge 40G").where.c_str());
    STRCMP_EQUAL("flows.b.c.throughput_bps", judge("all flows.*.throughput_bps ge 40G").where.c_str());
}

TEST(Expression, NoFigureAtAllIsFalse) {
    for (const char* text : {"all pauses.*.paused_ns ge 0", "any pauses.*.paused_ns ge 0",
                             "none pauses.*.paused_ns ge 0", "max pauses.*.paused_ns ge 0"}) {
        const Judgment judged = judge(text);
        CHECK_FALSE(judged.met);
        CHECK(says(judged.wrong, "no figure"));
    }
    CHECK(holds("count pauses.* eq 0"));
}

TEST(Expression, AFigureOfNothingMeetsNothing) {
    const Json& idle = sample()["phases"]["idle"];
    const auto wrong_of = [&](const std::string& text, const Json& report) {
        const auto expression = Expression::parse(text);
        if (!expression) FAIL((text + ": " + expression.error()).c_str());
        STRCMP_EQUAL("", expression->check(report).c_str());
        const Judgment judged = expression->judge(report, &idle);
        CHECK_FALSE(judged.met);
        return judged.wrong;
    };
    for (const char* text : {"flows.'in cast'.completion_ns.p99 lt 1s", "all flows.*.completion_ns.p99 lt 1s",
                             "none flows.*.completion_ns.p99 ge 1s", "flows.'in cast'.completion_ns.p99 ne 0",
                             "flows.'in cast'.completion_ns.p99 eq 0"})
        STRCMP_EQUAL("no message completed", wrong_of(text, idle).c_str());
    for (const char* text : {"max flows.*.completion_ns.p99 lt 1s",
                             "flows.'in cast'.completion_ns.p99 over flows.1.completion_ns.p99 le 1",
                             "flows.1.completion_ns.p99 over max flows.*.completion_ns.p99 ge 0"})
        STRCMP_EQUAL("flows.in cast.completion_ns.p99 is null: no message completed",
                     wrong_of(text, idle).c_str());
    CHECK(
        says(wrong_of("flows.0.completion_ns.p99 ratio to idle le 9", sample()), "no message completed in"));
    CHECK(says(wrong_of("collectives.ring.step_ns.p50 lt 1s", sample()), "no step ended"));
    CHECK(says(check("collectives.ring.step_ns.p50 eq done"), "not a time"));
    CHECK(says(wrong_of("collectives.ring.straggler.host ne h1", sample()), "there is none"));
    CHECK(holds("collectives.ring.straggler.host eq null"));
    for (const char* text : {"jain flows.*.throughput_bps ge 0.5", "imbalance flows.*.throughput_bps le 1.5"})
        CHECK(says(wrong_of(text, idle), "all of flows.*.throughput_bps are 0"));
}

TEST(Expression, ARatioIsToTheSameFigureOfThePhase) {
    Json baseline = sample();
    baseline["flows"][0]["throughput_bps"] = 80000000000;
    baseline["flows"][1]["throughput_bps"] = 0;
    CHECK(judge("flows.'in cast'.throughput_bps ratio to before ge 0.75", &baseline).met);
    CHECK(judge("flows.'in cast'.throughput_bps ratio to before ge 75%", &baseline).met);
    CHECK_FALSE(judge("flows.'in cast'.throughput_bps ratio to before gt 0.75", &baseline).met);
    CHECK(
        says(judge("all flows.*.throughput_bps ratio to before ge 0.1", &baseline).wrong, "is 0 in before"));
    CHECK(says(judge("flows.1.throughput_bps ratio to before ge 0.1").wrong, "no phase"));
}

TEST(Expression, AQuotientIsOfTwoFiguresOfOneReport) {
    CHECK(holds("flows.'in cast'.throughput_bps over sum flows.*.throughput_bps ge 66.6%"));
    CHECK_FALSE(holds("flows.'in cast'.throughput_bps over sum flows.*.throughput_bps gt 66.7%"));
    CHECK(holds("min flows.*.throughput_bps over max flows.*.throughput_bps eq 0.5"));
    CHECK(holds("sum flows.*.throughput_bps over sum flows.*.throughput_bps eq 1"));
    CHECK_FALSE(holds("sum flows.*.throughput_bps over flows.1.throughput_bps eq 1"));
    // Each over the one.
    CHECK(holds("all flows.*.throughput_bps over max flows.*.throughput_bps ge 50%"));
    CHECK_FALSE(holds("all flows.*.throughput_bps over max flows.*.throughput_bps gt 50%"));

    CHECK(says(wrong("flows.1.throughput_bps over count pauses.* eq 0"), "pauses.* is 0"));
    CHECK(says(wrong("flows.1.throughput_bps over flows.*.throughput_bps eq 1"), "names 2 figures"));
    CHECK(says(wrong("flows.1.throughput_bps over all flows.*.throughput_bps eq 1"), "over divides by one"));
    CHECK(says(wrong("flows.1.throughput_bps over"), "after over: wanted"));
    CHECK(says(wrong("flows.1.throughput_bps over flows.0.throughput_bps"), "wanted: OP VALUE"));
    CHECK(says(wrong("flows.1.throughput_bps over verdict.lossless eq 1"), "is not a number"));
    CHECK(says(check("flows.1.throughput_bps over flows.0.troughput_bps eq 1"), "throughput_bps"));
    STRCMP_EQUAL("", check("flows.1.throughput_bps over flows.0.throughput_bps eq 1").c_str());
}

TEST(Expression, APathIsCheckedBeforeTheRunAndTheNearestNamed) {
    STRCMP_EQUAL("", check("all flows.*.throughput_bps ge 31G").c_str());
    STRCMP_EQUAL("", check("count pauses.* eq 0").c_str());
    CHECK(says(check("verdict.losless"), "lossless"));
    CHECK(says(check("switches.leaf2.ports.h1.load_ppm eq 0"), "leaf1"));
    CHECK(says(check("all switches.spine*.ports.*.load_ppm eq 0"), "no figure matches"));
}

TEST_GROUP(ValueRange){};

TEST(ValueRange, WhatIsNoneIsRefused) {
    for (const char* text : {"", "5", "5..", "..5", "5..5", "6..5", "5..9 y", "5..9 x1", "5..9 x", "1KB..1ms",
                             "0..5 x3 log", "1..2 x9999999"})
        CHECK_FALSE(ValueRange::parse(text).has_value());
}

TEST(ValueRange, PointsAreEvenInDistanceOrRatioAndWrittenInTheirUnit) {
    const auto linear = ValueRange::parse("1ms..4ms x4");
    CHECK(linear.has_value());
    CHECK(linear->points() == (std::vector<std::uint64_t>{1'000'000, 2'000'000, 3'000'000, 4'000'000}));
    STRCMP_EQUAL("\"2ms\"", linear->text(2'000'000).c_str());
    const auto ratios = ValueRange::parse("100KB..1600KB x5 log");
    CHECK(ratios.has_value());
    CHECK(ratios->points() == (std::vector<std::uint64_t>{100'000, 200'000, 400'000, 800'000, 1'600'000}));
    const auto rates = ValueRange::parse("10G..40G");
    CHECK(rates.has_value());
    STRCMP_EQUAL("\"10G\"", rates->text(10'000'000'000).c_str());
    CHECK(ValueRange::parse("1..3 x9")->points() == (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_GROUP(Points){};

namespace {

FabricConfig with(VaryConfig vary) {
    FabricConfig file;
    file.seed = 7;
    file.scenario.vary = std::move(vary);
    return file;
}

}  // namespace

TEST(Points, TheCrossProductWithSeedsInOrder) {
    const VaryConfig vary{{{"a", {"1", "2"}}, {"b", {"\"x\"", "\"y\""}}}, {}, 2, {}};
    const auto points = sweep_points(with(vary));
    CHECK(points.has_value());
    LONGS_EQUAL(8, points->size());
    CHECK((*points)[3].values == (std::vector<std::string>{"1", "\"y\""}));
    LONGS_EQUAL(8, (*points)[3].seed);
    CHECK((*points)[3].sets(vary) == (std::vector<std::string>{"seed=8", "a=1", "b=\"y\""}));
}

TEST(Points, ASampleIsOfTheSeedAndHasNoPointTwice) {
    VaryConfig vary{
        {{"a", std::vector<std::string>(100, "1")}, {"b", std::vector<std::string>(100, "2")}}, 50, 1, {}};
    for (unsigned n = 0; n < 100; ++n) vary.axes[0].values[n] = vary.axes[1].values[n] = std::to_string(n);
    const auto one = sweep_points(with(vary)), other = sweep_points(with(vary));
    LONGS_EQUAL(50, one->size());
    for (std::size_t n = 0; n < 50; ++n) CHECK((*one)[n].values == (*other)[n].values);
    for (std::size_t n = 1; n < 50; ++n) CHECK((*one)[n].values != (*one)[n - 1].values);
    vary.axes.resize(4, vary.axes[0]);
    CHECK_FALSE(sweep_points(with(vary)).has_value());
}

TEST_GROUP(Find){};

namespace {

tl::expected<FindAnswer, std::string> find(FindConfig config, std::uint64_t edge, bool above) {
    return find_edge(config, *ValueRange::parse(config.within),
                     [&](std::uint64_t value) -> tl::expected<bool, std::string> {
                         return above ? value >= edge : value < edge;
                     });
}

}  // namespace

TEST(Find, TheEdgeIsFoundBetweenTwoRuns) {
    const FindConfig least{
        .least = "a", .most = {}, .within = "0..1000", .such_that = {}, .precision = "1", .place = {}};
    for (const std::uint64_t edge : {1U, 2U, 437U, 999U, 1000U}) {
        const auto answer = find(least, edge, true);
        CHECK(answer.has_value());
        LONGS_EQUAL(edge, answer->holds);
        LONGS_EQUAL(edge - 1, answer->fails);
        CHECK(answer->steps.size() <= 13);
        LONGS_EQUAL(0, answer->steps[0].value);
        LONGS_EQUAL(1000, answer->steps[1].value);
    }
    const FindConfig most{
        .least = {}, .most = "a", .within = "0..1000", .such_that = {}, .precision = {}, .place = {}};
    const auto answer = find(most, 500, false);
    CHECK(answer->holds < 500 && answer->fails >= 500 && answer->fails - answer->holds <= 10);
}

TEST(Find, NoChangeOfTruthIsAnErrorThatSaysSo) {
    const FindConfig least{
        .least = "a", .most = {}, .within = "0..1000", .such_that = {}, .precision = {}, .place = {}};
    CHECK(says(find(least, 0, true).error(), "holds at 0 and at 1000"));
    CHECK(says(find(least, 2000, true).error(), "does not hold at 0 and at 1000"));
    CHECK(says(find(least, 500, false).error(), "most"));
}

TEST_GROUP(Compare){};

namespace {

Json row(unsigned seed, double figure, bool met = true) {
    return {{"run", seed},
            {"values", Json::object()},
            {"seed", seed},
            {"met", met},
            {"figures", {{"x", figure}}},
            {"asserts", {{{"that", "x"}, {"phase", nullptr}, {"value", figure}, {"met", met}}}},
            {"error", nullptr}};
}

std::vector<Json> rows(const std::vector<double>& figures) {
    std::vector<Json> made;
    for (unsigned n = 0; n < figures.size(); ++n) made.push_back(row(n, figures[n]));
    return made;
}

}  // namespace

TEST(Compare, FewerThanFiveRunsAreTooFewToSay) {
    CHECK(compare_rows(rows({1, 2, 3, 4}), rows({5, 6, 7, 8}))[0].verdict == FigureChange::Verdict::too_few);
    CHECK(compare_rows(rows({1, 2, 3, 4}), rows({1, 2, 3, 4}))[0].verdict == FigureChange::Verdict::same);
}

TEST(Compare, PairedRunsShowASmallChangeThatUnpairedOnesHide) {
    const std::vector<double> before{10, 20, 30, 40, 50, 60};
    const std::vector<double> after{10.9, 21.0, 31.1, 41.0, 50.9, 61.1};
    const auto paired = compare_rows(rows(before), rows(after))[0];
    CHECK(paired.paired && paired.verdict == FigureChange::Verdict::changed);
    DOUBLES_EQUAL(1.0, paired.after - paired.before, 1e-9);
    // Deviation of the differences 0.0894, t 2.571, six runs.
    DOUBLES_EQUAL(2.571 * 0.08944 / std::sqrt(6.0), paired.half_width, 1e-3);
    auto others = rows(after);
    for (Json& each : others) each["seed"] = each["seed"].get<unsigned>() + 100;
    const auto unpaired = compare_rows(rows(before), others)[0];
    CHECK(!unpaired.paired && unpaired.verdict == FigureChange::Verdict::within_spread);
}

TEST_GROUP(CompareReports){static Json list(const Json& before, const Json& after, const char* name){
    const Json found = compare_reports(before, after);
CHECK(found["differ"] == !found[name].empty() || found["differ"] == true);
return found[name];
}  // namespace sluice::scenario_test
}
;

TEST(CompareReports, NothingIsListedThatDoesNotDiffer) {
    const Json found = compare_reports(sample(), sample());
    for (const char* name : {"totals", "configuration", "assertions", "flows", "figures"})
        CHECK(found[name] == Json::array());
    CHECK(found["differ"] == false);
    STRCMP_EQUAL("nothing differs\n", differences_text(found, 9).c_str());
}

TEST(CompareReports, EntriesOfAListAreFoundByWhatTellsThemApart) {
    Json other = sample();
    std::swap(other["flows"][0], other["flows"][1]);
    CHECK(compare_reports(sample(), other)["differ"] == false);
    other["flows"][0]["throughput_bps"] = 15000000000U;
    const Json expected = Json::parse(
        R"([{"figure": "flows.b.c.throughput_bps", "before": 30000000000, "after": 15000000000}])");
    CHECK(list(sample(), other, "flows") == expected);
    constexpr std::string_view line = "{:<40}{:>16}{:>16}{:>12}\n";
    const std::string expected_text =
        fmt::format(line, "flows", "A", "B", "change") +
        fmt::format(line, "flows.b.c.throughput_bps", "30 Gb/s", "15 Gb/s", "-50.0 %");
    STRCMP_EQUAL(expected_text.c_str(), differences_text(compare_reports(sample(), other), 9).c_str());
}

TEST(CompareReports, ListsThatGrowDifferByTheirLengthAndWhatIsMissingIsOneRow) {
    Json other = sample();
    other["pauses"] = Json::array({{{"from_ns", 5}}, {{"from_ns", 6}}});
    other["switches"]["leaf1"]["ports"].erase("h2");
    const Json expected = Json::parse(
        R"([{"figure": "pauses", "before": 0, "after": 2},
            {"figure": "switches.leaf1.ports.h2", "before": "there", "after": null}])");
    CHECK(list(sample(), other, "figures") == expected);
}

TEST(CompareReports, TheLargestDifferenceIsFirstAndOneMorePacketThanNoneIsSmall) {
    const Json before = Json::parse(R"({"a": 0, "b": 1000, "c": 1000, "d": true, "e": "x"})");
    const Json after = Json::parse(R"({"a": 1, "b": 1200, "c": 500, "d": false, "e": "y"})");
    std::string order;
    for (const Json& each : list(before, after, "figures")) order += each["figure"].get<std::string>();
    STRCMP_EQUAL("dcbae", order.c_str());
    const std::string text = differences_text(compare_reports(before, after), 2);
    CHECK(says(text, "and 3 more; do: --all, or --json\n"));
    CHECK(!says(text, "\nb "));
}

TEST(CompareReports, TotalsAndUnits) {
    const auto report = [](unsigned pauses, unsigned deepest) {
        Json port = {{"pfc", {{"tx_xoff", {0U, pauses, 1U}}}},
                     {"queues", {{{"deepest_bytes", 7U}}, {{"deepest_bytes", deepest}}}}};
        return Json{{"ports", {{"h1", port}, {"h2", port}}}};
    };
    const Json found = compare_reports(report(4, 20'000), report(9, 40'000));
    CHECK(found["totals"] == Json::parse(R"([{"figure": "xoff_sent", "before": 10, "after": 20},
        {"figure": "deepest_queue_bytes", "before": 20000, "after": 40000}])"));
    CHECK(says(differences_text(found, 9), "20.0 KB         40.0 KB    +100.0 %\n"));
}

TEST(CompareReports, MembersOfAnyKindAreCompared) {
    const std::vector<Json> kinds{nullptr, 5, -5, 1e300, "x", true, Json::array({1, "x"}), {{"y", nullptr}}};
    for (const char* name : {"asserts", "flows", "verdict", "ports", "switches", "seed"})
        for (const Json& one : kinds)
            for (const Json& other : kinds) {
                const Json found = compare_reports({{name, one}}, {{name, other}});
                CHECK(!differences_text(found, 9).empty());
                if (one == other) CHECK(found["differ"] == false);
            }
}

TEST_GROUP(Junit){};

TEST(Junit, FailuresAndErrorsAreEscapedAndCounted) {
    Json report = sample();
    ScenarioConfig scenario;
    scenario.asserts = {{"flows.'in cast'.throughput_bps lt 60G", {}, "a < b & \"c\"", {}},
                        {"verdict.lossless", {}, {}, {}}};
    report["asserts"] = judge_assertions(Asserts::of(scenario, "f", {})->list(), report);
    const std::string text = junit_text({{"one", report, {}}, {"two", nullptr, {"no <file>"}}});
    CHECK(says(text, "<testsuite name=\"one\" tests=\"2\" failures=\"1\" errors=\"0\">"));
    CHECK(says(text, "a &lt; b &amp; &quot;c&quot;"));
    CHECK(says(text, "<testsuite name=\"two\" tests=\"1\" failures=\"0\" errors=\"1\">"));
    CHECK(says(text, "no &lt;file&gt;"));
}

TEST(Junit, WhatXmlCannotHaveIsReplaced) {
    const std::string text =
        junit_text({{"a\x01\xEF\xBF\xBE\xEF\xBF\xBFz", nullptr, {"file \xFF.toml \xEF\xBF\xBD"}}});
    CHECK(says(text, "\"a \xEF\xBF\xBD\xEF\xBF\xBDz\""));
    CHECK(says(text, "file \xEF\xBF\xBD.toml \xEF\xBF\xBD\n"));
}

}  // namespace sluice::scenario_test
