// Grids of advice, and steps over them: without a file.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "control/fabric/advise/grids.hh"
#include "control/fabric/advise/space.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_grid_test {
namespace {

using namespace sluice::fabric;
using Grid = std::vector<std::uint64_t>;
using Texts = std::vector<std::string>;

std::string text_of(const Texts& values) {
    std::string text;
    for (const std::string& each : values) text += (text.empty() ? "" : " ") + each;
    return text;
}
std::string text_of(const std::optional<AdvisePoint>& point) { return point ? text_of(*point) : "none"; }
void same(const std::string& expected, const std::string& actual) {
    STRCMP_EQUAL(expected.c_str(), actual.c_str());
}

AdviseSpace::Axis axis(std::string path, Texts grid, std::string today, bool is_of_min = false) {
    return {{std::move(path), "range", std::move(today), {}, {}}, std::move(grid), is_of_min};
}

// min and max of a curve, its max by factors; and alpha.
AdviseSpace curve_space() {
    return AdviseSpace({axis("wred.a.green_min", {"100KB", "200KB", "400KB", "800KB"}, "200KB"),
                        axis("wred.a.green_max", {"1", "2", "4"}, "400KB", true),
                        axis("group.3.dynamic_th", {"-4", "-3", "-2", "-1", "0", "1", "2", "3"}, "0")});
}

std::string grid_text(const char* range, std::uint64_t cell = 0) {
    const auto parsed = ValueRange::parse(range);
    CHECK(parsed.has_value());
    const auto grid = grid_of(*parsed, cell);
    return grid ? text_of(*grid) : grid.error();
}

}  // namespace

TEST_GROUP(AdviseGrid){};

TEST(AdviseGrid, ValuesAreNumbersInTheirUnit) {
    using Unit = Quantity::Unit;
    for (const auto& [text, unit, number] :
         std::vector<std::tuple<std::string, Unit, double>>{{"-4", Unit::plain, -4},
                                                            {"0.5", Unit::plain, 0.5},
                                                            {"150KB", Unit::size, 150'000},
                                                            {"18KiB", Unit::size, 18'432},
                                                            {"40M", Unit::rate, 40e6},
                                                            {"55us", Unit::time, 55e6}}) {
        const auto read = Quantity::read(text);
        CHECK(read.has_value());
        CHECK(read->unit == unit);
        DOUBLES_EQUAL(number, read->number, 0);
        same(text, read->text());
    }
    for (const char* word : {"", "linear", "nan", "inf", "1e5", "0x10", "--4", "4-", "1.2.3", "5 KB ", "KB"})
        CHECK_FALSE(Quantity::read(word).has_value());
}

TEST(AdviseGrid, StepsOfTheSquareRootOfTwoEndWhereTheRangeEnds) {
    CHECK((Grid{1000, 1414, 2000, 2828, 4000} == root_two_grid(1000, 4000, 1)));
    // The last step is not a sliver.
    CHECK((Grid{1000, 1414, 2000, 2100} != root_two_grid(1000, 2100, 1)));
    CHECK((Grid{1000, 1414, 2100} == root_two_grid(1000, 2100, 1)));
    CHECK((Grid{1000} == root_two_grid(1000, 1000, 1)));
    for (const std::uint64_t value : root_two_grid(18'432, 1'000'192, 256)) CHECK(value % 256 == 0);
    CHECK((Grid{13'800, 19'400, 27'500, 38'900, 55'000, 77'800, 110'000, 156'000, 220'000} ==
           grid_around(55'000)));
    CHECK((Grid{1, 2, 3, 4} == grid_around(1)));
}

TEST(AdviseGrid, ARangeHasTheGridOfItsUnit) {
    same("100KB 141KB 200KB", grid_text("100KB..200KB"));
    same("100KB 141KB 200KB", grid_text("100KB..200KB log"));
    same("100KB 150KB 200KB", grid_text("100KB..200KB x3"));
    same("100KB 138KiB 200KB", grid_text("100KB..200KB", 256));
    same("1 2 3 4", grid_text("1..4"));
    same("1 2 3 4 6 8", grid_text("1..8 log"));
    same("10us 14100ns 20us", grid_text("10us..20us"));
    CHECK(grid_text("0..100").find("101 integers") != std::string::npos);
    CHECK(grid_text("0B..100KB").find("cannot begin at 0") != std::string::npos);
    CHECK(grid_text("1KB..2KB x100").find("at most 64") != std::string::npos);
}

TEST(AdviseGrid, AStepGoesToTheNextValueOfTheGrid) {
    const AdviseSpace space = curve_space();
    const AdvisePoint today = space.starts().front().point;
    same("200KB 400KB 0", text_of(today));
    same("today", space.starts().front().name);
    same("200KB 400KB 1", text_of(space.step(today, 2, true)));
    same("200KB 400KB -1", text_of(space.step(today, 2, false)));
    same("none", text_of(space.step({"200KB", "400KB", "3"}, 2, true)));
    // From beside the grid, and from beyond it.
    same("400KB 3MB 0", text_of(space.step({"300KB", "2250KB", "0"}, 0, true)));
    same("100KB 200KB 0", text_of(space.step({"150KB", "300KB", "0"}, 0, false)));
    same("none", text_of(space.step({"900KB", "900KB", "0"}, 0, true)));
    same("800KB 800KB 0", text_of(space.step({"900KB", "900KB", "0"}, 0, false)));
}

TEST(AdviseGrid, AStepOfMinTakesMaxAlong) {
    const AdviseSpace space = curve_space();
    same("400KB 800KB 0", text_of(space.step({"200KB", "400KB", "0"}, 0, true)));
    same("100KB 2MB 0", text_of(space.step({"200KB", "4MB", "0"}, 0, false)));
    same("400KB 400KB 0", text_of(space.step({"200KB", "200KB", "0"}, 0, true)));
    // Steps of max are factors of min, and never below it.
    same("200KB 800KB 0", text_of(space.step({"200KB", "400KB", "0"}, 1, true)));
    same("200KB 200KB 0", text_of(space.step({"200KB", "400KB", "0"}, 1, false)));
    same("none", text_of(space.step({"200KB", "200KB", "0"}, 1, false)));
    same("200KB 800KB 0", text_of(space.step({"200KB", "4MB", "0"}, 1, false)));
}

TEST(AdviseGrid, AMaxWithARangeOfItsOwnStaysInIt) {
    const AdviseSpace space({axis("p.green_min", {"100KB", "200KB", "400KB"}, "100KB"),
                             axis("p.green_max", {"200KB", "300KB"}, "200KB")});
    same("200KB 300KB", text_of(space.step({"100KB", "200KB"}, 0, true)));
    same("none", text_of(space.step({"200KB", "300KB"}, 0, true)));
    same("none", text_of(space.step({"300KB", "300KB"}, 1, false)));
    for (std::size_t n = 0; n < 64; ++n) {
        const AdvisePoint point = space.drawn(n);
        CHECK(Quantity::read(point[0])->number <= Quantity::read(point[1])->number);
    }
}

TEST(AdviseGrid, FarIsAQuarterAndFourTimes) {
    const AdviseSpace space = curve_space();
    same("800KB 1600KB 0", text_of(space.far({"200KB", "400KB", "0"}, 0, true)));
    same("100KB 200KB 0", text_of(space.far({"200KB", "400KB", "0"}, 0, false)));
    same("400KB 400KB 0", text_of(space.far({"100KB", "100KB", "0"}, 0, true)));
    same("none", text_of(space.far({"800KB", "800KB", "0"}, 0, true)));
    same("100KB 400KB 0", text_of(space.far({"100KB", "100KB", "0"}, 1, true)));
    // Alpha is a power of two.
    same("200KB 400KB 2", text_of(space.far({"200KB", "400KB", "0"}, 2, true)));
    same("200KB 400KB -4", text_of(space.far({"200KB", "400KB", "-3"}, 2, false)));
    const AdviseSpace words({axis("p.cc", {"a", "b", "c"}, "a")});
    same("c", text_of(words.far({"a"}, 0, true)));
    same("none", text_of(words.far({"a"}, 0, false)));
}

TEST(AdviseGrid, TheEdgesOfAMaxFollowItsMin) {
    const AdviseSpace space = curve_space();
    same("100KB", space.keys()[0].low);
    same("800KB", space.keys()[0].high);
    same("100KB", space.keys()[1].low);
    same("3200KB", space.keys()[1].high);
    CHECK(space.is_at_edge({"100KB", "200KB", "0"}, 0));
    CHECK(space.is_at_edge({"50KB", "200KB", "0"}, 0));
    CHECK_FALSE(space.is_at_edge({"200KB", "400KB", "0"}, 0));
    CHECK(space.is_at_edge({"200KB", "200KB", "0"}, 1));
    CHECK_FALSE(space.is_at_edge({"200KB", "400KB", "0"}, 1));
    CHECK(space.is_at_edge({"200KB", "800KB", "0"}, 1));
    CHECK(space.ends({"200KB", "400KB", "0"}, 1) == std::pair(std::string("200KB"), std::string("800KB")));
    CHECK(space.is_at_edge({"200KB", "400KB", "3"}, 2));
}

TEST(AdviseGrid, DrawnPointsCoverTheGridAndAreTheSameEachTime) {
    const AdviseSpace space = curve_space();
    std::set<std::string> mins, ratios, alphas;
    for (std::size_t n = 0; n < 16; ++n) {
        const AdvisePoint point = space.drawn(n);
        CHECK(point == space.drawn(n));
        mins.insert(point[0]);
        ratios.insert(std::to_string(Quantity::read(point[1])->number / Quantity::read(point[0])->number));
        alphas.insert(point[2]);
    }
    // A Sobol sequence has each quarter and eighth of every axis in sixteen points.
    LONGS_EQUAL(4, mins.size());
    LONGS_EQUAL(3, ratios.size());
    LONGS_EQUAL(8, alphas.size());
    CHECK(space.drawn(1) != space.drawn(2));
    CHECK(AdviseSpace({}).drawn(3).empty());
}

TEST(AdviseGrid, APointIsSetByItsPaths) {
    same("wred.a.green_min=200KB wred.a.green_max=400KB group.3.dynamic_th=0",
         text_of(curve_space().sets({"200KB", "400KB", "0"})));
}

}  // namespace sluice::advise_grid_test
