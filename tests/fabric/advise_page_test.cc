// The page of an answer: its data, which are the answer's, and names that are nothing but text.
#include <string>
#include <tuple>
#include <vector>

#include "control/fabric/advise/answer_page.hh"
#include "control/report/page/report_page.hh"
#include "tests/fabric/advise_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_page_test {
namespace {

using namespace sluice::advise_test;

Json data_of(const Bench& bench, const std::string& name = "a fabric") {
    Json advice = bench.advice();
    advice["trials"] = Json::array({{{"switches", {"sw1"}}, {"command", "sluicectl set --watch 10s a=8"}}});
    return advice_for_page(name, "which values?", advice);
}

const Json& tried_at(const Json& row, const std::string& value) {
    for (const Json& each : row["tried"])
        if (each["value"] == value) return each;
    FAIL(("not tried: " + value).c_str());
    return row;
}

}  // namespace

TEST_GROUP(AdvisePage){};

TEST(AdvisePage, ItsDataAreTheAnswers) {
    Bench bench(two_keys(), bowl(), 0.001);
    bench.run();
    const Json data = data_of(bench);
    Json advice = data["advice"];
    advice.erase("trials");
    CHECK(advice == bench.advice());
    STRCMP_EQUAL("which values?", data["question"].get<std::string>().c_str());
    CHECK(advice_text(advice).starts_with(data["headline"].get<std::string>() + "\n"));
    STRCMP_EQUAL("[\"ns\"]", json_text(data["units"]).c_str());
    CHECK_EQUAL(2U, data["rows"].size());
    CHECK_EQUAL(1, data["rows"][0]["today"].get<double>());
    CHECK_EQUAL(8, data["rows"][0]["at"].get<double>());
    CHECK(says(advice, "a: " + data["rows"][0]["says"].get<std::string>() + "\n"));
}

TEST(AdvisePage, WhatWasTriedBesideTheValuesHasTheChangeOfEveryFigure) {
    Bench bench(two_keys(), bowl(), 0.001);
    bench.run();
    const Json advice = bench.advice();
    const Json& row = advice["sensitivity"][0];
    STRCMP_EQUAL("8", row["at"].get<std::string>().c_str());
    STRCMP_EQUAL("[false,false]", json_text(row["ends"]).c_str());
    // A step each way, a quarter, and the end of the range, 12, in the place of four times.
    for (const auto& [value, side, expected] :
         {std::tuple{"7", "below", 1020.0}, std::tuple{"9", "above", 1020.0},
          std::tuple{"2", "below", 1720.0}, std::tuple{"12", "above", 1320.0}}) {
        const Json& tried = tried_at(row, value);
        STRCMP_EQUAL(side, tried["side"].get<std::string>().c_str());
        CHECK(tried["wrong"].is_null());
        CHECK_EQUAL(1U, tried["change"].size());
        DOUBLES_EQUAL(1000, tried["change"][0]["before"].get<double>(), 1);
        DOUBLES_EQUAL(expected, tried["change"][0]["after"].get<double>(), 1);
        CHECK(tried["change"][0]["spread"].get<double>() > 0);
        CHECK(tried["change"][0]["spread"].get<double>() < 2);
    }
}

TEST(AdvisePage, ValueAtWhichTheGoalFailsHasNoFigures) {
    World world = bowl();
    world.keeps = [](const AdvisePoint& point, std::uint64_t, const std::string&) {
        return at(point, 0) < 9;
    };
    Bench bench(two_keys(), world, 0.001);
    bench.run();
    const Json tried = tried_at(bench.advice()["sensitivity"][0], "9");
    CHECK(tried["wrong"].get<std::string>().starts_with("verdict.lossless"));
    CHECK(tried["change"].empty());
}

TEST(AdvisePage, RangeThatEndsSaysSo) {
    Bench bench({axis("a", "5", numbers(1, 9))},
                {{[](const AdvisePoint& point, std::uint64_t) { return 100 * at(point, 0); }}});
    bench.run();
    STRCMP_EQUAL("[true,false]", json_text(bench.advice()["sensitivity"][0]["ends"]).c_str());
}

TEST(AdvisePage, FrontHasSpreadsAndNamesAndTodaysSetStandsBesideIt) {
    // Two figures that conflict: the second grows as the first falls, but for today's, which is worse in
    // both.
    World world{{[](const AdvisePoint& point, std::uint64_t seed) {
                     return 1000 / at(point, 0) + noise(point, seed);
                 },
                 [](const AdvisePoint& point, std::uint64_t seed) {
                     return (at(point, 0) == 1 ? 5000 : 100 * at(point, 0)) + noise(point, seed);
                 }}};
    Bench bench({axis("a", "1", numbers(1, 12))}, world, 0.001);
    bench.run();
    const Json advice = bench.advice();
    CHECK(advice["front"].size() > 1);
    bool has_found = false;
    for (const Json& each : advice["front"]) {
        CHECK(each["values"]["a"] != "1");
        CHECK_EQUAL(2U, each["spread"].size());
        CHECK(each["spread"][0].get<double>() > 0);
        if (each["name"].is_null()) continue;
        has_found = true;
        STRCMP_EQUAL("found", each["name"].get<std::string>().c_str());
    }
    CHECK(has_found);
    CHECK_EQUAL(1U, advice["beaten"].size());
    STRCMP_EQUAL("today", advice["beaten"][0]["name"].get<std::string>().c_str());
    DOUBLES_EQUAL(5000, advice["beaten"][0]["least"][1].get<double>(), 1);
}

TEST(AdvisePage, ValuesAreNumbersOfOneUnitOrWords) {
    const auto rows_of = [](const std::string& today, const std::vector<std::string>& grid) {
        Bench bench({axis("key", today, grid)},
                    {{[](const AdvisePoint&, std::uint64_t seed) { return static_cast<double>(seed); }}});
        bench.run();
        return data_of(bench)["rows"][0];
    };
    const Json sizes = rows_of("20KB", {"10KB", "20KB", "40KB"});
    STRCMP_EQUAL("bytes", sizes["unit"].get<std::string>().c_str());
    CHECK_EQUAL(20'000, sizes["at"].get<double>());
    CHECK_EQUAL(20'000, sizes["today"].get<double>());
    CHECK_EQUAL(10'000, sizes["tried"][0].get<double>());
    CHECK_EQUAL(2000, rows_of("2us", {"1us", "2us", "4us"})["at"].get<double>());
    STRCMP_EQUAL("bps", rows_of("2G", {"1G", "2G"})["unit"].get<std::string>().c_str());
    STRCMP_EQUAL("count", rows_of("2", {"1", "2"})["unit"].get<std::string>().c_str());
    for (const auto& grid : {std::vector<std::string>{"dcqcn", "none"}, {"none", "20KB"}, {"20KB", "2us"}}) {
        const Json words = rows_of(grid[0], grid);
        CHECK(words["at"].is_null());
        CHECK(words["today"].is_null());
        CHECK(words["tried"][0].is_null());
    }
}

TEST(AdvisePage, NamesAreNothingButText) {
    const std::string hostile = "</script><img src=x onerror=alert(1)><!--&{{data}}";
    World world = bowl();
    Bench bench(two_keys(), world, 0.001);
    bench.question.starts.push_back({hostile, hostile, {"5", "5"}});
    bench.question.trials = {hostile};
    bench.run();
    const Json data = data_of(bench, hostile);
    const std::string page = advice_page(data, advice_page_text(data), "/* charts */");
    CHECK(page.find("<img") == page.npos);
    CHECK(page.find("<!--") == page.npos);
    CHECK(page.find("\\u003cimg src=x") != page.npos);
    CHECK(page.find("<title>&lt;/script&gt;&lt;img") != page.npos);
    std::size_t ends = 0;
    for (std::size_t at = page.find("</script>"); at != page.npos; at = page.find("</script>", at + 1))
        ++ends;
    CHECK_EQUAL(3U, ends);
    CHECK(begins_page(page));
}

TEST(AdvisePage, WithoutScriptsTheWholeAnswerIsThere) {
    Bench bench(two_keys(), bowl(), 0.001);
    bench.run();
    const Json data = data_of(bench);
    const std::string text = advice_page_text(data);
    CHECK(text.starts_with(advice_text(data["advice"])));
    CHECK(text.ends_with("\nsluicectl set --watch 10s a=8\n"));
    const std::string page = advice_page(data, text, "");
    const std::size_t from = page.find("<noscript>"), to = page.find("</noscript>");
    CHECK(page.substr(from, to - from).find("    it took ") != page.npos);
    CHECK(page.substr(from, to - from).find("sluicectl set --watch 10s a=8") != page.npos);
}

TEST(AdvisePage, WhereNoSetKeepsTheGoalTheRestIsEmpty) {
    World world = bowl();
    world.keeps = [](const AdvisePoint&, std::uint64_t, const std::string&) { return false; };
    Bench bench(two_keys(), world);
    bench.run();
    const Json advice = data_of(bench)["advice"];
    for (const char* part : {"gain", "front", "beaten", "sensitivity", "certificate", "breaks"})
        CHECK(advice[part].empty());
    CHECK_FALSE(advice["nearest"].is_null());
    CHECK(data_of(bench)["rows"].empty());
}

}  // namespace sluice::advise_page_test
