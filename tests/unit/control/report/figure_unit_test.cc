// The unit of a figure: by the catalogue, else by its name; values read and figures printed in it.
#include "control/report/figures/figure_unit.hh"

#include <string>
#include <tuple>
#include <utility>

#include "CppUTest/TestHarness.h"

namespace sluice::figure_unit_test {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

TEST_GROUP(FigureUnit){};

TEST(FigureUnit, ItIsTheCataloguesOrElseTheNames) {
    for (const auto& [path, unit] :
         {std::pair("ports.p0.rx.bytes", FigureUnit::bytes),
          std::pair("ports.*.rx.packets", FigureUnit::packets),
          std::pair("hosts.h1.alpha_ppm", FigureUnit::ppm),
          std::pair("flows.f.completion_ns.p99", FigureUnit::ns),
          std::pair("switches.leaf1.ports.h1.rx.bytes", FigureUnit::bytes),
          std::pair("phases.a.flows.0.throughput_bps", FigureUnit::bps),
          std::pair("phases.a.switches.s.hosts.h.rate_bps", FigureUnit::bps),
          std::pair("links.a-b.directions.0.load_ppm", FigureUnit::ppm),
          std::pair("links.a.cable_m", FigureUnit::none), std::pair("collectives.c.bytes", FigureUnit::bytes),
          std::pair("pauses.0.fullest_queue_permille", FigureUnit::permille),
          std::pair("phases.a.pauses.longest_ns", FigureUnit::ns),
          // No row: a name with a dot, and a name that is none.
          std::pair("flows.b.c.completion_ns.p99", FigureUnit::ns),
          std::pair("a.of_all_bytes", FigureUnit::bytes), std::pair("a.b", FigureUnit::none),
          std::pair("", FigureUnit::none)})
        LONGS_EQUAL_TEXT(static_cast<int>(unit), static_cast<int>(unit_of(path)), path);
}

TEST(FigureUnit, AValueOfAnotherUnitIsRefused) {
    for (const auto& [text, path, wrong] :
         {std::tuple("500%", "flows.f.throughput_bps", "not a rate"),
          std::tuple("5ms", "pools.p.size_bytes", "not a size"), std::tuple("1G", "end_ns", "not a time"),
          std::tuple("5ms", "a.load_ppm", "not a share"),
          std::tuple("maybe", "verdict.lossless", "true or false"),
          std::tuple("5", "lossless", "5\" cannot be compared with lossless, which is true or false"),
          std::tuple("5ms", "ports.p.rx.packets", "without a unit"),
          std::tuple("5%", "ledger.dropped", "without a unit")})
        STRCMP_CONTAINS(wrong, value_error(text, path, false).c_str());
    STRCMP_CONTAINS("without a unit", value_error("5ms", "packets", true).c_str());
    for (const auto& [text, path] :
         {std::pair("90G", "throughput_bps"), std::pair("5", "throughput_bps"), std::pair("2ms", "end_ns"),
          std::pair("400KB", "ports.p.rx.bytes"), std::pair("95%", "load_ppm"),
          std::pair("5%", "slowdown_permille"), std::pair("1.5x", "slowdown_permille"),
          std::pair("true", "lossless"), std::pair("null", "lossless"), std::pair("7", "packets"),
          std::pair("5ms", "name")})  // a word
        STRCMP_EQUAL("", value_error(text, path, false).c_str());
}

TEST(FigureUnit, AValueIsReadInIt) {
    for (const auto& [text, unit, value] :
         {std::tuple("90G", FigureUnit::bps, Json(90'000'000'000)),
          std::tuple("2ms", FigureUnit::ns, Json(2'000'000)),
          std::tuple("400KB", FigureUnit::bytes, Json(400'000)),
          std::tuple("5%", FigureUnit::ppm, Json(50'000.0)),
          std::tuple("5%", FigureUnit::permille, Json(50.0)),
          std::tuple("1.2x", FigureUnit::permille, Json(1200.0)),
          std::tuple("5%", FigureUnit::none, Json(0.05)), std::tuple("7", FigureUnit::ns, Json(7)),
          std::tuple("true", FigureUnit::none, Json(true)), std::tuple("null", FigureUnit::bps, Json()),
          std::tuple("5ms", FigureUnit::bytes, Json("5ms")),
          std::tuple("leaf1", FigureUnit::none, Json("leaf1"))})
        STRCMP_EQUAL(value.dump().c_str(), read_value(text, unit).dump().c_str());
}

TEST(FigureUnit, AFigureIsPrintedInIt) {
    for (const auto& [value, unit, text] :
         {std::tuple(Json(61'234'000'000), FigureUnit::bps, "61.234 Gb/s"),
          std::tuple(Json(999), FigureUnit::bps, "999 b/s"),
          std::tuple(Json(12'345), FigureUnit::ns, "12.3 us"),
          std::tuple(Json(400'000), FigureUnit::bytes, "400.0 KB"),
          std::tuple(Json(518'600), FigureUnit::ppm, "51.86 %"),
          std::tuple(Json(1234), FigureUnit::permille, "1.23x"),
          std::tuple(Json(41'250), FigureUnit::mc, "41.2 C"),
          std::tuple(Json(12'345), FigureUnit::packets, "12 345"),
          std::tuple(Json(0.66667), FigureUnit::none, "0.6667"),
          std::tuple(Json(1e300), FigureUnit::ns, "1e+300"), std::tuple(Json(-5), FigureUnit::bytes, "-5"),
          std::tuple(Json(true), FigureUnit::none, "true"), std::tuple(Json(), FigureUnit::ns, "null"),
          std::tuple(Json("up"), FigureUnit::none, "up")})
        STRCMP_EQUAL(text, figure_text(value, unit).c_str());
    STRCMP_EQUAL("2 000 012 ns", exact_text(2'000'012, FigureUnit::ns).c_str());
    STRCMP_EQUAL("1 234", exact_text(1234, FigureUnit::packets).c_str());
}

}  // namespace sluice::figure_unit_test
