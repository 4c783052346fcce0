// Configurations that are refused, each with its error line.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/toml_text.hh"
#include "tests/unit/control/config/config_text.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::config_refusals_test {

using namespace sluice::config_text;

TEST_GROUP(ConfigRefusals){};

TEST(ConfigRefusals, errorIsOneLineWithPlacePathReasonRangeAndRemedy) {
    STRCMP_EQUAL(
        "f:2:9: port.p1.speed: \"100X\" has the unknown unit \"X\"; allowed: 1G to 800G, a speed with a "
        "whole "
        "number of picoseconds a byte (1G, 2.5G, 5G, 10G, 25G, 40G, 50G, 100G, 200G, 400G, 800G); do: write "
        "for "
        "example \"100G\"",
        errors_of("[port.p1]\nspeed = \"100X\"\n").c_str());
    STRCMP_EQUAL(
        "f:3:10: route[0].prefix: \"10.0.0.1/8\" has host bits set; allowed: an IPv4 or IPv6 prefix without "
        "host "
        "bits; do: write 10.0.0.0/8",
        errors_of("\n[[route]]\nprefix = \"10.0.0.1/8\"\nvia = \"blackhole\"").c_str());
}

TEST(ConfigRefusals, refusesWrongTypes) {
    refuses("seed = \"x\"", {"f:1:8: seed: \"x\" does not start with a number; allowed: an integer from 0"});
    refuses("seed = 1.5", {"f:1:8: seed: 1.5 is not an integer"});
    refuses("seed = nan", {"f:1:8: seed: nan is not an integer"});
    refuses("workers = \"2\"", {"f:1:11: workers: \"2\" is not an integer; allowed: an integer from 1 to 16; "
                                "do: write for example 1"});
    refuses("clock = 1", {"f:1:9: clock: 1 is not a string; allowed: \"virtual\", \"real\"; do: write for "
                          "example \"virtual\""});
    refuses("hash_roce_qp = 1", {"f:1:16: hash_roce_qp: 1 is not a boolean"});
    refuses("buffer = 5",
            {"f:1:10: buffer: 5 is not a section; allowed: a table; do: write its keys under [buffer]"});
    refuses("[buffer]\nsize = 1979-05-27", {"f:2:8: buffer.size: the date or time has the wrong type"});
    refuses("port = []", {"f:1:8: port: the list is not a section"});
    refuses("[port]\np1 = 4", {"f:2:6: port.p1: 4 is not a section"});
    refuses("[route]\nprefix = 1", {"f:1:1: route: the table is not a list of tables; allowed: [[route]]"});
    refuses("route = [3]", {"f:1:10: route[0]: 3 is not a section"});
    refuses("[port.p1]\nmac = 5", {"f:2:7: port.p1.mac: 5 is not a string: the key wants a MAC address; "
                                   "allowed: the MAC address of one station, or \"auto\""});
    refuses("[port.p1]\npfc = 3", {"f:2:7: port.p1.pfc: 3 is not a list; allowed: a list of at most 8, each "
                                   "an integer from 0 to 7, or \"preset\"; do: write for example [1]"});
}

TEST(ConfigRefusals, refusesValuesOutOfRange) {
    refuses("seed = -1", {"f:1:8: seed: -1 is negative"});
    refuses("seed = \"18446744073709551616\"", {"f:1:8: seed: \"18446744073709551616\" is too large"});
    refuses("workers = 0", {"f:1:11: workers: 0 is too small"});
    refuses("workers = 17", {"f:1:11: workers: 17 is too large"});
    refuses("cores = [1, 1024]", {"f:1:13: cores[1]: 1024 is too large"});
    refuses("cores = [1, 1]", {"f:1:13: cores[1]: 1 is in the list twice"});
    refuses("[buffer]\ncell = 63", {"f:2:8: buffer.cell: 63 is too small"});
    refuses("[buffer]\ncell = \"2049B\"", {"f:2:8: buffer.cell: \"2049B\" is too large"});
    refuses("[buffer]\nsize = 0", {"f:2:8: buffer.size: 0 is too small"});
    refuses("[buffer]\nsize = \"99999999999TB\"", {"f:2:8: buffer.size: \"99999999999TB\" is too large"});
    refuses("[buffer]\nsize = -1", {"f:2:8: buffer.size: -1 is negative"});
    refuses("[virtual]\nturn = \"2s\"", {"f:2:8: virtual.turn: \"2s\" is too long"});
    refuses("[virtual]\nturn = 5", {"f:2:8: virtual.turn: 5 has no unit"});
    refuses("[virtual]\nturn = \"-5us\"", {"f:2:8: virtual.turn: \"-5us\" is negative"});
    refuses("[port.p1]\nspeed = \"99999999999G\"", {"f:2:9: port.p1.speed: \"99999999999G\" is too large"});
    refuses("[port.p1]\nspeed = \"3G\"", {"f:2:9: port.p1.speed: \"3G\" is not a port speed"});
    refuses("[port.p1]\nspeed = \"0G\"", {"f:2:9: port.p1.speed: \"0G\" is not a port speed"});
    refuses("[port.p1]\nmtu = 67",
            {"f:2:7: port.p1.mtu: 67 is too small; allowed: an integer from 68 to 9216"});
    refuses("[port.p1]\nmtu = 9217", {"f:2:7: port.p1.mtu: 9217 is too large"});
    refuses("[port.p1]\ncable = \"0.5m\"",
            {"f:2:9: port.p1.cable: \"0.5m\" is not a whole number of meters"});
    refuses("[port.p1]\ncable = \"101km\"", {"f:2:9: port.p1.cable: \"101km\" is too large"});
    refuses("[port.p1]\npfc = [3, 8]", {"f:2:11: port.p1.pfc[1]: 8 is too large"});
    refuses("[port.p1]\nmac = \"03:00:00:00:00:01\"",
            {"f:2:7: port.p1.mac: \"03:00:00:00:00:01\" is a group address"});
    refuses("[port.p1]\nmac = \"00:00:00:00:00:00\"",
            {"f:2:7: port.p1.mac: \"00:00:00:00:00:00\" is not a station's"});
    refuses("[port.p1]\ntrust = \"dcsp\"",
            {"f:2:9: port.p1.trust: \"dcsp\" is not a known word; allowed: \"dscp\", \"pcp\", \"port\""});
    refuses("[port.p1.queue.8]\nweight = 1",
            {"f:1:16: port.p1.queue.8: \"8\" is not an index; allowed: 0 to 7"});
    refuses("[port.p1.queue.3]\nweight = 0", {"f:2:10: port.p1.queue.3.weight: 0 is too small"});
    refuses("[port.p1]\naddress = [\"10.0.0.1\"]",
            {"f:2:12: port.p1.address[0]: \"10.0.0.1\" has no prefix length; allowed: an IPv4 or IPv6 "
             "address with the "
             "length of its subnet; do: write 10.0.0.1/32 for one host alone"});
    refuses("[map.m]\ndscp_to_tc = {\"64\" = 1}",
            {"f:2:15: map.m.dscp_to_tc.64: the key \"64\" is not a number from 0 to 63"});
    refuses("[map.m]\ndscp_to_tc = {\"026\" = 1}",
            {"f:2:15: map.m.dscp_to_tc.026: the key \"026\" is not a number"});
    refuses("[map.m]\ndscp_to_tc = {\"26\" = 8}", {"f:2:22: map.m.dscp_to_tc.26: 8 is too large"});
    refuses(
        "[map.m]\ncnp_tc = \"off\"",
        {"f:2:10: map.m.cnp_tc: \"off\" is not an integer; allowed: an integer from 0 to 7, or \"dscp\""});
    refuses("[[event]]\nat = \"101d\"\ndo = \"x\"",
            {"f:2:6: event[0].at: \"101d\" has the unknown unit \"d\""});
    refuses("[[event]]\nat = \"-1s\"\ndo = \"\"",
            {"f:2:6: event[0].at: \"-1s\" is negative", "f:3:6: event[0].do: \"\" is empty"});
    refuses("[[event]]\nat = \"8640001s\"\ndo = \"a\\nb\"",
            {"f:2:6: event[0].at: \"8640001s\" is too long",
             "f:3:6: event[0].do: \"a\\u000Ab\" has a control character"});
}

TEST(ConfigRefusals, refusesUnknownAndMissingKeys) {
    refuses("sed = 1", {"f:1:1: sed: \"sed\" is not a known key; allowed: clock, seed,"});
    CHECK(errors_of("sed = 1").ends_with("do: write seed"));
    CHECK(errors_of("[port.p1]\nspede = 1").ends_with("do: write speed"));
    CHECK(errors_of("[port.p1]\ndefault_trafficclass = 1").ends_with("do: correct its name or leave it out"));
    CHECK(errors_of("[prot.p1]").ends_with("do: write port"));
    refuses("[port.p1.queue.3]\nlimit = 1", {"f:2:1: port.p1.queue.3.limit: \"limit\" is not a known key"});
    refuses("[[route]]\nprefix = \"10.0.0.0/8\"",
            {"f:1:1: route[0]: the key \"via\" is missing; do: add for example via ="});
    refuses("[[neighbor]]", {"f:1:1: neighbor[0]: the key \"address\" is missing",
                             "f:1:1: neighbor[0]: the key \"port\"", "f:1:1: neighbor[0]: the key \"mac\""});
    refuses("[[event]]\nat = 0", {"f:1:1: event[0]: the key \"do\" is missing"});
    refuses("[port.\"a b\"]", {"f:1:7: port.\"a b\": \"a b\" is not a name; allowed: 1 to 32 letters"});
    refuses("[port.\"\"]", {"f:1:7: port.\"\": \"\" is not a name"});
    refuses("[map.abcdefghijklmnopqrstuvwxyz0123456]",
            {"f:1:6: map.abcdefghijklmnopqrstuvwxyz0123456: \"abc"});
}

TEST(ConfigRefusals, suggestsOnlyWhatIsNear) {
    const std::vector<std::string> known{"port", "speed", "default_tc"};
    STRCMP_EQUAL("port", nearest_name("prot", known).c_str());   // swapped
    STRCMP_EQUAL("port", nearest_name("ports", known).c_str());  // inserted
    STRCMP_EQUAL("speed", nearest_name("sped", known).c_str());
    STRCMP_EQUAL("default_tc", nearest_name("defualt_tcs", known).c_str());
    STRCMP_EQUAL("", nearest_name("host", known).c_str());
    STRCMP_EQUAL("", nearest_name("", known).c_str());
    STRCMP_EQUAL("", nearest_name(std::string(1'000'000, 'p'), known).c_str());
}

TEST(ConfigRefusals, refusesBadNextHops) {
    const std::string head = "[[route]]\nprefix = \"10.0.0.0/8\"\nvia = ";
    refuses(head + "[]", {"f:3:7: route[0].via: the list is empty"});
    refuses(head + "5", {"f:3:7: route[0].via: 5 is not a list of next hops"});
    refuses(head + "\"blackhol\"", {"f:3:7: route[0].via: \"blackhol\" is not an IP address"});
    refuses(head + "[\"10.0.0.1/8\"]", {"f:3:8: route[0].via[0]: \"10.0.0.1/8\" is not an IP address; "
                                        "allowed: an IPv4 or IPv6 address; do: leave the prefix length out"});
    refuses(head + "[{weight = 2}]", {"f:3:8: route[0].via[0]: a next hop without an address"});
    refuses(head + "[{address = \"10.0.0.1\", weight = 0}]",
            {"f:3:40: route[0].via[0].weight: 0 is too small; allowed: an integer from 1 to 256"});
    refuses(head + "[{address = \"10.0.0.1\", wieght = 1}]",
            {"f:3:31: route[0].via[0].wieght: \"wieght\" is not a key of a next hop"});
    refuses(head + "[{address = \"fe80::1\", port = 1}]", {"f:3:37: route[0].via[0].port: 1 is not "});
}

TEST(ConfigRefusals, reportsAllErrorsInTheOrderOfTheFile) {
    refuses(
        "seed = -1\n[port.p2]\nspeed = \"7G\"\nmtu = 1\n[port.p1]\nmtu = 2\n[buffer]\ncell = 1\nsise = 4\n",
        {"f:1:8: seed", "f:3:9: port.p2.speed", "f:4:7: port.p2.mtu", "f:6:7: port.p1.mtu",
         "f:8:8: buffer.cell", "f:9:1: buffer.sise"});
}

TEST(ConfigRefusals, refusesSyntaxErrorsAtTheirPlace) {
    refuses("seed = 1\nworkers = = 2\n", {"f:2:11: "});
    refuses("seed = \"abc", {"f:1:12: "});
    refuses("seed = 99999999999999999999", {"f:1:"});
    refuses("seed = \"\xFF\xFE\"", {"f:1:"});
    refuses(std::string("a\0b", 3), {"f:1:2: "});
    refuses("[port.p1]\nmtu = 1500\n# again\n [port.p1] # twice\n", {"f:4:2: "});
    CHECK(errors_of("[port.p1]\nmtu = 1500\n [port.p1] # twice\n")
              .ends_with("do: it is on line 1 already: rename this one or merge the two"));
}

TEST(ConfigRefusals, refusesNestingThatWouldExhaustTheStack) {
    std::string dotted = "x = 1\n[a";
    for (int i = 0; i < 1'000'000; ++i) dotted += ".a";
    refuses(dotted + "]\n", {"f:2:1: a dotted key has too many parts; allowed: at most 16"});
    refuses("x = " + std::string(1'000'000, '['), {"f:1:"});
    std::string quoted_parts = "\"a\\\"\"";
    for (int i = 0; i < 20; ++i) quoted_parts += " . 'a#'";
    const auto excess = [](const std::string& text) { return excess_of(text).has_value(); };
    CHECK_TRUE(excess(quoted_parts + " = 1"));
    CHECK_FALSE(excess("a = \"" + std::string(99, '.') + "\" # " + std::string(99, '.')));
    CHECK_FALSE(excess("a = \"\"\"x\"\n" + std::string(99, '.') + "\n\"\"\""));
    CHECK_FALSE(excess("a = \"\\"));
    CHECK_FALSE(excess("a = '''"));
}

// toml++ compares each of these with all others: a document of 8 MiB would take it minutes.
TEST(ConfigRefusals, refusesWhatWouldTakeTimeBeyondMeasure) {
    std::string dotted, nested, lists, again;
    for (int i = 0; i < 40'000; ++i) dotted += "x" + std::to_string(i) + ".y = 1\n";
    for (int i = 0; i < 20'000; ++i) nested += "[[a]]\n[[a.b]]\n[[a.b.c]]\n";
    for (int i = 0; i < 65; ++i) lists += "[[a" + std::to_string(i) + "]]\n";
    for (int i = 0; i < 65; ++i) again += "  [[event]]\nat = \"1s\"\ndo = \"x\"\n";
    refuses(dotted, {"f:32769:1: there are too many dots in keys and headers; allowed: at most 32768"});
    refuses(nested, {"f:32769:1: there are too many dots in keys and headers; allowed: at most 32768"});
    refuses(lists, {"f:65:1: there are too many lists of tables; allowed: at most 64"});
    CHECK_FALSE(excess_of(again).has_value());
    std::string largest;
    for (int i = 0; i < 256 * 8; ++i)
        largest += fmt::format("[port.p{0}.queue.{1}]\n[port.p{0}.priority_group.{1}]\n", i / 8, i % 8);
    CHECK_FALSE(excess_of(largest).has_value());
}

TEST(ConfigRefusals, refusesAPathLongerThanAnyKey) {
    const Config config = *parse_config("[port.p0]\ndevice = \"net_null0\"\n", "f");
    for (const std::string& path : {"port." + std::string(110'000, '.') + "speed", std::string(220'000, 'a'),
                                    "port." + std::string(1100, 'a') + ".speed"}) {
        STRCMP_EQUAL("the path is too long", with_value(config, path, "100G").error().wrong.c_str());
        STRCMP_EQUAL("the path is too long", value_at(config, path).error().wrong.c_str());
    }
    CHECK_TRUE(with_value(config, "port.p0.speed", "10G").has_value());
    std::string deep = "port.";
    for (int i = 0; i < 400; ++i) deep += "a.";
    STRCMP_EQUAL("there is no such key", with_value(config, deep + "speed", "100G").error().wrong.c_str());
}

TEST(ConfigRefusals, refusesTooMuch) {
    std::string ports;
    for (int i = 0; i < 257; ++i) ports += "[port.p" + std::to_string(i) + "]\n";
    refuses(ports, {"f:1:1: port: there are 257 of them; allowed: at most 256; do: leave 1 out"});
    refuses(std::string(max_config_bytes + 1, '\n'),
            {"f: the file is too large; allowed: at most 67108864 bytes"});
    std::string wrong = "route = [";
    for (int i = 0; i < 20'000; ++i) wrong += "1,";
    const ConfigResult many = parse_config(wrong + "]", "f");
    UNSIGNED_LONGS_EQUAL(max_config_errors + 1, many.error().size());
    STRCMP_EQUAL("f: more is wrong than is shown here; do: correct the above and try again",
                 many.error().back().text().c_str());
}

TEST(ConfigRefusals, refusesFilesThatCannotBeRead) {
    STRCMP_EQUAL(
        "/no/such/file: the file cannot be read: No such file or directory; do: name a file that exists and "
        "may be read",
        load_config("/no/such/file").error().front().text().c_str());
    STRCMP_EQUAL("/tmp: the file cannot be read: Is a directory; do: name a file that exists and may be read",
                 load_config("/tmp").error().front().text().c_str());
}

TEST(ConfigRefusals, refusesAKeyGivenTwiceByTheDefaults) {
    refuses("[default]\nmtu = 1500\n[default.port]\nmtu = 1500",
            {"f:4:1: default.port.mtu: \"mtu\" is in [default] too"});
    refuses("[default]\nspeeed = 1", {"f:2:1: default.speeed: \"speeed\" is not a known key"});
    refuses("[default]\nmap = 5", {"f:2:7: default.map: 5 is not a string"});
    refuses("[default.map]\nspeed = \"1G\"", {"f:2:1: default.map.speed: \"speed\" is not a known key"});
}

}  // namespace sluice::config_refusals_test
