// Simulated hosts and flows in the configuration: refusals, values, and the text written back.
#include <string>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::host_config_test {
namespace {

void refuses(const std::string& text, const std::string& start) {
    const ConfigResult config = parse_config(text, "f");
    if (config) FAIL(text.c_str());
    STRCMP_EQUAL(start.c_str(), config.error().front().text().substr(0, start.size()).c_str());
}

Config accepted(const std::string& text) {
    ConfigResult config = parse_config(text, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return std::move(*config);
}

// Every finding, one a line.
std::string findings_of(const std::string& text) {
    std::string lines;
    for (const Finding& finding : check_config(accepted(text), Machine{8})) lines += finding.text("f") + "\n";
    return lines;
}

// The configuration has just one finding, which begins like `start`.
void finds(const std::string& start, const std::string& text) {
    const std::string found = findings_of(text);
    STRCMP_EQUAL_TEXT(start.c_str(), found.substr(0, start.size()).c_str(), (text + found).c_str());
    CHECK_EQUAL_TEXT(found.size() - 1, found.find('\n'), found.c_str());
}

const std::string two_ports =
    "[port.h1]\naddress = [\"10.0.1.1/24\"]\n[port.h2]\naddress = [\"10.0.2.1/24\"]\n";
const std::string h1 = "[host.h1]\naddress = \"10.0.1.2\"\n";
const std::string h2 = "[host.h2]\naddress = \"10.0.2.2\"\n";
const std::string hosts = two_ports + h1 + h2;  // 8 lines
const std::string flow = "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n";

}  // namespace

TEST_GROUP(HostConfig){};

TEST(HostConfig, refusesValuesOfHosts) {
    const std::string host = "[host.h1]\naddress = \"10.0.1.2\"\n";
    refuses("[host.h1]", "f:1:1: host.h1: the key \"address\" is missing; do: add for example address = ");
    refuses("[host.h1]\naddress = \"10.0.1.2/24\"", "f:2:11: host.h1.address: \"10.0.1.2/24\" is not ");
    refuses(host + "mtu = 1001",
            "f:3:7: host.h1.mtu: 1001 is not a multiple of 4; allowed: a multiple of 4 from 256 to 4096");
    refuses(host + "mtu = 8192", "f:3:7: host.h1.mtu: 8192 is too large");
    refuses(host + "pause_quanta = 15", "f:3:16: host.h1.pause_quanta: 15 is too small");
    refuses(host + "rnr_chance = 1", "f:3:14: host.h1.rnr_chance: 1 ");
    refuses(host + "rnr_timer = \"1s\"", "f:3:13: host.h1.rnr_timer: \"1s\" is too long");
    refuses(host + "recovery = \"sack\"",
            "f:3:12: host.h1.recovery: \"sack\" is not a known word; allowed: \"go-back-n\", \"selective\"");
    refuses(host + "receive_window = 100",
            "f:3:18: host.h1.receive_window: 100 is not a power of two; allowed: a power of two from 64 to "
            "65536");
    refuses(host + "reorder_window = 100", "f:3:18: host.h1.reorder_window: 100 has no unit");
    refuses(host + "ack_coalescing = 0", "f:3:18: host.h1.ack_coalescing: 0 is too small");
    refuses(host + "receive_xon = \"half\"", "f:3:15: host.h1.receive_xon: \"half\" ");
    refuses(host + "cc = \"dcqn\"",
            "f:3:6: host.h1.cc: \"dcqn\" is not a known word; allowed: \"dcqcn\", "
            "\"dcqcn-paper\", \"dcqcn-timer\", \"none\"");
    refuses(host + "dscp = 64", "f:3:8: host.h1.dscp: 64 is too large");
    refuses(host + "cnp_scope = \"host\"", "f:3:13: host.h1.cnp_scope: \"host\" is not a known word");
    refuses(host + "cnp_interval = 50", "f:3:16: host.h1.cnp_interval: 50 has no unit");
    refuses(host + "ack_every = 0", "f:3:13: host.h1.ack_every: 0 is too small");
    refuses(host + "retry_count = -1",
            "f:3:15: host.h1.retry_count: -1 is negative; allowed: an integer from 0 "
            "to 1000000, or \"unlimited\"");
    refuses(host + "g = 1.5", "f:3:5: host.h1.g: 1.5 is not from 0 to 1");
    refuses(host + "g = nan", "f:3:5: host.h1.g: nan is not from 0 to 1");
    refuses(host + "g = \"1/0\"", "f:3:5: host.h1.g: \"1/0\" has a denominator out of range");
    refuses(host + "g = \"2/3\"", "f:3:5: host.h1.g: \"2/3\" is not a fraction");
    refuses(host + "increase_timer = \"0s\"", "f:3:18: host.h1.increase_timer: \"0s\" is too short");
    refuses(host + "rate_min = \"0\"", "f:3:12: host.h1.rate_min: \"0\" is too small");
    refuses(host + "receive_buffer = 0", "f:3:18: host.h1.receive_buffer: 0 is too small");
    refuses(host + "cnp_intervall = \"1us\"",
            "f:3:1: host.h1.cnp_intervall: \"cnp_intervall\" is not a known key");
    refuses("[host.default]\nport = \"h1\"", "f:2:1: host.default.port: \"port\" is not a known key");
}

TEST(HostConfig, refusesValuesOfFlows) {
    refuses("[[flow]]\nfrom = \"h1\"", "f:1:1: flow[0]: the key \"to\" is missing");
    refuses("[[flow]]\nto = \"h2\"\nfrom = []", "f:3:8: flow[0].from: the list is empty");
    refuses("[[flow]]\nto = \"h2\"\nfrom = [\"h1\", \"h1\"]",
            "f:3:15: flow[0].from[1]: \"h1\" is in the list twice");
    refuses("[[flow]]\nto = \"h2\"\nfrom = 1",
            "f:3:8: flow[0].from: 1 is not a list; allowed: a host's name, or");
    refuses(flow + "qps = 0", "f:4:7: flow[0].qps: 0 is too small; allowed: an integer from 1 to 1000");
    refuses(flow + "qps = 1001", "f:4:7: flow[0].qps: 1001 is too large");
    refuses(flow + "message = 0", "f:4:11: flow[0].message: 0 is too small; allowed: 1B to ");
    refuses(flow + "message = \"2GiB\"", "f:4:11: flow[0].message: \"2GiB\" is too large");
    refuses(flow + "message = \"0..1KB\"", "f:4:11: flow[0].message: \"0..1KB\" has an end out of range");
    refuses(flow + "message = \"2KB..1KB\"",
            "f:4:11: flow[0].message: \"2KB..1KB\" ends below its beginning");
    refuses(flow + "message = \"1KB..\"", "f:4:11: flow[0].message: \"1KB..\" has an end that ");
    refuses(flow + "message = \"websearch\"",
            "f:4:11: flow[0].message: \"websearch\" is neither a size nor a distribution");
    refuses(flow + "kind = \"put\"", "f:4:8: flow[0].kind: \"put\" is not a known word");
    refuses(flow + "depth = 0", "f:4:9: flow[0].depth: 0 is too small");
    refuses(flow + "load = 101", "f:4:8: flow[0].load: 101 is not from 0 to 100");
}

TEST(HostConfig, readsHostsOverTheirDefaults) {
    const Config config = accepted(
        "[host.default]\ncc = \"dcqcn-timer\"\nmtu = 4096\ng = \"1/16\"\n" + two_ports + h1 +
        "mtu = 256\nretry_count = \"unlimited\"\ncnp_interval = 0\ndrain = \"60G\"\n[host.b]\nport = \"h2\"\n"
        "address = \"10.0.2.2\"\nmac = \"02:00:00:00:00:09\"\ncnp_scope = \"address\"\ng = 0.25\n");
    const HostConfig& a = config.hosts.at("h1");
    const HostConfig& b = config.hosts.at("b");
    CHECK_FALSE(config.hosts.contains("default"));
    CHECK_TRUE(a.cc == roce::CongestionControl::dcqcn_timer && b.cc == a.cc);
    LONGS_EQUAL(256, a.mtu);
    LONGS_EQUAL(4096, b.mtu);
    STRCMP_EQUAL("h1", a.port.c_str());
    STRCMP_EQUAL("h2", b.port.c_str());
    CHECK_TRUE(*a.gain == roce::fraction_one / 16);
    CHECK_TRUE(*b.gain == roce::fraction_one / 4);
    CHECK_FALSE(a.retry_count.has_value());
    CHECK_TRUE(b.retry_count == 7U);
    CHECK_TRUE(a.cnp_interval == Duration{});
    CHECK_TRUE(b.cnp_scope == roce::CnpScope::peer);
    CHECK_TRUE(a.drain->bits_per_second == 60'000'000'000);
    CHECK_TRUE(a.echo_ce && !a.ignore_cnp);
}

TEST(HostConfig, readsFlows) {
    const Config config =
        accepted(hosts + flow +
                 "message = \"1KB..1MB\"\nstop = \"20ms\"\nload = 50\n[[flow]]\nfrom = [\"h1\"]\n"
                 "to = [\"h2\", \"h1\"]\nmessage = \"web-search\"\nkind = \"read\"\nname = \"x\"\n" +
                 flow);
    const FlowConfig& first = config.flows[0];
    CHECK_TRUE(first.message == (MessageConfig{MessageKind::uniform, 1000, 1'000'000}));
    CHECK_TRUE(first.stop == milliseconds(20));
    LONGS_EQUAL(Chance::always / 2, first.load->parts_per_billion);
    CHECK_TRUE(config.flows[1].message.kind == MessageKind::web_search);
    CHECK_TRUE(config.flows[1].kind == FlowKind::read);
    CHECK_TRUE(config.flows[2].message == (MessageConfig{MessageKind::uniform, 1'000'000, 1'000'000}));
    const std::vector<std::string> names = flow_names(config);
    STRCMP_EQUAL("h1-h2", names[0].c_str());
    STRCMP_EQUAL("x", names[1].c_str());
    STRCMP_EQUAL("h1-h2-2", names[2].c_str());
    LONGS_EQUAL(3, queue_pairs_of(config, "h1"));  // it sends nothing to itself
    LONGS_EQUAL(3, queue_pairs_of(config, "h2"));
}

TEST(HostConfig, makesMacAndNeighborUnlessGiven) {
    const Config config = accepted(hosts);
    STRCMP_EQUAL("02:53:4c:01:00:01", print_mac(host_mac(config, "h2")).c_str());
    LONGS_EQUAL(2, config.neighbors->size());
    const NeighborConfig& made = *config.neighbors->find(*parse_address("10.0.2.2"));
    STRCMP_EQUAL("h2", made.port.c_str());
    CHECK_TRUE(made.mac == host_mac(config, "h2"));
    STRCMP_EQUAL("", findings_of(hosts + flow).c_str());

    const std::string given =
        two_ports + h1 + "mac = \"02:00:00:00:00:07\"\n" +
        "[[neighbor]]\naddress = \"10.0.1.2\"\nport = \"h1\"\nmac = \"02:00:00:00:00:07\"\n";
    LONGS_EQUAL(1, accepted(given).neighbors->size());
    STRCMP_EQUAL("", findings_of(given).c_str());
}

TEST(HostConfig, refusesHostsThatCannotStandThere) {
    finds("f:6:8: error: host.h1.port: there is no port \"h7\" [host-port]; do: write port = \"h1\"\n",
          two_ports + "[host.h1]\nport = \"h7\"\naddress = \"10.0.1.2\"\n");
    finds("f:6:1: error: host.far.port: there is no port \"far\" [host-port]; do: add [port.far], or write",
          two_ports + "\n[host.far]\naddress = \"10.0.1.2\"\n");
    finds("f:8:8: error: host.h2.port: host h1 is behind port h1 already [host-twice]; do: give each host",
          two_ports + h1 + "[host.h2]\nport = \"h1\"\naddress = \"10.0.1.3\"\n");
    finds(
        "f:2:10: error: port.h1.device: a simulated host stands behind the port, and so does its device "
        "[host-device]; do: leave device out, or the host\n",
        "[port.h1]\ndevice = \"net_pcap0,rx_pcap=a,tx_pcap=b\"\naddress = [\"10.0.1.1/24\"]\n" + h1);
    STRCMP_EQUAL(
        "", findings_of("[port.h1]\ndevice = \"net_pcap0,tx_pcap=b\"\naddress = [\"10.0.1.1/24\"]\n" + h1)
                .c_str());
    CHECK_TRUE(
        findings_of("clock = \"real\"\n" + hosts)
            .find("a simulated host needs the virtual clock [host-clock]; do: write clock = \"virtual\", "
                  "or run sluice-peer") != std::string::npos);
}

TEST(HostConfig, refusesAddressesThatThePortDoesNotReach) {
    finds(
        "f:6:11: error: host.h1.address: 10.0.2.2 is outside the subnet of port h1 [host-address]; do: write "
        "an "
        "address of 10.0.1.0/24\n",
        two_ports + "[host.h1]\naddress = \"10.0.2.2\"\n");
    finds(
        "f:6:11: error: host.h1.address: 10.0.1.1 is port h1's own address [host-address]; do: write another",
        two_ports + "[host.h1]\naddress = \"10.0.1.1\"\n");
    finds(
        "f:3:11: error: host.h1.address: port h1 has no address, so no subnet with 10.0.1.2 in it "
        "[host-address]; do: write address = [...] for the port",
        "[port.h1]\n" + h1);
    finds("f:6:11: error: host.h1.address: 2001:db8::2 is outside the subnet",
          two_ports + "[host.h1]\naddress = \"2001:db8::2\"\n");
    finds(
        "f:8:11: error: host.h2.address: 10.0.1.2 is the address of host h1, too [host-address]; do: give "
        "each",
        two_ports + h1 + "[host.h2]\naddress = \"10.0.1.2\"\n");
    finds(
        "f:7:1: error: neighbor 10.0.1.2: it is host h1, at port h1 with 02:53:4c:01:00:00, and untagged "
        "[host-neighbor]; do: leave the neighbor out: it is made\n",
        two_ports + h1 +
            "[[neighbor]]\naddress = \"10.0.1.2\"\nport = \"h1\"\nmac = \"02:00:00:00:00:09\"\n");
    finds("f:7:1: error: neighbor 10.0.1.2: it is host h1",
          two_ports + h1 +
              "[[neighbor]]\naddress = \"10.0.1.2\"\nport = \"h2\"\nmac = \"02:53:4c:01:00:00\"\n");
    finds(
        "f:4:1: error: neighbor 10.0.1.2: 02:00:00:00:00:09 is the MAC address of our own port h1 "
        "[neighbor-own",
        "[port.h1]\nmac = \"02:00:00:00:00:09\"\naddress = [\"10.0.1.1/24\"]\n" + h1 +
            "mac = \"02:00:00:00:00:09\"\n");
}

TEST(HostConfig, refusesPacketsThatDoNotFit) {
    const std::string small = "[port.h1]\naddress = [\"10.0.1.1/24\", \"2001:db8::1/64\"]\nmtu = 1500\n";
    finds(
        "f:6:7: error: host.h1.mtu: a payload of 4096 is an IP packet of 4156 bytes, the MTU of its port is "
        "1500 [host-mtu]; do: write mtu = 1024 for the host, or mtu = 4156 for the port\n",
        small + h1 + "mtu = 4096\n");
    finds(
        "f:6:7: error: default.mtu: its host's payload of 1024 is an IP packet of 1084 bytes, the MTU is "
        "1083 "
        "(of port h1) [host-mtu]; do: write mtu = 512 for the host, or mtu = 1084 for the port\n",
        "[port.h1]\naddress = [\"10.0.1.1/24\"]\n[host.h1]\naddress = \"10.0.1.2\"\n[default]\nmtu = 1083\n");
    STRCMP_EQUAL("", findings_of("[default]\nmtu = 1084\n" + hosts).c_str());
    finds("f:6:7: error: host.h1.mtu: a payload of 2048 is an IP packet of 2128 bytes",
          small + "[host.h1]\naddress = \"2001:db8::2\"\nmtu = 2048\n");
    finds(
        "f:6:7: error: default.mtu: its host's payload of 1024 is an IP packet of 1084 bytes, the MTU is 300 "
        "(of port h1) [host-mtu]; do: write mtu = 1084 for the port\n",
        "[port.h1]\naddress = [\"10.0.1.1/24\"]\n[host.h1]\naddress = \"10.0.1.2\"\n[default]\nmtu = 300\n");
    finds("f:9:12: error: host.h2.rate_min: 200G is above the 100G of its port [host-rate]",
          hosts + "rate_min = \"200G\"\n");
}

TEST(HostConfig, refusesFlowsThatCannotBe) {
    finds("f:9:1: error: flow h1-h22: there is no host \"h22\" [flow-host]; do: write h2\n",
          hosts + "[[flow]]\nfrom = \"h1\"\nto = \"h22\"\n");
    finds("f:9:1: error: flow far-h2: there is no host \"far\" [flow-host]; do: add [host.far]\n",
          hosts + "[[flow]]\nfrom = \"far\"\nto = \"h2\"\n");
    finds("f:9:1: error: flow h1..h2-h2: host h2 would send to itself [flow-self]; do: leave it out",
          hosts + "[[flow]]\nfrom = [\"h1\", \"h2\"]\nto = \"h2\"\n");
    finds("f:9:1: error: flow h1-h2: depth is of a closed loop", hosts + flow + "depth = 1\nload = 10\n");
    finds("f:9:1: error: flow h1-h2: a load of 0 sends nothing [flow-load]", hosts + flow + "load = 0\n");
    finds("f:9:1: error: flow h1-h2: on and off are bursts of a load, and there is none [flow-load]",
          hosts + flow + "on = \"1us\"\noff = \"1us\"\n");
    finds("f:9:1: error: flow h1-h2: of on and off one is missing",
          hosts + flow + "load = 5\non = \"1us\"\n");
    finds("f:9:1: error: flow h1-h2: it stops at 1ms, and does not start before 1ms [flow-stop]; do: write",
          hosts + flow + "start = \"1ms\"\nstop = \"1ms\"\n");
    finds("f:13:1: error: flow x: another flow has the same name [flow-name]",
          hosts + flow + "name = \"x\"\n" + flow + "name = \"x\"\n");
    finds("f:6:1: error: flow h1-h2: host h1 has an IPv4 address, and h2 an IPv6 address [flow-family]",
          "[port.h1]\naddress = [\"10.0.1.1/24\"]\n[port.h2]\naddress = [\"2001:db8::1/64\"]\n\n" + flow +
              h1 + "[host.h2]\naddress = \"2001:db8::2\"\n");
}

TEST(HostConfig, countsTheQueuePairsOfAHost) {
    std::string flows;
    for (unsigned n = 0; n < 65; ++n) flows += flow + "qps = 1000\n";
    STRCMP_EQUAL("", findings_of(hosts + flows).c_str());
    const std::string more = findings_of(hosts + flows + flow + "qps = 537\n");
    CHECK_TRUE(
        more.starts_with("f:5:1: error: host.h1.port: its flows have 65537 queue pairs, a host has 65536 at "
                         "most [host-qps]"));
    STRCMP_EQUAL("", findings_of(hosts + flows + flow + "qps = 536\n").c_str());
}

TEST(HostConfig, warnsOfCongestionControlThatHearsNothing) {
    finds("f:9:1: warning: flow h1-h2: host h1 ignores CNPs: its cc has no effect [flow-unanswered]",
          two_ports + h2 + h1 + flow + "[host.default]\nignore_cnp = true\n");
    const std::string deaf = two_ports + h1 + h2 + "echo_ce = false\n";
    finds("f:10:1: warning: flow h1-h2: host h2 never echoes CE: the cc of h1 hears no CNP [flow-unanswered]",
          deaf + flow);
    STRCMP_EQUAL("", findings_of(deaf + flow + "kind = \"read\"\n").c_str());
    STRCMP_EQUAL("", findings_of(deaf + flow + "[host.default]\ncc = \"none\"\n").c_str());
}

TEST(HostConfig, judgesRecovery) {
    const std::string selective = hosts + "recovery = \"selective\"\n";
    finds(
        "f:10:1: warning: flow h1-h2: host h1 goes back N: so does h2 with it [flow-recovery]; do: write "
        "recovery = "
        "\"selective\" for h1",
        selective + flow);
    const std::string both = hosts + flow + "[host.default]\nrecovery = \"selective\"\n";
    STRCMP_EQUAL("", findings_of(both).c_str());
    finds(
        "f:9:1: warning: flow h1-h2: its window is 2MB, host h2 keeps 1MiB out of order: 1024 packets "
        "[flow-receive-window]; do: write a larger receive_window for h2, or a smaller window",
        both + "window = \"2MB\"\n");
    STRCMP_EQUAL("", findings_of(both + "window = \"2MB\"\nreceive_window = 2048\n").c_str());
    finds(
        "f:9:1: warning: flow h1-h2: a READ brings 1MB, host h1 keeps 512KiB out of order: 512 packets "
        "[flow-receive-window]",
        hosts + flow + "kind = \"read\"\n[host.default]\nrecovery = \"selective\"\nreceive_window = 512\n");
    finds(
        "f:9:1: warning: flow h1-h2: time-outs after 200us come before host h2 takes a packet for lost, "
        "after 100us to 200us "
        "[flow-reorder-window]",
        both + "timeout = \"200us\"\n");
    STRCMP_EQUAL("", findings_of(both + "timeout = \"201us\"\n").c_str());
}

TEST(HostConfig, judgesSlowReceiversAndMissingReceives) {
    finds(
        "f:9:9: warning: host.h2.drain: it takes in 60G of the 100G that its port sends: it pauses the port "
        "[host-drain]; do: write drain = \"unlimited\"",
        hosts + "drain = \"60G\"\n");
    STRCMP_EQUAL("", findings_of(hosts + "drain = \"100G\"\nreceive_xon = \"64KB\"\n").c_str());
    finds(
        "f:9:15: error: host.h2.receive_xon: XON at 2KB would come before XOFF, above 1KB [host-receive-xon]",
        hosts + "receive_xon = \"2KB\"\nreceive_buffer = \"1KB\"\n");
    const std::string forgetful = two_ports + h1 + h2 + "rnr_chance = \"1%\"\n";
    finds(
        "f:9:14: warning: host.h2.rnr_chance: no flow of kind \"send\" goes to it: it has no effect "
        "[host-rnr]",
        forgetful + flow);
    STRCMP_EQUAL("", findings_of(forgetful + flow + "kind = \"send\"\n").c_str());
}

TEST(HostConfig, isWrittenAsItWasRead) {
    const std::string text = R"([host.default]
cc = "dcqcn-timer"
g = "1/16"

[port.h1]
address = ["10.0.1.1/24"]

[port.h2]
address = ["10.0.2.1/24"]

[host.b]
port = "h2"
address = "10.0.2.2"
initial_alpha = 0.123456789
retry_count = "unlimited"
rnr_chance = "1%"
rnr_timer = "45us"
ack_coalescing = 4
recovery = "selective"
receive_window = 256
reorder_window = "5us"
receive_xon = "60KB"
pause_quanta = 100

[host.h1]
address = "10.0.1.2"
cc = "none"
mtu = 940
rate_min = "10M"
clamp_target = true

[[flow]]
from = "h1"
to = "b"
qps = 4
message = "1KB..1MB"
load = "12.5%"
start = "1ms"
pcp = 3

[[flow]]
from = ["b", "h1"]
to = "c"
message = "ali-storage"
stop = "20ms"
)";
    const Config config = accepted(text);
    Config back = accepted(to_toml(config));
    CHECK_TRUE(back == config);
    for (const char* line :
         {"[host.default]\ncc = \"dcqcn-timer\"\ng = \"1/16\"\n", "initial_alpha = 0.123456789\n",
          "[host.h1]\naddress = \"10.0.1.2\"\ncc = \"none\"\nmtu = 940\n",
          "[[flow]]\nfrom = [\"b\", \"h1\"]\nto = \"c\"\nmessage = \"ali-storage\"\n"})
        CHECK_TRUE_TEXT(to_toml(config).find(line) != std::string::npos, to_toml(config).c_str());
    CHECK_TRUE(to_toml(config).find("[[neighbor]]") == std::string::npos);
    STRCMP_EQUAL(text.c_str(), edited(text, config).value_or("not edited").c_str());
}

TEST(HostConfig, everyFractionIsWrittenAsItWasRead) {
    for (unsigned under = 1; under <= 65'536; under += under < 300 ? 1 : 61) {
        const std::string value = "\"1/" + std::to_string(under) + "\"";
        const auto config = with_value(accepted(hosts), "host.h1.g", value);
        if (under > 1) STRCMP_EQUAL(value.c_str(), value_at(*config, "host.h1.g")->c_str());
    }
    for (const char* value : {"0", "1", "0.000000001", "0.999999999", "0.100000007"}) {
        const auto config = with_value(accepted(hosts), "host.h1.g", value);
        STRCMP_EQUAL(value, value_at(*config, "host.h1.g")->c_str());
    }
}

TEST(HostConfig, oneValueIsSetByItsPath) {
    const std::string text = hosts + flow;
    const Config config = accepted(text);
    const auto changed = with_value(config, "host.h1.cc", "none");
    CHECK_TRUE(changed.has_value());
    CHECK_TRUE(changed->hosts.at("h1").cc == roce::CongestionControl::none);
    CHECK_TRUE(changed->flows == config.flows);
    CHECK_TRUE(changed->neighbors.is_shared_with(config.neighbors));
    const auto changes = config_changes(config, *changed);
    LONGS_EQUAL(1, changes.size());
    STRCMP_EQUAL("host.h1.cc", changes[0].path.c_str());
    CHECK_FALSE(changes[0].restart);
    STRCMP_EQUAL((two_ports + h1 + "cc = \"none\"\n" + h2 + flow).c_str(), edited(text, *changed)->c_str());
    CHECK_FALSE(with_value(config, "host.h1.cc", "dctcp").has_value());

    // The neighbor goes with the address.
    const auto moved = with_value(config, "host.h1.address", "10.0.1.9");
    CHECK_TRUE(moved->neighbors->contains(*parse_address("10.0.1.9")));
    CHECK_FALSE(moved->neighbors->contains(*parse_address("10.0.1.2")));
    CHECK_TRUE(config_changes(config, *moved).front().restart);
    CHECK_TRUE(edited(text, *moved).has_value());

    // A default is the base of the hosts.
    const auto all = with_value(config, "host.default.mtu", "256");
    LONGS_EQUAL(256, all->hosts.at("h2").mtu);
    CHECK_TRUE(edited(text, *all).has_value());
}

TEST(HostConfig, tellsFlowsAndHostsThatComeAndGo) {
    const Config before = accepted(two_ports + h1);
    const Config after = accepted(two_ports + h2 + flow + "qps = 4\n");
    std::string got;
    for (const ConfigChange& change : config_changes(before, after))
        if (change.path == "host.h1" || change.path == "host.h2" || change.path == "flow.0")
            got += change.path + ": " + change.from + " -> " + change.to + "\n";
    STRCMP_EQUAL("flow.0:  -> from = \"h1\" to = \"h2\" qps = 4\nhost.h1: a host -> \nhost.h2:  -> a host\n",
                 got.c_str());
    STRCMP_EQUAL("from = \"h1\" to = \"h2\" qps = 4", value_at(after, "flow.0")->c_str());
    CHECK_FALSE(value_at(after, "flow.1").has_value());
}

}  // namespace sluice::host_config_test
