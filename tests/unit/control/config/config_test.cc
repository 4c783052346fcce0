#include "control/config/schema/config.hh"

#include <string>
#include <vector>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema_rows.hh"
#include "control/config/schema/toml_text.hh"
#include "tests/unit/control/config/config_text.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::config_test {

using namespace sluice::config_text;

TEST_GROUP(Config){};

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

// An XDP port has by default an MTU that every kernel takes.
TEST(Config, aPortOnAnInterfaceHasAnMtuThatFits) {
    const auto mtu = [](const std::string& more, const char* device) {
        const Config config = accepted(more + "\n[port.p1]\ndevice = \"" + device + "\"\n[port.p2]\n");
        LONGS_EQUAL(config.port_defaults.mtu, config.ports.at("p2").mtu);
        const ConfigResult again = parse_config(to_toml(config), "again");
        CHECK_TRUE(again && *again == config);
        return config.ports.at("p1").mtu;
    };
    const std::string real = "clock = \"real\"\n";
    LONGS_EQUAL(3800, mtu(real, "xdp:eth1"));
    LONGS_EQUAL(9100, mtu(real, "net_af_packet0,iface=eth1"));
    LONGS_EQUAL(9100, mtu(real, "net_null0"));
    // A key that is set is judged.
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

}  // namespace sluice::config_test
