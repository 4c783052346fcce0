#include "control/config/config.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "control/config/config_paths.hh"
#include "control/config/schema.hh"
#include "control/config/schema_rows.hh"
#include "control/config/toml_text.hh"
#include "control/config/values.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;

// What `text` is refused for, one error a line, or "accepted".
std::string errors_of(std::string_view text) {
    const ConfigResult config = parse_config(text, "f");
    if (config) return "accepted";
    std::string out;
    for (const ConfigError& error : config.error()) append_item(out, "\n", error.text());
    return out;
}

// `text` is refused with exactly the errors that begin like `starts`, in that order.
void refuses(std::string_view text, const std::vector<std::string>& starts) {
    const ConfigResult config = parse_config(text, "f");
    CHECK_FALSE_TEXT(config.has_value(), std::string(text).c_str());
    if (config) return;
    std::string got, wanted;
    for (std::size_t i = 0; i < std::max(starts.size(), config.error().size()); ++i) {
        const std::string line = i < config.error().size() ? config.error()[i].text() : "nothing";
        got += (i < starts.size() ? line.substr(0, starts[i].size()) : line) + "\n";
        wanted += (i < starts.size() ? starts[i] : "nothing") + "\n";
    }
    STRCMP_EQUAL(wanted.c_str(), got.c_str());
}

Config accepted(std::string_view text) {
    ConfigResult config = parse_config(text, "f");
    const std::string errors = config ? "" : errors_of(text);
    CHECK_TRUE_TEXT(config.has_value(), errors.c_str());
    return config ? std::move(*config) : Config{};
}

}  // namespace

TEST_GROUP(Config){};

TEST(Config, errorIsOneLineWithPlacePathReasonRangeAndRemedy) {
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

TEST(Config, refusesWrongTypes) {
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

TEST(Config, refusesValuesOutOfRange) {
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
            {"f:2:9: port.p1.cable: \"0.5m\" is not a whole number of metres"});
    refuses("[port.p1]\ncable = \"101km\"", {"f:2:9: port.p1.cable: \"101km\" is too large"});
    refuses("[port.p1]\npfc = [3, 8]", {"f:2:11: port.p1.pfc[1]: 8 is too large"});
    refuses("[port.p1]\nmac = \"03:00:00:00:00:01\"",
            {"f:2:7: port.p1.mac: \"03:00:00:00:00:01\" is a group address"});
    refuses("[port.p1]\nmac = \"00:00:00:00:00:00\"",
            {"f:2:7: port.p1.mac: \"00:00:00:00:00:00\" is no station's"});
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

TEST(Config, refusesUnknownAndMissingKeys) {
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

TEST(Config, suggestsOnlyWhatIsNear) {
    const std::vector<std::string> known{"port", "speed", "default_tc"};
    STRCMP_EQUAL("port", nearest_name("prot", known).c_str());   // swapped
    STRCMP_EQUAL("port", nearest_name("ports", known).c_str());  // inserted
    STRCMP_EQUAL("speed", nearest_name("sped", known).c_str());
    STRCMP_EQUAL("default_tc", nearest_name("defualt_tcs", known).c_str());
    STRCMP_EQUAL("", nearest_name("host", known).c_str());
    STRCMP_EQUAL("", nearest_name("", known).c_str());
    STRCMP_EQUAL("", nearest_name(std::string(1'000'000, 'p'), known).c_str());
}

TEST(Config, refusesBadNextHops) {
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
}

TEST(Config, reportsAllErrorsInTheOrderOfTheFile) {
    refuses(
        "seed = -1\n[port.p2]\nspeed = \"7G\"\nmtu = 1\n[port.p1]\nmtu = 2\n[buffer]\ncell = 1\nsise = 4\n",
        {"f:1:8: seed", "f:3:9: port.p2.speed", "f:4:7: port.p2.mtu", "f:6:7: port.p1.mtu",
         "f:8:8: buffer.cell", "f:9:1: buffer.sise"});
}

TEST(Config, refusesSyntaxErrorsAtTheirPlace) {
    refuses("seed = 1\nworkers = = 2\n", {"f:2:11: "});
    refuses("seed = \"abc", {"f:1:12: "});
    refuses("seed = 99999999999999999999", {"f:1:"});
    refuses("seed = \"\xFF\xFE\"", {"f:1:"});
    refuses(std::string("a\0b", 3), {"f:1:2: "});
    refuses("[port.p1]\nmtu = 1500\n# again\n [port.p1] # twice\n", {"f:4:2: "});
    CHECK(errors_of("[port.p1]\nmtu = 1500\n [port.p1] # twice\n")
              .ends_with("do: it is on line 1 already: rename this one or merge the two"));
}

TEST(Config, refusesNestingThatWouldExhaustTheStack) {
    std::string dotted = "x = 1\n[a";
    for (int i = 0; i < 1'000'000; ++i) dotted += ".a";
    refuses(dotted + "]\n", {"f:2:1: a dotted key has too many parts; allowed: at most 16"});
    refuses("x = " + std::string(1'000'000, '['), {"f:1:"});
    std::string quoted_parts = "\"a\\\"\"";
    for (int i = 0; i < 20; ++i) quoted_parts += " . 'a#'";
    const auto excess = [](const std::string& text) { return excess_of(text, {}).has_value(); };
    CHECK_TRUE(excess(quoted_parts + " = 1"));
    CHECK_FALSE(excess("a = \"" + std::string(99, '.') + "\" # " + std::string(99, '.')));
    CHECK_FALSE(excess("a = \"\"\"x\"\n" + std::string(99, '.') + "\n\"\"\""));
    CHECK_FALSE(excess("a = \"\\"));
    CHECK_FALSE(excess("a = '''"));
}

// toml++ compares each of these with all others: a document of 8 MiB would take it minutes.
TEST(Config, refusesWhatWouldTakeTimeBeyondMeasure) {
    std::string dotted, nested, lists, again;
    for (int i = 0; i < 40'000; ++i) dotted += "x" + std::to_string(i) + ".y = 1\n";
    for (int i = 0; i < 20'000; ++i) nested += "[[a]]\n[[a.b]]\n[[a.b.c]]\n";
    for (int i = 0; i < 65; ++i) lists += "[[a" + std::to_string(i) + "]]\n";
    for (int i = 0; i < 65; ++i) again += "  [[event]]\nat = \"1s\"\ndo = \"x\"\n";
    refuses(dotted, {"f:32769:1: there are too many dots in keys and headers; allowed: at most 32768"});
    refuses(nested, {"f:32769:1: there are too many dots in keys and headers; allowed: at most 32768"});
    refuses(lists, {"f:65:1: there are too many lists of tables; allowed: at most 64"});
    CHECK_FALSE(excess_of(again, {}).has_value());
    std::string largest;
    for (int i = 0; i < 256 * 8; ++i)
        largest += fmt::format("[port.p{0}.queue.{1}]\n[port.p{0}.priority_group.{1}]\n", i / 8, i % 8);
    CHECK_FALSE(excess_of(largest, {}).has_value());
}

TEST(Config, refusesAPathLongerThanAnyKey) {
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

TEST(Config, refusesTooMuch) {
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

TEST(Config, refusesFilesThatCannotBeRead) {
    STRCMP_EQUAL(
        "/no/such/file: the file cannot be read: No such file or directory; do: name a file that exists and "
        "may be read",
        load_config("/no/such/file").error().front().text().c_str());
    STRCMP_EQUAL("/tmp: the file cannot be read: Is a directory; do: name a file that exists and may be read",
                 load_config("/tmp").error().front().text().c_str());
}

TEST(Config, refusesAKeyGivenTwiceByTheDefaults) {
    refuses("[default]\nmtu = 1500\n[default.port]\nmtu = 1500",
            {"f:4:1: default.port.mtu: \"mtu\" is in [default] too"});
    refuses("[default]\nspeeed = 1", {"f:2:1: default.speeed: \"speeed\" is not a known key"});
    refuses("[default]\nmap = 5", {"f:2:7: default.map: 5 is not a string"});
    refuses("[default.map]\nspeed = \"1G\"", {"f:2:1: default.map.speed: \"speed\" is not a known key"});
}

TEST(Config, emptyFileIsAllDefaults) {
    CHECK_TRUE(accepted("") == Config{});
    const Config config;
    CHECK_TRUE(config.clock == ClockKind::virtual_time);
    const MapConfig map = config.maps.at("default");
    UNSIGNED_LONGS_EQUAL(3, map.dscp_to_tc[26]);
    UNSIGNED_LONGS_EQUAL(3, map.dscp_to_tc[3]);
    UNSIGNED_LONGS_EQUAL(6, map.dscp_to_tc[48]);
    UNSIGNED_LONGS_EQUAL(7, map.dscp_to_tc[56]);
    UNSIGNED_LONGS_EQUAL(0, map.dscp_to_tc[0]);
}

TEST(Config, readsEveryKey) {
    const Config config = accepted(R"(
clock = "real"
seed = "18446744073709551615"
workers = 2
cores = [4, 2]
hash_seed = 9
hash_roce_qp = true
eal = ["--no-huge"]
buffer = {size = "32MiB", cell = 128}
virtual.turn = "500ns"
[port.p1]
device = "net_null0"
speed = "25Gbps"
cable = "100m"
mtu = 1500
mac = "02:00:00:00:00:0a"
address = ["10.0.0.1/24", "2001:db8::1/64"]
promiscuous = true
peer = "ignore"
qos = "lossless"
pfc = [4, 3]
trust = "pcp"
default_tc = 1
map = "m"
worker = 1
queue.3.weight = 77
[map.m]
dscp_to_tc = {"46" = 5, 10 = 2}
pcp_to_tc = {"5" = 5}
tc_to_queue = {"5" = 1}
tc_to_priority_group = {"5" = 2}
pfc_priority_to_queue = {"5" = 3}
roce_tc = 3
cnp_tc = "dscp"
[[neighbor]]
address = "10.0.0.2"
port = "p1"
mac = "02:00:00:00:00:0b"
vlan = 7
[[route]]
prefix = "10.9.0.0/16"
via = [{address = "10.0.0.3", weight = 2}, "10.0.0.2"]
[[route]]
prefix = "10.8.0.0/16"
via = "blackhole"
[[event]]
at = "5ms"
do = "port p1 down"
)");
    CHECK_TRUE(config.clock == ClockKind::real_time);
    UNSIGNED_LONGLONGS_EQUAL(18'446'744'073'709'551'615ULL, config.seed);
    UNSIGNED_LONGS_EQUAL(2, config.workers);
    CHECK_TRUE((config.cores == std::vector<unsigned>{4, 2}));
    CHECK_TRUE(config.hash_seed == 9 && config.hash_roce_qp && config.eal.front() == "--no-huge");
    CHECK_TRUE(config.buffer_size_bytes == 32U << 20 && config.cell_bytes == 128);
    CHECK_TRUE(config.virtual_turn == nanoseconds(500));
    const PortConfig& port = config.ports.at("p1");
    CHECK_TRUE(port.device == "net_null0" && port.speed == gigabits(25) && port.cable_m == 100 &&
               port.mtu == 1500);
    CHECK_TRUE(port.mac == parse_mac("02:00:00:00:00:0a").value());
    CHECK_TRUE(port.address.size() == 2 && print_prefix(port.address[1]) == "2001:db8::1/64");
    CHECK_TRUE(port.promiscuous && port.peer == PeerKind::ignore && port.trust == Trust::pcp);
    CHECK_TRUE((port.pfc == std::vector<ClassId>{3, 4}));
    CHECK_TRUE(port.default_tc == 1 && port.map == "m" && port.worker == 1U);
    CHECK_TRUE(port.queue[3].weight == std::uint8_t{77} && !port.queue[2].weight);
    const MapConfig& map = config.maps.at("m");
    CHECK_TRUE(map.dscp_to_tc[46] == 5 && map.dscp_to_tc[10] == 2 && map.dscp_to_tc[26] == 3);
    CHECK_TRUE(map.pcp_to_tc[5] == 5 && map.tc_to_queue[5] == 1 && map.tc_to_priority_group[5] == 2);
    CHECK_TRUE(map.pfc_priority_to_queue[5] == 3 && map.roce_tc == ClassId{3} && !map.cnp_tc);
    CHECK_TRUE(config.neighbors->begin()->vlan == std::uint16_t{7} &&
               config.neighbors->begin()->place.line == 35);
    UNSIGNED_LONGS_EQUAL(2, config.routes->size());
    CHECK_TRUE(config.routes->begin()->via.empty());  // sorted: 10.8 before 10.9
    CHECK_TRUE(config.routes->rbegin()->via[0].weight == 1 && config.routes->rbegin()->via[1].weight == 2);
    CHECK_TRUE(config.events.front().at == milliseconds(5) &&
               config.events.front().command == "port p1 down");
    UNSIGNED_LONGS_EQUAL(13, config.source.find("port.p1.speed").line);
    UNSIGNED_LONGS_EQUAL(9, config.source.find("port.p1.speed").column);
}

TEST(Config, aPortHasOneReceiveQueueUnlessItSaysMore) {
    const Config config = accepted("[port.p1]\n[port.p2]\nrx_queues = 3\nrx_workers = [2, 0]\n");
    CHECK_TRUE(config.ports.at("p1").rx_queues == 1 && config.ports.at("p1").rx_workers.empty());
    CHECK_TRUE(config.ports.at("p2").rx_queues == 3);
    CHECK_TRUE((config.ports.at("p2").rx_workers == std::vector<unsigned>{2, 0}));
    refuses("[port.p1]\nrx_queues = 0\n", {"f:2:13: port.p1.rx_queues: 0 "});
    refuses("[port.p1]\nrx_queues = 17\n", {"f:2:13: port.p1.rx_queues: 17 "});
    refuses("[port.p1]\nrx_workers = [1, 1]\n", {"f:2:18: port.p1.rx_workers[1]: 1 is in the list twice"});
}

TEST(Config, portValueWinsOverDefaultOverBuiltIn) {
    const Config config = accepted(R"(
[port.p1]
mtu = 1500
queue.3.weight = 5
[port.p2]
[default]
mtu = 2000
pfc = []
map = "other"
[default.queue.2]
weight = 9
[default.port]
speed = "10G"
[map.other]
)");
    const PortConfig& p1 = config.ports.at("p1");
    CHECK_TRUE(p1.mtu == 1500 && p1.speed == gigabits(10) && p1.pfc->empty() && p1.map == "other");
    CHECK_TRUE(p1.queue[3].weight == std::uint8_t{5} && p1.queue[2].weight == std::uint8_t{9} &&
               !p1.queue[1].weight);
    CHECK_TRUE(config.ports.at("p2").mtu == 2000 && config.ports.at("p2").cable_m == 5);
}

// A port on an interface of the kernel has by default an MTU that its packet buffers take.
TEST(Config, aPortOnAnInterfaceHasAnMtuThatFits) {
    const auto mtu = [](const std::string& more, const char* device) {
        const Config config = accepted(more + "\n[port.p1]\ndevice = \"" + device + "\"\n[port.p2]\n");
        LONGS_EQUAL(config.port_defaults.mtu, config.ports.at("p2").mtu);
        const ConfigResult again = parse_config(to_toml(config), "again");
        CHECK_TRUE(again && *again == config);
        return config.ports.at("p1").mtu;
    };
    const std::string real = "clock = \"real\"\n";
    LONGS_EQUAL(1770, mtu(real, "xdp:eth1"));
    LONGS_EQUAL(1900, mtu(real, "net_af_packet0,iface=eth1"));
    LONGS_EQUAL(9100, mtu(real, "net_null0"));
    LONGS_EQUAL(3370, mtu(real + "buffer.packet_buffer = 3648", "xdp:eth1"));
    LONGS_EQUAL(9100, mtu(real + "buffer.packet_buffer = 16384", "net_af_packet0,iface=eth1"));
    // What is said is said, and judged.
    LONGS_EQUAL(9100, mtu(real + "[default]\nmtu = 9100", "xdp:eth1"));
    LONGS_EQUAL(1500, mtu(real + "[default.port]\nmtu = 1500", "xdp:eth1"));
    const Config own = accepted(real + "[port.p1]\ndevice = \"xdp:eth1\"\nmtu = 9100");
    LONGS_EQUAL(9100, own.ports.at("p1").mtu);
    CHECK_TRUE(*parse_config(to_toml(own), "again") == own);
}

TEST(Config, namedMapsStartFromTheDefaultMap) {
    const Config config = accepted(R"(
[map.a]
dscp_to_tc = {"1" = 1}
[map.default]
dscp_to_tc = {"2" = 2}
[default.map]
dscp_to_tc = {"3" = 0, "4" = 4}
)");
    const MapConfig &a = config.maps.at("a"), &standard = config.maps.at("default");
    CHECK_TRUE(a.dscp_to_tc[1] == 1 && a.dscp_to_tc[2] == 2 && a.dscp_to_tc[3] == 0 && a.dscp_to_tc[4] == 4);
    CHECK_TRUE(standard.dscp_to_tc[1] == 0 && standard.dscp_to_tc[2] == 2 && standard.dscp_to_tc[26] == 3);
}

TEST(Config, absentCanBeSaidOverADefault) {
    const Config config = accepted(
        "[default]\nworker = 0\npeer = \"ignore\"\nmac = \"02:00:00:00:00:01\"\n"
        "[port.p]\nworker = \"auto\"\npeer = \"auto\"\nmac = \"auto\"\n");
    const PortConfig& port = config.ports.at("p");
    CHECK_TRUE(!port.worker && !port.peer && !port.mac);
}

TEST(Config, naturalOrderIsTotal) {
    const NaturalOrder before;
    CHECK_TRUE(before("p2", "p10"));
    CHECK_FALSE(before("p10", "p2"));
    CHECK_TRUE(before("p01", "p1") != before("p1", "p01"));
    const std::vector<std::string> names{"",
                                         "0",
                                         "00",
                                         "1",
                                         "01",
                                         "a",
                                         "a0",
                                         "a00",
                                         "a1",
                                         "a01",
                                         "a1b",
                                         "a01b",
                                         "a1b2",
                                         "a01b1",
                                         "a-1",
                                         "a.1",
                                         "b",
                                         "B",
                                         "a10",
                                         "a9",
                                         "9a",
                                         "10a",
                                         "\xFFz",
                                         "99999999999999999999999",
                                         "100000000000000000000000"};
    for (const auto& a : names)
        for (const auto& b : names) {
            LONGS_EQUAL_TEXT(a == b ? 0 : 1, before(a, b) + before(b, a), (a + " " + b).c_str());
            for (const auto& c : names)
                CHECK_TRUE_TEXT(!(before(a, b) && before(b, c)) || before(a, c),
                                (a + " " + b + " " + c).c_str());
        }
}

TEST(Config, referenceNamesEveryKey) {
    const std::string reference = schema_reference();
    for (const KeyInfo& key : schema_keys()) {
        CHECK_TRUE_TEXT(reference.find("| `" + key.name + "` |") != reference.npos, key.name.c_str());
        CHECK_TRUE_TEXT(!key.sentence.empty() && key.sentence.ends_with('.') && !key.fallback.empty(),
                        key.name.c_str());
    }
    CHECK_TRUE(reference.find("\n## [port.NAME.queue.N]\n") != reference.npos);
    CHECK_TRUE(reference.find("\n## [[route]]\n") != reference.npos);
    CHECK_TRUE(reference.find("| `speed` | rate | 1G to 800G,") != reference.npos);
    CHECK_TRUE(reference.find("| \"100G\" | Speed of") != reference.npos);
}
