#include "control/report/figures/condition.hh"

#include <sstream>
#include <string>
#include <vector>

#include "control/report/figures/report_path.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::condition_test {
namespace {

using Json = nlohmann::ordered_json;

tl::expected<Condition, std::string> parsed(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return Condition::parse(words);
}

Json report() {
    const Json queue = {
        {"tx_packets", 5}, {"tx_bytes", 1000}, {"dropped_packets", 0}, {"latency_ns", {{"max", 1500}}}};
    const Json port = {{"link_up", true}, {"drops", {{"no_route", 2}}}, {"queues", Json::array({queue})}};
    return {{"clock", "virtual"},
            {"lossless", true},
            {"verdict", {{"lossless", nullptr}}},
            {"pools", {{"a.b", {{"size", 7}}}}},
            {"ports", {{"p1", port}}}};
}

// "true", "false", or its error.
std::string judged(const std::string& line) {
    const auto condition = parsed(line);
    if (!condition) return condition.error();
    const Json whole = report();
    const ReportPart part = find_part(whole, condition->path);
    if (part.value == nullptr) return part.error();
    const auto value = condition->find(*part.value);
    if (!value) return value.error();
    const auto holds = condition->holds(**value);
    return holds ? (*holds ? "true" : "false") : holds.error();
}

}  // namespace

TEST_GROUP(Condition){};

TEST(Condition, fieldsAreComparedByTheirBeginning) {
    for (const char* line :
         {"queue p1.0 dropped == 0", "queue p1.0 tx_packets >= 5", "queue p1.0 tx_packets < 6",
          "queue p1.0 tx_bytes == 1KB", "queue p1.0 latency.max == 1.5us", "port p1 up"})
        STRCMP_EQUAL_TEXT("true", judged(line).c_str(), line);
    for (const char* line : {"queue p1.0 dropped != 0", "queue p1.0 tx_packets > 5",
                             "queue p1.0 tx_packets <= 4", "port p1 down"})
        STRCMP_EQUAL_TEXT("false", judged(line).c_str(), line);
    STRCMP_CONTAINS("tx_packets or tx_bytes", judged("queue p1.0 tx == 0").c_str());
    STRCMP_CONTAINS("perhaps dropped_packets", judged("queue p1.0 droped == 0").c_str());
    STRCMP_CONTAINS("no single value", judged("queue p1.0 latency == 0").c_str());
}

TEST(Condition, spelledOperatorsAreTheSigns) {
    const std::pair<const char*, const char*> pairs[] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                                         {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
    for (const auto& [word, sign] : pairs)
        for (const char* value : {"4", "5", "6"})
            STRCMP_EQUAL(judged(std::string("queue p1.0 tx_packets ") + sign + " " + value).c_str(),
                         judged(std::string("ports.p1.queues.0.tx_packets ") + word + " " + value).c_str());
}

TEST(Condition, aPathIsACondition) {
    for (const char* line :
         {"lossless", "verdict.lossless eq null", "clock eq virtual", "pools.a.b.size eq 7",
          "ports.p1.drops.no_route eq 2", "ports.p1.drops.ttl_expired eq 0", "stats clock ne real"})
        STRCMP_EQUAL_TEXT("true", judged(line).c_str(), line);
    STRCMP_EQUAL("false", judged("verdict.lossless").c_str());
    STRCMP_CONTAINS("perhaps p1", judged("ports.p2.link_up").c_str());
    STRCMP_CONTAINS("no_rout", judged("ports.p1.drops.no_rout eq 0").c_str());
    STRCMP_CONTAINS("has 1 entries", judged("ports.p1.queues.1.tx_packets eq 0").c_str());
    STRCMP_CONTAINS("has no parts", judged("ports.p1.link_up.x eq 0").c_str());
    STRCMP_CONTAINS("neither true nor false", judged("ports.p1.drops.no_route").c_str());
    STRCMP_CONTAINS("cannot be compared", judged("lossless eq 1").c_str());
}

TEST(Condition, aValueHasTheUnitOfItsFigure) {
    for (const auto& [text, name, wrong] :
         {std::tuple("500%", "throughput_bps", "no rate"), std::tuple("5ms", "size_bytes", "no size"),
          std::tuple("1G", "end_ns", "no time"), std::tuple("5ms", "load_ppm", "no share"),
          std::tuple("maybe", "lossless", "true or false"), std::tuple("5", "lossless", "true or false"),
          std::tuple("5ms", "packets", "without a unit"), std::tuple("5%", "packets", "without a unit")})
        STRCMP_CONTAINS(wrong, value_error(text, name, true).c_str());
    for (const auto& [text, name] :
         {std::pair("90G", "throughput_bps"), std::pair("5", "throughput_bps"), std::pair("2ms", "end_ns"),
          std::pair("400KB", "rx.bytes"), std::pair("95%", "load_ppm"), std::pair("5%", "slowdown_permille"),
          std::pair("true", "lossless"), std::pair("null", "lossless"), std::pair("7", "packets")})
        STRCMP_EQUAL("", value_error(text, name, true).c_str());
    STRCMP_EQUAL("", value_error("5ms", "name", false).c_str());  // a word
    STRCMP_EQUAL("completion_ns", std::string(unit_part("flows.f.completion_ns.p99")).c_str());
    STRCMP_EQUAL("dropped", std::string(unit_part("ledger.dropped")).c_str());
    STRCMP_EQUAL("lossless", std::string(unit_part("lossless")).c_str());
}

TEST(Condition, wrongWordsAreRefused) {
    for (const char* line :
         {"", "queue", "queue p1 dropped == 0", "queue p1.3 dropped = 0",
          "queue p1.3 dropped ==", "queue p1.3 dropped == 0 0", "port p0", "port p0 sideways",
          "planet p0 x == 1", "stats == 1", "a.b c", "a.b eq", "a.b = 1", "a.b eq 1 2"})
        CHECK_FALSE_TEXT(parsed(line).has_value(), line);
}

}  // namespace sluice::condition_test
