// Conditions on the report of a switch: paths, words of objects, and what both have of scenarios.
#include "control/report/figures/expression.hh"

#include <optional>
#include <span>
#include <string_view>

#include <string>
#include <vector>

#include "control/report/figures/figures.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::expression_test {
namespace {

using Json = nlohmann::ordered_json;

tl::expected<Expression, std::string> parsed(const std::string& line) { return Expression::parse(line); }

Json report() {
    const Json queue = {
        {"tx_packets", 5}, {"tx_bytes", 1000}, {"dropped_packets", 0}, {"latency_ns", {{"max", 1500}}}};
    const Json port = {{"link_up", true}, {"drops", {{"no_route", 2}}}, {"queues", Json::array({queue})}};
    const Json other = {
        {"link_up", true}, {"drops", Json::object()}, {"queues", Json::array({{{"dropped_packets", 1}}})}};
    return {{"clock", "virtual"},
            {"lossless", true},
            {"verdict", {{"lossless", nullptr}}},
            {"pools", {{"a.b", {{"size", 7}}}}},
            {"end_ns", 2'000'012},
            {"events", Json::array()},
            {"microbursts", Json::array()},
            {"ports", {{"p1", port}, {"p.2", other}}}};
}

// "true", "false", or its error.
std::string judged(const std::string& line) {
    const auto expression = parsed(line);
    if (!expression) return expression.error();
    const Judgment judgment = expression->judge(report(), nullptr);
    if (!judgment.wrong.empty() && judgment.is_unfit) return judgment.wrong;
    return judgment.met ? "true" : judgment.wrong.empty() ? "false" : "false: " + judgment.wrong;
}

}  // namespace

TEST_GROUP(ConditionWords){};

TEST(ConditionWords, fieldsAreComparedByTheirBeginning) {
    for (const char* line :
         {"queue p1.0 dropped == 0", "queue p1.0 tx_packets >= 5", "queue p1.0 tx_packets < 6",
          "queue p1.0 tx_bytes == 1KB", "queue p1.0 latency.max == 1.5us", "port p1 up"})
        STRCMP_EQUAL_TEXT("true", judged(line).c_str(), line);
    for (const char* line : {"queue p1.0 dropped != 0", "queue p1.0 tx_packets > 5",
                             "queue p1.0 tx_packets <= 4", "port p1 down"})
        STRCMP_EQUAL_TEXT("false", judged(line).c_str(), line);
    STRCMP_CONTAINS("tx_packets or tx_bytes", judged("queue p1.0 tx == 0").c_str());
    STRCMP_CONTAINS("perhaps dropped_packets", judged("queue p1.0 droped == 0").c_str());
    STRCMP_CONTAINS("not a single value", judged("queue p1.0 latency == 0").c_str());
}

TEST(ConditionWords, spelledOperatorsAreTheSigns) {
    const std::pair<const char*, const char*> pairs[] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                                         {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
    for (const auto& [word, sign] : pairs)
        for (const char* value : {"4", "5", "6"})
            STRCMP_EQUAL(judged(std::string("queue p1.0 tx_packets ") + sign + " " + value).c_str(),
                         judged(std::string("ports.p1.queues.0.tx_packets ") + word + " " + value).c_str());
}

TEST(ConditionWords, aPathIsACondition) {
    for (const char* line :
         {"lossless", "verdict.lossless eq null", "clock eq virtual", "pools.a.b.size eq 7",
          "ports.p1.drops.no_route eq 2", "ports.p1.drops.ttl_expired eq 0", "stats clock ne real"})
        STRCMP_EQUAL_TEXT("true", judged(line).c_str(), line);
    STRCMP_EQUAL("false: no packet of a lossless class was sent", judged("verdict.lossless").c_str());
    STRCMP_CONTAINS("perhaps p1", judged("ports.p3.link_up").c_str());
    STRCMP_CONTAINS("no_rout", judged("ports.p1.drops.no_rout eq 0").c_str());
    STRCMP_CONTAINS("has 1 entries", judged("ports.p1.queues.1.tx_packets eq 0").c_str());
    STRCMP_CONTAINS("has no parts", judged("ports.p1.link_up.x eq 0").c_str());
    STRCMP_CONTAINS("neither true nor false", judged("ports.p1.drops.no_route").c_str());
    STRCMP_CONTAINS("cannot be compared", judged("lossless eq 1").c_str());
}

TEST(ConditionWords, theyAreOneLanguageWithTheExpressionsOfScenarios) {
    for (const char* line :
         {"max ports.*.queues.*.tx_packets eq 5", "count ports.*.link_up eq 2", "all ports.*.link_up",
          "sum queue p1.0 tx_packets eq 5", "queue p1.0 tx_packets over queue p1.0 tx_bytes eq 0.5%",
          "ports.p1.queues.0.tx_bytes over max ports.*.queues.*.tx_packets eq 200",
          "ports.'p.2'.drops.ttl_expired eq 0", "ports.p.2.link_up", "queue p.2.0 dropped eq 1",
          "port p.2 up", "pools.'a.b'.size eq 7", "pool a.b size eq 7", "verdict.lossless\teq null"})
        STRCMP_EQUAL_TEXT("true", judged(line).c_str(), line);
    STRCMP_CONTAINS("wanted: OP VALUE", judged("ledger balanced").c_str());
    STRCMP_CONTAINS("wanted: OP VALUE", judged("max ports.*.queues.*.tx_packets").c_str());
    STRCMP_CONTAINS("no packet of a lossless class", judged("verdict.lossless lt true").c_str());
}

TEST(ConditionWords, aSwitchIsAskedForThePartThatIsNeeded) {
    const auto part = [](const char* line) { return joined(parsed(line)->part_needed(), "/"); };
    STRCMP_EQUAL("ports/p1/queues/0", part("queue p1.0 dropped eq 0").c_str());
    STRCMP_EQUAL("ports/p1/link_up", part("port p1 up").c_str());
    STRCMP_EQUAL("ports", part("max ports.*.rx.packets lt 5").c_str());
    STRCMP_EQUAL("ports/p.2", part("ports.'p.2'.*.packets eq 5").c_str());
    STRCMP_EQUAL("ports", part("ports.a.rx.packets over max ports.*.rx.packets lt 5").c_str());
    STRCMP_EQUAL("", part("any *.lossless").c_str());
}

TEST(ConditionWords, theFigureIsSaidInItsUnitAndTellsItFromTheBound) {
    const auto finding = [](const char* line) {
        const auto expression = parsed(line);
        return expression->finding(expression->judge(report(), nullptr));
    };
    STRCMP_EQUAL("it is 1000 B", finding("queue p1.0 tx_bytes eq 1KB").c_str());
    STRCMP_EQUAL("it is 1500 ns, at ports.p1.queues.0.latency_ns.max",
                 finding("max ports.*.queues.*.latency_ns.max lt 1us").c_str());
    STRCMP_EQUAL("it is 2 000 012 ns", finding("end_ns lt 2ms").c_str());
    STRCMP_EQUAL("it is up", finding("port p1 down").c_str());
    STRCMP_EQUAL("it is null: no packet of a lossless class was sent", finding("verdict.lossless").c_str());
    STRCMP_EQUAL("it is 2", finding("count ports.*.link_up eq 1").c_str());
}

// The report of a phase leaves out gauges of its ledger, watermarks since the start and averages over the
// run: what asks for them would be false for ever.
TEST(ConditionWords, aPhaseIsAskedOnlyForWhatItsReportHas) {
    const NamesOf any = [](std::span<const std::string>, std::string_view) { return std::nullopt; };
    const auto check = [&](const FigureNode& catalogue, const std::string& line) {
        return parsed(line.c_str())->check(catalogue, any);
    };
    for (const std::string line :
         {"ledger.sent eq 0", "ledger.dropped eq 0", "switches.s.ledger.queued eq 0",
          "hosts.h.sent_packets eq 0", "switches.s.ports.p.queues.3.user_deepest_bytes eq 0",
          "links.l.directions.0.load_ppm eq 0", "flows.f.throughput_bps eq 0"}) {
        STRCMP_EQUAL_TEXT("", check(phase_figures_tree(), line).c_str(), line.c_str());
        STRCMP_EQUAL_TEXT("", check(fabric_figures_tree(), "phases.a." + line).c_str(), line.c_str());
    }
    for (const std::string line :
         {"ledger.queued eq 0", "ledger.on_wire eq 0", "ledger.balanced", "ledger.dropped_by.s.no_route eq 0",
          "switches.s.ports.p.queues.3.deepest_bytes eq 0", "hosts.h.switch eq s"}) {
        CHECK_FALSE_TEXT(check(phase_figures_tree(), line).empty(), line.c_str());
        CHECK_FALSE_TEXT(check(fabric_figures_tree(), "phases.a." + line).empty(), line.c_str());
    }
}

TEST(ConditionWords, aCatalogueAndNamesAreEnoughToCheckThem) {
    const NamesOf names = [](std::span<const std::string>, std::string_view label) {
        return label == "port"   ? std::optional(LabelNames{{"p1", "p.2"}})
               : label == "flow" ? std::optional(LabelNames{{"f"}, true})
                                 : std::nullopt;
    };
    const auto check = [&](const char* line) {
        const auto expression = parsed(line);
        return expression ? expression->check(switch_figures_tree(), names) : expression.error();
    };
    for (const char* line :
         {"queue p1.0 dropped eq 0", "port p.2 up", "max ports.p*.rx.packets lt 5",
          "ports.p1.faults.dropped eq 0", "microbursts.0.peak_bytes lt 1MB",
          "max microbursts.*.peak_bytes lt 1MB", "flows.f.completion_ns.p99 lt 1ms", "flows.0.messages eq 1",
          "ports.p1.drops.no_route eq 0", "verdict.lossless", "hosts.anyone.cc eq none",
          "pools.any.used_bytes over sum pools.*.size_bytes le 1"})
        STRCMP_EQUAL_TEXT("", check(line).c_str(), line);
    for (const auto& [line, wrong] :
         {std::pair("ports.p3.rx.packets eq 0", "known: p1, p.2"),
          std::pair("flows.1.messages eq 1", "known: f"), std::pair("flows.g.messages eq 1", "known: f"),
          std::pair("ports.p1.drops.no_rout eq 0", "perhaps no_route"),
          std::pair("queue p1.0 droped eq 0", "perhaps dropped_packets"),
          std::pair("ports.0.rx.packets eq 0", "p1"),
          std::pair("ports.p*.rx.packets eq 0", "names 2 figures"),
          std::pair("max ports.q*.rx.packets eq 0", "no figure matches"),
          std::pair("sum ports.*.mac eq 0", "is not a number"),
          std::pair("ports.p1.rx eq 0", "not a single value"),
          std::pair("microbursts.0.peek_bytes eq 0", "perhaps peak_bytes"),
          std::pair("clock lt 5", "no order")})
        STRCMP_CONTAINS(wrong, check(line).c_str());
}

TEST(ConditionWords, whatComesWithTheRunIsNotMissedBeforeIt) {
    const auto check = [](const char* line) {
        const auto expression = parsed(line);
        return expression ? expression->check(report()) : expression.error();
    };
    for (const char* line :
         {"ports.p1.faults.dropped eq 0", "ports.p1.injected_packets eq 0", "port p1 replied_packets eq 0",
          "events.7.kind eq port_down", "max microbursts.*.peak_bytes lt 1MB",
          "ecmp.0.members.0.packets ge 1", "count watchdog.* eq 1"})
        STRCMP_EQUAL_TEXT("", check(line).c_str(), line);
    STRCMP_CONTAINS("faulty", check("ports.p1.faulty.dropped eq 0").c_str());
    STRCMP_CONTAINS("p3", check("ports.p3.faults.dropped eq 0").c_str());
    STRCMP_CONTAINS("no figure matches", check("max ports.q*.rx.packets eq 0").c_str());
    STRCMP_CONTAINS("not a time", check("ports.p1.queues.0.latency_ns.max lt 5KB").c_str());
}

TEST(ConditionWords, wrongWordsAreRefused) {
    for (const char* line :
         {"", "queue", "queue p1 dropped == 0", "queue p1.3 dropped = 0",
          "queue p1.3 dropped ==", "queue p1.3 dropped == 0 0", "port p0", "port p0 sideways",
          "planet p0 x == 1", "stats == 1", "a.b c", "a.b eq", "a.b = 1", "a.b eq 1 2"})
        CHECK_FALSE_TEXT(parsed(line).has_value(), line);
}

}  // namespace sluice::expression_test
