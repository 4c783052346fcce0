#include <array>
#include <stdexcept>

#include "control/config/schema/config.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/shell.hh"
#include "tools/sluicectl/table.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sluicectl_test {

using namespace sluice::ctl;

namespace {

Words words(std::string_view line) { return words_of(line); }

// The message of the refusal; empty: none.
template <class Call>
std::string refusal(Call call, int status = exit_usage) {
    try {
        call();
    } catch (const Failure& failure) {
        LONGS_EQUAL(status, failure.status);
        return failure.message;
    }
    return {};
}

void says(const std::string& text, std::string_view part) {
    CHECK_TRUE_TEXT(text.find(part) != std::string::npos, text.c_str());
}

}  // namespace

TEST_GROUP(Sluicectl){static std::string matched(std::string_view line){
    return std::string(commands()[grammar().match(words(line)).command].pattern);
}  // namespace sluice::sluicectl_test
}
;

TEST(Sluicectl, RefusesWhatMeansNothing) {
    for (const char* line : {"", "x", "port", "port h0 sideways", "route add", "route add 10.0.0.0/8",
                             "neigh add 10.0.0.2 lladdr", "neigh add 10.0.0.2 dev p0 dev p1 lladdr x",
                             "clock show now", "set", "config", "s", "queue hold"}) {
        const std::string why = refusal([&] { matched(line); });
        if (std::string_view(line) == "port") continue;  // is its `show`
        CHECK_TRUE_TEXT(!why.empty(), line);
    }
}

TEST(Sluicectl, APrefixMustMeanOneThing) {
    STRCMP_EQUAL("route show [PREFIX]", matched("ro sh").c_str());
    STRCMP_EQUAL("route delete PREFIX", matched("route del 10.0.0.0/8").c_str());
    STRCMP_EQUAL("port show [PORT] [total] [rates] [over TIME]", matched("port").c_str());
    STRCMP_EQUAL("port PORT up|down", matched("port p0 up").c_str());
    STRCMP_EQUAL("port PORT up|down", matched("po p0 d").c_str());
    STRCMP_EQUAL("unset KEY... [confirm TIME] [force]", matched("uns a").c_str());
    says(refusal([] { matched("po s"); }), "show or set");
    says(refusal([] { matched("rute sh"); }), "perhaps route");
    says(refusal([] { matched("route shwo"); }), "perhaps show");
}

TEST(Sluicectl, NamedValuesStandAnywhere) {
    for (const char* line :
         {"neigh add 10.0.0.2 lladdr m dev p0 vlan 7", "neigh add 10.0.0.2 --vlan 7 dev p0 lladdr m",
          "neigh add 10.0.0.2 --dev p0 --lladdr m vl 7"}) {
        const Arguments said = grammar().match(words(line));
        STRCMP_EQUAL("10.0.0.2", said.value("ADDRESS").c_str());
        STRCMP_EQUAL("p0", said.value("dev").c_str());
        STRCMP_EQUAL("m", said.value("lladdr").c_str());
        STRCMP_EQUAL("7", said.value("vlan").c_str());
    }
}

TEST(Sluicectl, ValuesAreSaidAsKeysAndValues) {
    const auto said = [](std::string_view line) {
        Arguments arguments = grammar().match(words(line));
        std::string text;
        for (const Json& change : values_said(arguments))
            text += change["path"].get<std::string>() + "=" + change["value"].get<std::string>() + ";";
        for (const auto& [name, value] : arguments.values) text += " " + name + " " + value;
        return text;
    };
    constexpr const char* one = "a.b=c; confirm 30s force force";
    for (const char* line : {"set --force a.b c --confirm 30s", "set a.b --confirm 30s --force c",
                             "set force a.b=c confirm 30s", "set a.b = c --conf 30s force"})
        STRCMP_EQUAL(one, said(line).c_str());
    STRCMP_EQUAL("a.b=c; confirm 30s force forc", said("set a.b c conf 30s forc").c_str());
    STRCMP_EQUAL("a=1;b=2;c=x=y;d=z=;", said("set a=1 b 2 c=x=y d = z=").c_str());
    STRCMP_EQUAL("a=;b=keep;", said("set a= b keep").c_str());
    for (const char* line : {"set a", "set a=1 b", "set a =", "set a=1 confirm", "set a --force"})
        says(refusal([&] { said(line); }), "is missing; wanted: set KEY=VALUE...");
    says(refusal([&] { said("set a b --force --force"); }), "force comes twice");
}

TEST(Sluicectl, AKeyAwaitsItsValue) {
    const auto awaiting = [](std::string_view line) { return key_before(words(line)).value_or("-"); };
    for (const char* line :
         {"a.b", "a.b=", "a.b =", "x=1 a.b", "x 1 a.b =", "force a.b", "--confirm 1s a.b="})
        STRCMP_EQUAL("a.b", awaiting(line).c_str());
    for (const char* line : {"", "a.b c", "a.b=c", "a.b = c", "a.b= c", "force", "watch 1s", "--keep"})
        STRCMP_EQUAL("-", awaiting(line).c_str());
}

TEST(Sluicectl, EveryPatternMatchesItsOwnPlaces) {
    for (const Command& command : commands()) {
        Words line;
        for (const Element& element : parse_pattern(command.pattern)) {
            if (element.optional) continue;
            if (element.kind == Element::Kind::choice)
                line.push_back(element.words[0]);
            else
                line.push_back(element.name);
            if (element.kind == Element::Kind::pair) line.push_back(element.place);
        }
        const Arguments said = grammar().match(line);
        STRCMP_EQUAL(std::string(command.pattern).c_str(),
                     std::string(commands()[said.command].pattern).c_str());
    }
}

TEST(Sluicectl, NextHopsAsIproute2SaysThem) {
    const auto via = [](std::string_view line) { return parse_hops(words(line)).via.dump(); };
    STRCMP_EQUAL(R"([{"address":"10.0.1.2","weight":1}])", via("via 10.0.1.2").c_str());
    constexpr const char* two = R"([{"address":"10.0.1.2","weight":3},{"address":"10.0.2.2","weight":1}])";
    for (const char* line : {"via 10.0.1.2 weight 3 via 10.0.2.2",
                             "nexthop via inet 10.0.1.2 weight 3 nexthop via 10.0.2.2 weight 1"})
        STRCMP_EQUAL(two, via(line).c_str());
    constexpr const char* at_ports =
        R"([{"address":"fe80::1","weight":3,"port":"p1"},{"address":"fe80::1","weight":1,"port":"p2"}])";
    for (const char* line : {"nexthop via fe80::1 dev p1 weight 3 nexthop via fe80::1 dev p2",
                             "nexthop dev p1 via inet6 fe80::1 weight 3 nexthop dev p2 via fe80::1",
                             "via fe80::1 weight 3 dev p1 via fe80::1 dev p2"})
        STRCMP_EQUAL(at_ports, via(line).c_str());
    STRCMP_EQUAL("\"blackhole\"", via("blackhole").c_str());
    for (const char* line :
         {"weight 3", "via 10.0.1.2 weight 0", "via 10.0.1.2 weight 257", "via 10.0.1", "via", "dev p1",
          "nexthop", "blackhole via 10.0.1.2", "via 10.0.1.2 nexthop weight 2", "10.0.1.2",
          "via 10.0.1.2 metric 5", "proto static via 10.0.1.2"})
        CHECK_TRUE_TEXT(!refusal([&] { parse_hops(words(line)); }).empty(), line);
}

TEST(Sluicectl, ALineIsWords) {
    LONGS_EQUAL(0, words("  # nothing").size());
    LONGS_EQUAL(3, words("a\t\"b c\"  d#e\r").size());
    STRCMP_EQUAL("b c", words("a \"b c\"")[1].c_str());
    STRCMP_EQUAL("", words("a \"\"")[1].c_str());
    STRCMP_EQUAL("d#e", words("d#e # f")[0].c_str());
    CHECK_TRUE(!refusal([] { words("a \"b"); }).empty());
}

TEST(Sluicectl, FiguresAreWrittenAsTheCatalogueHasThem) {
    const Json port = Json::parse(R"({"mac": "02:00:00:00:00:01", "flaps": 1234, "link_up": false,
        "link_speed_bps": 25000000000, "rx": {"bytes": 1234567}, "pfc": {"rx_paused_ns": [0, 12345]},
        "physical": {"module_temperature_mc": 41250, "crc_errors": null},
        "queues": [{"occupancy_bytes": 1234567, "latency_ns": {"p50": 1234, "p99": 1960, "max": 1987}}]})");
    const Figures figure("ports.{port}", port);
    CHECK_THROWS(std::logic_error, figure("flap"));
    CHECK_THROWS(std::logic_error, figure("rx"));
    CHECK_THROWS(std::logic_error, Figures("ports", port)("flaps"));
    for (const auto& [name, text] : {std::pair{"mac", "02:00:00:00:00:01"},
                                     {"flaps", "1 234"},
                                     {"link_up", "false"},
                                     {"link_speed_bps", "25 Gb/s"},
                                     {"rx.bytes", "1 234 567"},
                                     {"pfc.rx_paused_ns.1", "12.3 us"},
                                     {"physical.module_temperature_mc", "41.2 C"},
                                     {"physical.crc_errors", "-"},
                                     {"imissed", "-"},
                                     {"queues.0.occupancy_bytes", "1234.6 KB"},
                                     {"queues.0.latency_ns.p50", "1.2 us"},
                                     {"queues.0.latency_ns.p99", "1.9 us"},  // not above the longest
                                     {"queues.0.latency_ns.max", "1987 ns"}})
        STRCMP_EQUAL(text, figure(name).c_str());
    const Json flow = Json::parse(R"({"rate_bps": 33954924716, "alpha_ppm": 518600,
        "slowdown_permille": {"p50": 1234, "p99": 98765, "max": 99999},
        "completion_ns": {"p50": 123456, "max": 654321, "max_is_rounded": true}})");
    for (const auto& [name, text] : {std::pair{"rate_bps", "33.955 Gb/s"},
                                     {"alpha_ppm", "51.86 %"},
                                     {"slowdown_permille.p50", "1.2"},
                                     {"slowdown_permille.p99", "99"},
                                     {"completion_ns.p50", "120 us"},
                                     {"completion_ns.max", "650 us"}})
        STRCMP_EQUAL(text, Figures("flows.{flow}", flow)(name).c_str());
}

}  // namespace sluice::sluicectl_test
