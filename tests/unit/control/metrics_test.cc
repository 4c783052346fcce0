#include "control/server/metrics.hh"

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "CppUTest/TestHarness.h"

using namespace sluice;

namespace {

using Json = nlohmann::ordered_json;

Json small_report() {
    return Json::parse(R"({
        "end_ns": 1500000001, "lossless": true, "ledger": {"rx": 7, "queued": 2},
        "ports": {"p.0\"x": {"rx": {"packets": 5, "bytes": 300}, "drops": {"no_route": 2}, "link_up": false,
                   "physical": {"crc_errors": 3, "rx_pfc": [0, null, 7], "module_temperature_mc": -1250},
                   "pfc": {"rx_xoff": [0, 9]},
                   "queues": [{"tx_packets": 4, "latency_ns": {"p50": 1000, "p999": 2000, "max": 3000}}]}},
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
          R"(sluice_ecmp_members_packets_total{group="10.0.0.0/8",member="0"} 3)", R"(sluice_lossless 1)"})
        if (!has_line(text, line)) FAIL(line);
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
