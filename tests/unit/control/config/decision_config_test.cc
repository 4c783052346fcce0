// [decisions] and the command that says the same: refused with a reason, or compiled to the filter that was
// meant.
#include <sstream>
#include <string>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/config/schema/schema.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::decision_config_test {
namespace {

constexpr const char* ports = "[port.p1]\n[port.p2]\n[port.p10]\n";

void refused(const std::string& keys, const std::string& because) {
    const auto config = parse_config("[decisions]\n" + keys, "f");
    CHECK_FALSE_TEXT(config.has_value(), keys.c_str());
    const std::string text = config.error().front().text();
    CHECK_TRUE_TEXT(text.find(because) != std::string::npos, text.c_str());
}

Config good(const std::string& text) {
    auto config = parse_config(text + "\n" + ports, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return *config;
}

tl::expected<DecisionsConfig, std::string> command(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return parse_decisions(words);
}

void refused_command(const std::string& text, const std::string& because) {
    const auto parsed = command(text);
    CHECK_FALSE_TEXT(parsed.has_value(), text.c_str());
    CHECK_TRUE_TEXT(parsed.error().find(because) != std::string::npos, parsed.error().c_str());
}

}  // namespace

TEST_GROUP(DecisionConfig){};

TEST(DecisionConfig, refusesWithAReason) {
    refused("record = \"yes\"", "allowed");
    refused("ring = 1", "is too small");
    refused("ring = 16777217", "is too large");
    refused("ring = \"big\"", "allowed");
    refused("file = 3", "is not a string");
    refused("file = \"a\\u0000b\"", "control character");
    refused("class = [8]", "is too large");
    refused("class = 3", "is not a list");
    refused("port = [\"p1\", \"p1\"]", "twice");
    refused("verdict = [\"lost\"]", "dropped");
    refused("flow = \"10.0.0.1\"", "decisions.flow");
    refused("flow.source = \"10.0.0.1/24\"", "10.0.0.0/24");
    refused("flow.qp = 16777216", "is too large");
    refused("flow.source_port = 65536", "is too large");
    refused("prot = []", "port");
}

TEST(DecisionConfig, aPortThatIsNotThereIsFoundByTheCheck) {
    for (const std::string key : {"port", "egress"}) {
        bool found = false;
        for (const Finding& finding : check_config(good("[decisions]\n" + key + " = [\"p3\"]"), Machine{4}))
            found = found || (finding.id == "decisions-port" && finding.path == "decisions." + key &&
                              finding.severity == Severity::error && finding.place.line == 2);
        CHECK_TRUE_TEXT(found, key.c_str());
    }
}

TEST(DecisionConfig, recordsAreOffUnlessTheyAreAskedFor) {
    CHECK_TRUE(record_mode(good("")) == RecordMode::off);
    LONGS_EQUAL(0, decision_ring(good("")));
    CHECK_FALSE(decision_filter(good(""), good("").decisions).enabled);
    CHECK_TRUE(record_mode(good("[decisions]\nfile = \"x\"")) == RecordMode::on);
    CHECK_TRUE(record_mode(good("[decisions]\nfile = \"x\"\nrecord = \"off\"")) == RecordMode::off);
    CHECK_TRUE(record_mode(good("[[event]]\nat = \"1s\"\ndo = \"port p1 down\"")) == RecordMode::off);
    const Config ready = good("[[event]]\nat = \"1s\"\ndo = \" decisions on port p1\"");
    CHECK_TRUE(record_mode(ready) == RecordMode::ready);
    CHECK_TRUE(decision_ring(ready) >= 65'536);
    CHECK_FALSE(decision_filter(ready, ready.decisions).enabled);
    LONGS_EQUAL(24, decision_ring(good("[decisions]\nrecord = \"on\"\nring = 24")));
}

TEST(DecisionConfig, whatIsWrittenIsWhatIsFiltered) {
    const Config config = good(R"([decisions]
record = "on"
port = ["p10"]
egress = ["p1", "p2"]
class = [0, 3]
verdict = ["dropped", "paused"]
[decisions.flow]
destination = "2001:db8::/33"
qp = 7)");
    const DecisionFilter filter = decision_filter(config, config.decisions);
    CHECK_TRUE(filter.enabled);
    PortMask in;
    in.add(2);  // p1, p2, p10
    PortMask out;
    out.add(0);
    out.add(1);
    CHECK_TRUE(filter.ingress == in && filter.egress == out);
    CHECK_FALSE(filter.any_egress || filter.any_flow);
    LONGS_EQUAL(0b1001, filter.traffic_classes);
    LONGS_EQUAL(bit_of(Verdict::dropped) | bit_of(Verdict::paused), filter.verdicts);
    CHECK_TRUE(filter.flow.destination && filter.flow.destination->address.is_v6);
    LONGS_EQUAL(33, filter.flow.destination->length);
    CHECK_FALSE(filter.flow.source.has_value());
    LONGS_EQUAL(7, *filter.flow.destination_qp);
    const auto back = parse_config(to_toml(config), "f");
    CHECK_TRUE(back && *back == config);
    // The same as a command.
    const auto said = command(
        "on port p10 egress p1 egress p2 class 0 class 3 verdict dropped verdict paused destination "
        "2001:db8::/33 qp 7");
    CHECK_TRUE(said.has_value());
    CHECK_TRUE(decision_filter(config, *said) == filter);
}

TEST(DecisionConfig, aCommandIsRefusedWithAReason) {
    refused_command("", "wanted: decisions on");
    refused_command("of", "wanted: decisions on");
    refused_command("off port p1", "wanted: decisions on");
    refused_command("on port", "wanted: decisions on");
    refused_command("on colour red", "known: port, egress");
    refused_command("on class 8", "allowed: 0 to 7");
    refused_command("on class -1", "allowed: 0 to 7");
    refused_command("on qp 16777216", "allowed: 0 to 16777215");
    refused_command("on source_port 65536", "allowed: 0 to 65535");
    refused_command("on verdict lost", "allowed: dropped");
    refused_command("on source 10.0.0.1/8", "source \"10.0.0.1/8\"");
}

TEST(DecisionConfig, aCommandNeedsASwitchThatIsReadyAndItsPorts) {
    const Config off = good("");
    const Config ready = good("[decisions]\nrecord = \"ready\"");
    const auto on = command("on port p2");
    CHECK_TRUE(check_decisions(off, *on).find("record = \"ready\"") != std::string::npos);
    STRCMP_EQUAL("", check_decisions(ready, *on).c_str());
    STRCMP_EQUAL("no port \"p3\"", check_decisions(ready, *command("on egress p3")).c_str());
    CHECK_TRUE(decision_filter(ready, *on).enabled);
    CHECK_FALSE(decision_filter(ready, *command("off")).enabled);
    CHECK_FALSE(decision_filter(off, *on).enabled);  // whatever is asked for
}

}  // namespace sluice::decision_config_test
