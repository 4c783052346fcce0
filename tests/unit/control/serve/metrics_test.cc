// The catalogue of figures and the metrics that come of it. tests/loopback/figures_test.py compares it with
// reports.
#include "control/serve/server/metrics.hh"

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "CppUTest/TestHarness.h"
#include "control/report/figures/figures.hh"
#include "control/report/figures/report_port.hh"

namespace sluice::metrics_test {
namespace {

using Json = nlohmann::ordered_json;

Json small_report() {
    return Json::parse(R"({
        "end_ns": 1500000001, "lossless": true, "ledger": {"rx": 7, "queued": 2},
        "ports": {"p.0\"x": {"rx": {"packets": 5, "bytes": 300}, "drops": {"no_route": 2}, "link_up": false,
                   "physical": {"crc_errors": 3, "rx_pfc": [0, null, 7], "module_temperature_mc": -1250},
                   "pfc": {"rx_xoff": [0, 9]},
                   "queues": [{"tx_packets": 4, "latency_ns": {"p50": 1000, "p999": 2000, "max": 3000}}]}},
        "watchdog": [{"port": "p1", "queue": 3, "state": "operational", "detection_ns": 200000000, "detected": 1}],
        "microbursts": [{"port": "p1", "queue": 3, "start_ns": 5}], "verdict": {"lossless": null}, "unheard_of": 3,
        "ecmp": {"10.0.0.0/8": {"members": [{"port": "p1", "packets": 3}]}}})");
}

bool has_line(const std::string& text, const std::string& line) {
    return text.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_GROUP(Metrics){};

TEST(Metrics, pathsBecomeNamesAndLabels) {
    const std::string text = metrics_text(small_report());
    for (const char* line :
         {R"(sluice_end_seconds_total 1.500000001)", R"(sluice_ledger_rx_total 7)",
          R"(sluice_ledger_queued 2)", R"(sluice_ports_rx_packets_total{port="p.0\"x"} 5)",
          R"(sluice_ports_drops_total{port="p.0\"x",reason="no_route"} 2)",
          R"(sluice_ports_physical_crc_errors_total{port="p.0\"x"} 3)",
          R"(sluice_ports_physical_rx_pfc_total{port="p.0\"x",priority="2"} 7)",
          R"(sluice_ports_physical_module_temperature_celsius{port="p.0\"x"} -1.250)",
          R"(sluice_ports_link_up{port="p.0\"x"} 0)",
          R"(sluice_ports_pfc_rx_xoff_total{port="p.0\"x",priority="1"} 9)",
          R"(sluice_ports_queues_tx_packets_total{port="p.0\"x",queue="0"} 4)",
          R"(sluice_ports_queues_latency_seconds{port="p.0\"x",queue="0",quantile="0.999"} 0.000002000)",
          R"(sluice_ports_queues_latency_seconds{port="p.0\"x",queue="0",quantile="1"} 0.000003000)",
          R"(sluice_watchdog_detected_total{port="p1",queue="3"} 1)",
          R"(sluice_watchdog_detection_seconds{port="p1",queue="3"} 0.200000000)",
          R"(sluice_ecmp_members_packets_total{group="10.0.0.0/8",member="0"} 3)", R"(sluice_lossless 1)"})
        if (!has_line(text, line)) FAIL(line);
}

TEST(Metrics, textNullsListsThatGrowAndWhatNobodyDocumentedAreNoSamples) {
    const std::string text = metrics_text(small_report());
    for (const char* part : {"microbursts_start", "watchdog_queue", "watchdog_state", "unheard_of"})
        if (text.find(part) != std::string::npos) FAIL(part);
    CHECK(has_line(text, "# TYPE sluice_verdict_lossless gauge"));
    CHECK(text.find("\nsluice_verdict_lossless ") == std::string::npos);
}

TEST(Metrics, everyLineIsOfTheTextFormat) {
    const std::regex line_format(
        R"re(# HELP sluice_[a-z0-9_]+ .+\.|# TYPE sluice_[a-z0-9_]+ (counter|gauge)|sluice_[a-z0-9_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? -?[0-9]+(\.[0-9]+)?)re");
    std::istringstream lines(metrics_text(small_report()));
    std::set<std::string> types;
    for (std::string line; std::getline(lines, line);) {
        if (!std::regex_match(line, line_format)) FAIL(line.c_str());
        if (line.starts_with("# TYPE") && !types.insert(line.substr(7, line.find(' ', 7) - 7)).second)
            FAIL(line.c_str());
    }
    CHECK(types.size() > 50);
    for (const std::string& name : types)
        CHECK(metrics_reference().find("| `" + name + "` |") != std::string::npos);
}

TEST(Metrics, aBrokenPromiseIsZero) {
    Json report = small_report();
    report["lossless"] = false;
    CHECK(has_line(metrics_text(report), "sluice_lossless 0"));
}

TEST_GROUP(Figures){};

TEST(Figures, aLeafWithoutARowIsToldByNoFigure) {
    unsigned unknown = 0;
    for_each_leaf(
        Json::parse(R"({"clock": "real", "clocks": 1, "ports": {"p": {"rx": 3, "pfc": {"rx_xoff": 1}}}})"),
        [&](const FigureLeaf& leaf) { unknown += leaf.figure == nullptr; });
    LONGS_EQUAL(3, unknown);  // `clocks`, and two that stop short
}

TEST(Figures, areFoundByTheirPath) {
    for (const char* path : {"", "lossles", "ledger", "ledger.rx.packets", "ports.p0.pfc.rx_xoff"})
        CHECK_TRUE_TEXT(find_figure(path) == nullptr, path);
    for (const Figure& figure : figures()) POINTERS_EQUAL(&figure, find_figure(figure.path));
    POINTERS_EQUAL(find_figure("ports.{port}.pfc.rx_xoff.{priority}"), find_figure("ports.p0.pfc.rx_xoff.3"));
}

TEST(Figures, everythingThatACardCountsHasARowAndEveryRowACounter) {
    PhysicalCounters counters;
    for (auto& kind : counters.value) kind.fill(7);
    counters.module_temperature = 40'000;
    std::set<std::string_view> met;
    for_each_leaf({{"ports", {{"p", {{"physical", physical_json(counters)}}}}}}, [&](const FigureLeaf& leaf) {
        CHECK(leaf.figure != nullptr);
        if (leaf.figure != nullptr) met.insert(leaf.figure->path);
    });
    for (const Figure& figure : figures())
        if (figure.path.starts_with("ports.{port}.physical.") && !met.contains(figure.path))
            FAIL(std::string(figure.path).c_str());
    LONGS_EQUAL(physical_kinds + 1, met.size());
}

}  // namespace sluice::metrics_test
