// A counter takes two places: where it is counted, and its row. Here the product's code has another
// catalogue, the file figures.def of this folder.
#include <string>
#include <string_view>

#include "CppUTest/TestHarness.h"
#include "control/report/figures/figures.hh"
#include "control/report/figures/report_rows.hh"
#include "control/serve/server/metrics.hh"

namespace sluice::catalogue_test {
namespace {

using Json = nlohmann::ordered_json;

struct Seen {
    std::uint64_t seen = 0, late = 0;
};

FIGURE_ROWS(seen_rows, Seen, "ports.{port}") = {
#include "control/report/figures/figures.def"
};

Json report() { return {{"ports", {{"p0", json_of(seen_rows, {42, 7})}, {"p1", json_of(seen_rows, {1})}}}}; }

bool has_line(const std::string& text, std::string_view line) {
    return text.find("\n" + std::string(line) + "\n") != std::string::npos;
}

}  // namespace

TEST_GROUP(Catalogue){};

TEST(Catalogue, aRowIsAFigureOfTheReport) {
    STRCMP_EQUAL(R"({"ports":{"p0":{"seen_packets":42,"late":{"seen_packets":7}},"p1":{"seen_packets":1}}})",
                 report().dump().c_str());
}

TEST(Catalogue, aRowIsAMetric) {
    const std::string text = metrics_text(report());
    for (const char* line : {R"(sluice_ports_seen_packets_total{port="p0"} 42)",
                             R"(sluice_ports_seen_packets_total{port="p1"} 1)",
                             R"(sluice_ports_late_seen_packets_total{port="p0"} 7)"})
        CHECK_TRUE_TEXT(has_line(text, line), line);
    CHECK(text.find(R"(late_seen_packets_total{port="p1"})") == std::string::npos);
}

TEST(Catalogue, aRowIsInBothReferences) {
    const std::string text = figures_reference() + metrics_reference();
    for (const char* line :
         {"| `ports.{port}.seen_packets` | counter | packets | `sluice_ports_seen_packets_total` | Packets "
          "that a test has seen. |",
          "| `sluice_ports_late_seen_packets_total` | counter | port | Packets that a test has seen too "
          "late. "
          "|"})
        CHECK_TRUE_TEXT(has_line(text, line), line);
}

TEST(Catalogue, aRowIsKnownByItsPathBeforeThereIsAReport) {
    LONGS_EQUAL(2, figures().size());
    POINTERS_EQUAL(&figures()[0], find_figure("ports.p0.seen_packets"));
    CHECK(find_figure("ports.p0.late.seen_packets")->known == FigureKnown::later);
    POINTERS_EQUAL(nullptr, find_figure("ports.p0.seen_packet"));
    POINTERS_EQUAL(nullptr, find_figure("ledger.rx"));
}

TEST(Catalogue, aDifferenceOfReportsHasTheRow) {
    const auto after_less_before = [](const Figure&, const Json& after, const Json* before) {
        return Json(after.get<int>() - (before == nullptr ? 0 : before->get<int>()));
    };
    const Json before = {{"ports", {{"p0", json_of(seen_rows, {40})}}}};
    STRCMP_EQUAL(R"({"ports":{"p0":{"seen_packets":2,"late":{"seen_packets":7}},"p1":{"seen_packets":1}}})",
                 difference(&before, report(), &switch_figures_tree(), after_less_before).dump().c_str());
}

}  // namespace sluice::catalogue_test
