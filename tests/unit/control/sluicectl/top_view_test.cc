// The pages of `sluicectl top` as text: order by trouble, sparklines, sizes, and text of a hostile switch.
#include "tools/sluicectl/top_view.hh"

#include <algorithm>
#include <utility>

#include "CppUTest/TestHarness.h"

namespace sluice::top_view_test {

using namespace sluice::ctl;

namespace {

Json port_of(std::uint64_t sent_bytes, std::uint64_t drops, std::uint64_t lost) {
    return {{"tx", {{"bytes", sent_bytes}}},
            {"drops", {{"no_route", drops}}},
            {"lossless_drops", {{"no_route", lost}}}};
}
Sample look_of(std::uint64_t now_ns, Json ports) { return {std::move(ports), now_ns}; }

std::string first_word(const TopLine& line) { return line.text.substr(0, line.text.find(' ')); }

}  // namespace

TEST_GROUP(TopView) {
    TopRates rates;
    TopView view{"a\x1b[2J.sock"};
};

TEST(TopView, SortsByTroubleAndNotByAmount) {
    const Json calm = {{"port", "c"}, {"queue", 3}, {"state", "operational"}};
    rates.add(look_of(0, {{"a", port_of(0, 0, 0)}, {"b", port_of(0, 0, 0)}, {"c", port_of(0, 0, 0)}}),
              Json::array({calm}));
    rates.add(look_of(1'000'000'000,
                      {{"a", port_of(125, 90, 0)}, {"b", port_of(0, 1, 1)}, {"c", port_of(0, 0, 0)}}),
              Json::array({calm}));
    auto lines = view.lines(rates, {80, 24});
    STRCMP_EQUAL("b", first_word(lines[3]).c_str());
    STRCMP_EQUAL("a", first_word(lines[4]).c_str());
    CHECK(lines[4].text.find(" 1000 b/s ") != std::string::npos);
    const Json stormed = {{"port", "c"}, {"queue", 3}, {"state", "stormed"}};
    rates.add(look_of(2'000'000'000,
                      {{"a", port_of(125, 99, 0)}, {"b", port_of(0, 1, 1)}, {"c", port_of(0, 0, 0)}}),
              Json::array({stormed}));
    lines = view.lines(rates, {80, 24});
    STRCMP_EQUAL("c", first_word(lines[3]).c_str());
    STRCMP_EQUAL("a", first_word(lines[4]).c_str());
}

TEST(TopView, KeepsToTheScreenAndToPlainText) {
    Json ports = Json::object();
    for (int n = 0; n < 99; ++n) ports["\x1b]0;x\a" + std::to_string(n)] = port_of(9, 0, 0);
    rates.add(look_of(1'000, std::move(ports)), Json::array());
    for (const TopKey key : {TopKey::down, TopKey::page_down, TopKey::enter, TopKey::help, TopKey::back})
        for (const std::size_t width : {0, 1, 39, 40, 80, 300})
            for (const std::size_t height : {0, 1, 7, 8, 24, 90}) {
                view.press(key, rates);
                const auto lines = view.lines(rates, {width, height, false});
                CHECK(lines.size() <= height);
                for (const TopLine& line : lines) {
                    CHECK_TEXT(line.text.size() <= std::max<std::size_t>(width, 1), line.text.c_str());
                    CHECK(line.text.find('\x1b') == std::string::npos);
                }
            }
}

TEST(TopView, ASwitchThatBeginsAnewIsShownSinceItsStart) {
    rates.add(look_of(5'000'000'000, {{"a", port_of(1'000, 0, 0)}}), Json::array());
    rates.forget();
    rates.add(look_of(6'000'000'000, {{"a", port_of(6'000, 0, 0)}}), Json::array());
    CHECK(rates.since_start());
    DOUBLES_EQUAL(8'000, rates.ports().at(0).out_bps, 1e-6);
    rates.add(look_of(1'000'000'000, {{"a", port_of(2, 0, 0)}}), Json::array());
    DOUBLES_EQUAL(16, rates.ports().at(0).out_bps, 1e-6);
    rates.add(look_of(1'000'000'000, {{"a", port_of(2, 0, 0)}}), Json::array());
    CHECK(rates.stands_still());
    LONGS_EQUAL(0, rates.past("port", "a").size());
}

TEST(TopView, Sparklines) {
    STRCMP_EQUAL("@ :*@@", sparkline({9, 0, 1, 5, 8, 99}, 6, 8, false).c_str());
    STRCMP_EQUAL("   @", sparkline({8}, 4, 8, false).c_str());
    STRCMP_EQUAL("▁█", sparkline({7, 0.1, 8}, 2, 8, true).c_str());
    STRCMP_EQUAL("  ", sparkline({1, 2}, 2, 0, true).c_str());
}

TEST(TopView, TextOfAStranger) {
    STRCMP_EQUAL("a?b??c?", shown_text("a\x1b"
                                       "b\xc2\x9b\xff"
                                       "c\xe2\x80\xae")
                                .c_str());
    const auto lines = broken_lines("  one two three\n\nfour", 9);
    LONGS_EQUAL(4, lines.size());
    STRCMP_EQUAL("  one two", lines[0].c_str());
    STRCMP_EQUAL("  three", lines[1].c_str());
    STRCMP_EQUAL("", lines[2].c_str());
}

}  // namespace sluice::top_view_test
