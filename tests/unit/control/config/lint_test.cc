#include "control/config/lint/lint.hh"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::lint_test {
namespace {

std::vector<Finding> findings_of(std::string_view text, unsigned cpus = 8) {
    const ConfigResult config = parse_config(text, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return check_config(*config, Machine{cpus});
}

// The findings begin like `starts`, one each, in that order.
void finds(std::string_view text, const std::vector<std::string>& starts, unsigned cpus = 8) {
    const std::vector<Finding> findings = findings_of(text, cpus);
    std::string got, wanted;
    for (std::size_t i = 0; i < std::max(starts.size(), findings.size()); ++i) {
        const std::string line = i < findings.size() ? findings[i].text("f") : "nothing";
        got += (i < starts.size() ? line.substr(0, starts[i].size()) : line) + "\n";
        wanted += (i < starts.size() ? starts[i] : "nothing") + "\n";
    }
    STRCMP_EQUAL_TEXT(wanted.c_str(), got.c_str(), std::string(text).c_str());
}

// The same for each of 32: "{}" is its number.
std::string many(std::string_view section) {
    std::string all;
    for (int n = 1; n <= 32; ++n) all += fmt::format(fmt::runtime(section), n);
    return all;
}

const std::string real = "clock = \"real\"\n";
const std::string two_ports =
    "[port.p1]\naddress = [\"10.0.1.1/24\"]\n[port.p2]\naddress = [\"10.0.2.1/24\"]\n"
    "[[neighbor]]\naddress = \"10.0.2.2\"\nport = \"p2\"\nmac = \"02:00:00:00:00:02\"\n";

}  // namespace

TEST_GROUP(Lint){};

TEST(Lint, findingIsOneLineWithPlaceNumbersAndFix) {
    STRCMP_EQUAL(
        "f:10:1: error: route 10.9.0.0/16: route to nowhere: 10.9.0.0/16 goes by 10.0.1.2, which is not a "
        "neighbor "
        "[route-to-nowhere]; do: add a [[neighbor]] with address = \"10.0.1.2\"",
        findings_of(two_ports + "\n[[route]]\nprefix = \"10.9.0.0/16\"\nvia = [\"10.0.1.2\"]\n")
            .front()
            .text("f")
            .c_str());
    STRCMP_EQUAL(
        "f: error: there is no port: the switch would do nothing [no-ports]; do: add a section [port.p1]",
        findings_of("").front().text("f").c_str());
}

TEST(Lint, refusesWorkersThatCannotRun) {
    finds("workers = 2\n[port.p1]\nworker = 2", {"f:3:10: error: port.p1.worker: worker 2 of 2: the last one "
                                                 "is 1 [worker-index]; do: write worker = 1, or workers = 3",
                                                 "f:1:11: warning: workers: 2 workers for 1 ports: 1 have "
                                                 "nothing to do [workers-idle]; do: write workers = 1"});
    finds("[default]\nworker = 1\n[port.p1]", {"f:2:10: error: default.worker: worker 1 of 1"});
    finds(real + "workers = 2\n[port.p1]\ndevice = \"net_null0\"\n[port.p2]\ndevice = \"net_null1\"",
          {"f:2:11: error: workers: 2 workers under the real clock need as many CPUs, there are 1 "
           "[workers-cpus]"},
          1);
    finds(real + "cores = [1, 2]\n[port.p1]\ndevice = \"net_null0\"",
          {"f:2:9: error: cores: 2 CPUs for 1 workers [cores-count]"});
    finds("cores = [1]\n[port.p1]", {"f:1:9: note: cores: the virtual clock"});
}

TEST(Lint, refusesReceiveQueuesThatCannotBe) {
    finds(
        "[port.p1]\nrx_queues = 2",
        {"f:2:13: error: port.p1.rx_queues: under the virtual clock a port has one receive queue: the order "
         "of "
         "its frames is part of the input [rx-queues-clock]; do: write clock = \"real\", or rx_queues = 1"});
    finds(real + "[port.p1]\ndevice = \"xdp:eth1\"\nrx_queues = 2", {});
    const std::string pcap =
        real + "[port.p1]\ndevice = \"net_pcap0,rx_pcap=a,rx_pcap=b,tx_pcap=c\"\nrx_queues = ";
    finds(pcap + "2", {});
    finds(pcap + "2\npeer = \"obey\"",
          {"f:4:13: error: port.p1.rx_queues: a sender that obeys has one file [rx-queues-peer]; do: write "
           "rx_queues = 1, or leave peer out"});
    finds(pcap + "3", {"f:4:13: error: port.p1.rx_queues: 3 receive queues, and the device reads 2 files "
                       "[rx-queues-device]; do: write rx_queues = 2, or rx_pcap=FILE once for each queue"});
    finds(pcap + "1",
          {"f:3:10: error: port.p1.device: rx_pcap is given 2 times: a port has one queue each way "
           "[device-argument-twice]; do: leave one"});
    finds(real + "[port.p1]\ndevice = \"net_pcap0,rx_pcap=a,rx_pcap=b,rx_pcap=c\"\nrx_queues = 2",
          {"f:3:10: error: port.p1.device: rx_pcap is given 3 times for 2 receive queues "
           "[device-argument-twice]; do: leave 2"});
    const std::string null = real + "workers = 2\n[port.p1]\ndevice = \"net_null0\"\n";
    finds(null + "rx_queues = 2\nrx_workers = [1]", {});  // two workers, one port: none is idle
    finds(null + "rx_queues = 2\nrx_workers = [0, 2]", {"f:6:14: error: port.p1.rx_workers: worker 2 of 2: "
                                                        "the last one is 1 [worker-index]; do: leave 2 out, "
                                                        "or write workers = 3"});
    finds(
        real + "[port.p1]\ndevice = \"net_null0\"\nrx_workers = [0]",
        {"f:4:14: note: port.p1.rx_workers: no effect: the port's one receive queue is polled by its worker "
         "[rx-workers-idle]; do: leave rx_workers out, or write rx_queues = 2"});
}

TEST(Lint, refusesASleepThatTheHeadroomDoesNotKnow) {
    finds("idle_sleep = \"25us\"\n[port.p1]", {});
    finds("idle_sleep = \"26us\"\n[port.p1]",
          {"f:1:14: error: idle_sleep: an idle worker sleeps 26us, more than half of turn_max, 50us "
           "[idle-sleep]; do: write turn_max = \"52us\""});
    finds("idle_sleep = \"26us\"\nturn_max = \"52us\"\n[port.p1]", {});
}

TEST(Lint, refusesABufferOrTurnThatCannotWork) {
    finds("virtual.turn = \"1ms\"\n[port.p1]", {});
    finds("virtual.turn = \"2ms\"\n[port.p1]\nspeed = \"100G\"",
          {"f:1:16: error: virtual.turn: a turn of 2ms is longer than 1ms: 25000000 bytes arrive at 100G "
           "between two turns [turn-long]"});
    finds("[buffer]\nsize = 9215\ncell = 256\n[port.p1]",
          {"f:2:8: error: buffer.size: 9215 bytes do not hold one frame of each of 1 ports, which take 9216 "
           "[buffer-small]; do: write size = 9216 or more",
           "f:2:8: note: buffer.size: 9215 bytes are 35 cells of 256 and 255 bytes that nothing uses"});
    finds("[buffer]\nsize = 9216\n[port.p1]", {});
}

TEST(Lint, refusesDevicesInEachOthersWay) {
    finds(real + "[port.p1]",
          {"f:2:1: error: port.p1: a port needs a device under the real clock [device-missing]"});
    finds(real + "[port.p1]\ndevice = \"0000:01:00.0\"\npeer = \"obey\"",
          {"f:4:8: warning: port.p1.peer: no effect"});
    finds(real + "[port.p1]\ndevice = \"net_null1\"\npeer = \"ignore\"",
          {"f:4:8: warning: port.p1.peer: no effect"});
    for (const char* peer : {"obey", "ignore"})
        finds(real + "[port.p1]\ndevice = \"net_pcap1,rx_pcap=a,infinite_rx=1\"\npeer = \"" + peer + "\"",
              {});
    finds("[port.p1]\ndevice = \"net_null0\"\n[port.p2]\ndevice = \"net_null0,size=64\"",
          {"f:4:10: error: port.p2.device: \"net_null0\" is the device of port p1 too [device-twice]"});
    finds("[port.p1]\ndevice = \"net_pcap0,tx_pcap=o\"\n[port.p2]\ndevice = \"net_pcap1,tx_pcap=o\"",
          {"f:4:10: error: port.p2.device: port.p1.device writes \"o\" too [file-written-twice]"});
    finds("[port.p1]\ndevice = \"net_pcap0,tx_pcap=o\"\n[port.p2]\ndevice = \"net_pcap1,rx_pcap=o\"",
          {"f:4:10: error: port.p2.device: port.p1.device writes \"o\" in the same run "
           "[file-read-and-written]"});
    finds("[port.p1]\ndevice = \"net_pcap0,rx_pcap=a,rx_pcap=b\"",
          {"f:2:10: error: port.p1.device: rx_pcap is given 2 times: a port has one queue each way "
           "[device-argument-twice]"});
    finds("[port.p1]\ndevice = \"net_pcap0,rx_pcap=,tx_pcap\"",
          {"f:2:10: error: port.p1.device: rx_pcap names no file",
           "f:2:10: error: port.p1.device: tx_pcap names no file"});
    finds("[port.p1]\ndevice = \"0000:01:00.0\"", {"f:2:10: error: port.p1.device: devices of this kind need "
                                                   "the real clock: \"0000:01:00.0\" [device-clock]"});
    finds("[port.p1]\ndevice = \"net_pcapx\"",
          {"f:2:10: error: port.p1.device: devices of this kind need the real clock"});
    finds("[port.p1]\ndevice = \"net_pcap0,iface=eth0\"",
          {"f:2:10: error: port.p1.device: iface names a network interface"});
    finds("[port.p1]\ndevice = \",\"", {"f:2:10: error: port.p1.device: devices of this kind"});
}

TEST(Lint, findsWhereTheKernelsRoutesHaveNoEffect) {
    finds("[kernel]\nroutes = true\n[port.p1]\ndevice = \"net_pcap0\"",
          {"f:2:10: error: kernel.routes: the kernel's routes change in real time [kernel-clock]"});
    finds(
        "clock = \"real\"\n[kernel]\nroutes = true\n[port.p1]\ndevice = \"xdp:eth1\"\n"
        "[port.p2]\ndevice = \"net_af_packet0,iface=eth2\"\n[port.p3]\ndevice = \"net_null0\"",
        {});
    finds("clock = \"real\"\n[kernel]\nroutes = true\ntaps = false\n[port.p3]\ndevice = \"net_null0\"",
          {"f:6:10: note: port.p3.device: the kernel has no interface of this port"});
}

TEST(Lint, findsWhatTapsCannotBe) {
    finds("[kernel]\ntaps = true\n[port.p1]\ndevice = \"net_pcap0\"",
          {"f:2:8: error: kernel.taps: the kernel answers in real time [kernel-clock]"});
    const std::string two =
        "\n[port.a-name-of-fifteen]\ndevice = \"net_null0\"\n[port.a-name-of-fifteen2]\ndevice = ";
    finds(real + "[kernel]\ntaps = true" + two + "\"net_null1\"",
          {"f:6:1: error: port.a-name-of-fifteen2: its TAP would be called a-name-of-fifte, as that of port "
           "a-name-of-fifteen [tap-twice]"});
    finds(real + "[kernel]\ntaps = false" + two + "\"net_null1\"", {});
    finds(real + "[kernel]\ntaps = true" + two + "\"xdp:eth1\"", {});  // it has its interface
}

TEST(Lint, findsRespondersThatHaveNothingToSay) {
    const std::string own = "[port.p1]\ndevice = \"net_pcap0\"\naddress = [\"10.0.0.1/24\"]\n";
    finds(own + "responder = true\nproxy_arp = true", {});
    finds(own + "proxy_arp = true", {"f:4:13: warning: port.p1.proxy_arp: no effect"});
    finds("[port.p1]\ndevice = \"net_pcap0\"\nresponder = true",
          {"f:3:13: note: port.p1.responder: the port has no address"});
    const std::string answers = "responder = true\naddress = [\"10.0.0.1/24\"]";
    finds(real + "[port.p1]\ndevice = \"net_af_packet0,iface=eth1\"\n" + answers, {});
    finds(
        real + "[port.p1]\ndevice = \"xdp:eth1\"\n" + answers,
        {"f:4:13: warning: port.p1.responder: of use for oversize packets alone: the kernel gets the rest at "
         "this port's interface, and answers for the interface's addresses only"});
    finds(real + "[kernel]\nroutes = true\n[port.p1]\ndevice = \"xdp:eth1\"\n" + answers,
          {"f:6:13: warning: port.p1.responder: the kernel answers at this port's interface, too"});
    finds(real + "[kernel]\ntaps = true\n[port.p1]\ndevice = \"net_null0\"\n" + answers,
          {"f:6:13: warning: port.p1.responder: no effect: the kernel answers at the port's TAP"});
}

TEST(Lint, refusesAddressesThatClash) {
    finds("[port.p1]\nmac = \"02:00:00:00:00:01\"\n[port.p2]\nmac = \"02:00:00:00:00:01\"",
          {"f:4:7: error: port.p2.mac: 02:00:00:00:00:01 is the MAC address of port p1 too [mac-twice]"});
    finds("[port.p1]\naddress = [\"10.0.0.1/8\"]\n[port.p2]\naddress = [\"10.9.9.9/24\"]\n",
          {"f:4:11: error: port.p2.address: the subnet 10.9.9.0/24 overlaps 10.0.0.0/8 of port p1 "
           "[subnet-overlap]"});
    finds(
        "[port.p1]\naddress = [\"10.0.0.1/24\", \"10.1.0.1/16\"]\n[port.p2]\naddress = [\"10.0.0.2/24\", "
        "\"10.1.200.1/30\"]\n",
        {"f:4:11: error: port.p2.address: the subnet 10.0.0.0/24 overlaps",
         "f:4:11: error: port.p2.address: the subnet 10.1.200.0/30 overlaps 10.1.0.0/16 of port p1"});
    finds("[port.p1]\naddress = [\"10.0.0.1/24\", \"10.0.0.1/16\"]\n",
          {"f:2:11: error: port.p1.address: the port has 10.0.0.1 twice [address-twice]"});
    finds("[port.p1]\naddress = [\"2001:db8::1/64\"]\nmtu = 1279\n",
          {"f:3:7: warning: port.p1.mtu: IPv6 needs an MTU of at least 1280"});
    finds("[port.p1]\nmap = \"defualt\"\n", {"f:2:7: error: port.p1.map: there is no map \"defualt\" "
                                             "[map-unknown]; do: write map = \"default\""});
}

TEST(Lint, refusesNeighborsThatCannotBe) {
    const std::string mac = "\nmac = \"02:00:00:00:00:09\"\n";
    finds(two_ports + "[[neighbor]]\naddress = \"10.0.1.2\"\nport = \"p3\"" + mac,
          {"f:9:1: error: neighbor 10.0.1.2: there is no port \"p3\" [neighbor-port]; do: write port = \"p"});
    finds(two_ports + "[[neighbor]]\naddress = \"10.0.1.1\"\nport = \"p1\"" + mac,
          {"f:9:1: error: neighbor 10.0.1.1: it has an address of our own [neighbor-own]"});
    finds(two_ports + "[[neighbor]]\naddress = \"10.0.2.2\"\nport = \"p2\"" + mac,
          {"f:9:1: error: neighbor 10.0.2.2: it is on line 5 already, at port p2 [neighbor-twice]"});
    finds(
        two_ports + "[[neighbor]]\naddress = \"10.0.2.2\"\nport = \"p1\"" + mac,
        {"f:5:1: warning: neighbor 10.0.2.2: it is on line 9 at port p1, too: packets to it are shared among "
         "its ports [neighbor-several-ports]"});
    const std::string both = "[[neighbor]]\naddress = \"fe80::1\"\nport = \"p1\"" + mac +
                             "[[neighbor]]\naddress = \"fe80::1\"\nport = \"p2\"" + mac;
    finds(two_ports + both, {});
    finds("[port.p1]\naddress = [\"fe80::1/64\"]\n[port.p2]\n" + both,
          {"f:4:1: error: neighbor fe80::1: it has an address of our own [neighbor-own]"});
    finds("[port.p1]\nmac = \"02:00:00:00:00:09\"\n[[neighbor]]\naddress = \"10.0.1.2\"\nport = \"p1\"" + mac,
          {"f:3:1: error: neighbor 10.0.1.2: 02:00:00:00:00:09 is the MAC address of our own port p1 "
           "[neighbor-own-mac]"});
}

TEST(Lint, refusesRoutesThatLeadNowhere) {
    const std::string head = two_ports + "[[route]]\nprefix = \"10.9.0.0/16\"\nvia = ";
    finds(head + "[\"10.0.1.1\"]",
          {"f:9:1: error: route 10.9.0.0/16: the next hop 10.0.1.1 is our own address [next-hop-own]"});
    finds(head + "[\"10.0.2.2\", \"10.0.2.2\"]",
          {"f:9:1: error: route 10.9.0.0/16: the next hop 10.0.2.2 is in the list twice [next-hop-twice]"});
    const std::string hop = "{address = \"10.0.2.2\", port = \"";
    finds(head + "[" + hop + "p2\"}, " + hop + "p1\"}]",
          {"f:9:1: error: route 10.9.0.0/16: route to nowhere: 10.9.0.0/16 goes by 10.0.2.2 dev p1, which is "
           "not a "
           "neighbor [route-to-nowhere]; do: add a [[neighbor]] with address = \"10.0.2.2\" and port = "
           "\"p1\""});
    finds(head + "[\"10.0.2.2\", " + hop + "p2\"}]",
          {"f:9:1: error: route 10.9.0.0/16: the next hop 10.0.2.2 dev p2 is in the list twice, once at "
           "every port "
           "[next-hop-twice]"});
    finds(head + "[\"10.0.2.2\", \"10.0.2.3\"]",
          {"f:9:1: error: route 10.9.0.0/16: route to nowhere: 10.9.0.0/16 goes by 10.0.2.3"});
    finds(head + "\"blackhole\"\n[[route]]\nprefix = \"10.9.0.0/16\"\nvia = \"10.0.2.2\"",
          {"f:12:1: error: route 10.9.0.0/16: the same prefix is on line 9 already [route-twice]"});
    std::string many = two_ports;
    for (int i = 0; i < 150; ++i)
        many += "[[route]]\nprefix = \"11.0." + std::to_string(i) + ".0/24\"\nvia = \"10.7.7.7\"\n";
    const auto findings = findings_of(many);
    UNSIGNED_LONGS_EQUAL(max_findings_of_a_kind + 1, findings.size());
    STRCMP_EQUAL(
        "f: error: 50 more of this kind are not shown [route-to-nowhere]; do: correct those shown and check "
        "again",
        findings.back().text("f").c_str());
}

TEST(Lint, warnsOfAWatchdogThatTakesHonestPausesForStorms) {
    const std::string slow = "[buffer]\nsize = \"32MB\"\n[port.p1]\nspeed = \"1G\"\n";
    finds(
        "[watchdog]\ndetection = \"200ms\"\n" + slow,
        {"f:2:13: warning: watchdog.detection: 200ms is not above 256091us, in which a peer with a buffer of "
         "32MB, as ours, drains it through one port at 1G and tells us: an honest pause would be taken for a "
         "storm "
         "[watchdog-honest-pause]; do: write detection = \"257ms\""});
    finds("[watchdog]\ndetection = \"257ms\"\n" + slow, {});
    finds("[watchdog]\naction = \"off\"\n" + slow, {});
    finds(slow + "pfc_mode = \"off\"\n", {});
    finds(slow + "qos = \"lossy\"\n", {});
    // The effective value of the port is judged, and its own key named.
    finds(slow + "watchdog.detection = \"257ms\"\n", {});
    finds(slow + "watchdog.action = \"off\"\n", {});
    finds("[watchdog]\ndetection = \"257ms\"\n" + slow + "watchdog.detection = \"256ms\"\n",
          {"f:7:22: warning: port.p1.watchdog.detection: 256ms is not above 256091us, in which a peer with a "
           "buffer of 32MB, as ours, drains it through one port at 1G and tells us: an honest pause would be "
           "taken for a "
           "storm [watchdog-honest-pause]; do: write detection = \"257ms\""});
    finds("[watchdog]\naction = \"off\"\n" + slow + "watchdog.action = \"drop\"\n",
          {"f: warning: watchdog.detection: 200ms is not above 256091us, in which a peer with a buffer of "
           "32MB, "
           "as "
           "ours, drains it through one port at 1G and tells us: an honest pause would be taken for a storm "
           "[watchdog-honest-pause]; do: write detection = \"257ms\""});
    finds("[watchdog]\npoll = \"10ms\"\n[port.p1]",
          {"f:2:8: note: watchdog.poll: the virtual clock is exact: no effect [watchdog-poll]"});
    finds(real + "[watchdog]\npoll = \"201ms\"\n[port.p1]\ndevice = \"net_null0\"",
          {"f:3:8: warning: watchdog.poll: a storm of 200ms is found up to 201ms late [watchdog-poll]; do: "
           "write poll = \"50ms\""});
}

TEST(Lint, saysOnceWhatAllPortsHaveFromADefault) {
    const std::string ports = many("[port.p{}]\n");
    finds(
        "[default]\nmap = \"defualt\"\n" + ports,
        {"f:2:7: error: default.map: there is no map \"defualt\" (of port p1 and 31 others) [map-unknown]"});
    finds("[default.port]\nmap = \"defualt\"\n[port.\"a.b\"]",
          {"f:2:7: error: default.port.map: there is no map \"defualt\" (of port a.b) [map-unknown]"});
    finds("[default]\nmap = \"defualt\"\n[port.p1]\nmap = \"mine\"\n[port.p2]\n[port.p3]\n",
          {"f:2:7: error: default.map: there is no map \"defualt\" (of port p2 and 1 other) [map-unknown]",
           "f:4:7: error: port.p1.map: there is no map \"mine\" [map-unknown]"});
    // Other numbers are another finding.
    finds("[default]\nworker = 3\n[port.p1]\nworker = 4\n[port.p2]\nworker = 4\n[port.p3]",
          {"f:2:10: error: default.worker: worker 3 of 1: the last one is 0 (of port p3) [worker-index]",
           "f:4:10: error: port.p1.worker: worker 4", "f:6:10: error: port.p2.worker: worker 4"});
}

// Faults of all ports, with the key of the table that the file has.
TEST(Lint, saysOnceWhatAllPortsHaveFromAFaultByDefault) {
    const std::string ports = many("[port.p{}]\n");
    finds(
        "[default.fault]\nstorm_every = \"20us\"\n" + ports,
        {"f:2:15: note: default.fault.storm_every: a storm without storm_classes (of port p1 and 31 others) "
         "[fault-storm]"});
    finds("[default.fault]\nstorm_for = \"20us\"\n[port.p1]\n[port.p2]\n",
          {"f:2:13: note: default.fault.storm_for: a storm without storm_classes (of port p1 and 1 other)"});
    finds("[port.p1.fault]\nstorm_for = \"20us\"\n",
          {"f:2:13: note: port.p1.fault.storm_for: a storm without storm_classes [fault-storm]"});
    const std::string devices = many("[port.p{0}]\ndevice = \"net_null{0}\"\n");
    finds(
        real + "[default.fault]\ndrop_every = 9\n" + devices,
        {"f:3:14: error: default.fault.drop_every: faults are injected under the virtual clock only (of port "
         "p1 and 31 others) [fault-real-clock]"});
    finds(
        real +
            "[default.fault]\ndrop_every = 9\n[port.p1]\ndevice = \"net_null1\"\n[port.p1.fault]\n"
            "drop_every = 3\n",
        {"f:7:14: error: port.p1.fault.drop_every: faults are injected under the virtual clock only [fault"});
}

TEST(Lint, saysOnceWhatAllHostsHaveFromADefault) {
    const std::string hosts =
        many("[port.p{0}]\naddress = [\"10.0.{0}.1/24\"]\n[host.p{0}]\naddress = \"10.0.{0}.2\"\n");
    finds("[host.default]\nrate_min = \"200G\"\n" + hosts,
          {"f:2:12: error: host.default.rate_min: 200G is above the 100G of its port (of host p1 and 31 "
           "others) "
           "[host-rate]"});
    finds("[host.default]\nrate_min = \"200G\"\n" + hosts + "rate_min = \"300G\"\n",
          {"f:2:12: error: host.default.rate_min: 200G is above the 100G of its port (of host p1 and 30 "
           "others)",
           "f:131:12: error: host.p32.rate_min: 300G is above the 100G of its port [host-rate]"});
    finds("[host.default]\nmtu = 4096\n[default]\nmtu = 1500\n" + hosts,
          {"f:2:7: error: host.default.mtu: a payload of 4096 is an IP packet of 4156 bytes, the MTU of its "
           "port is 1500 (of host p1 and 31 others) [host-mtu]"});
    finds("[default]\nmtu = 1000\n" + hosts,
          {"f:2:7: error: default.mtu: its host's payload of 1024 is an IP packet of 1084 bytes, the MTU is "
           "1000 (of port p1 and 31 others) [host-mtu]"});
    finds(
        "[default]\ndevice = \"net_pcap0,rx_pcap=a\"\n" + hosts,
        {"f:2:10: error: default.device: \"net_pcap0\" is the device of port p1 too (of port p2 and 30 "
         "others)",
         "f:2:10: error: default.device: a simulated host stands behind the port, and so does its device (of "
         "port p1 and 31 others) [host-device]"});
}

TEST(Lint, acceptsWhatIsRight) {
    finds(two_ports +
              "[[route]]\nprefix = \"10.9.0.0/16\"\nvia = [{address = \"10.0.2.2\", weight = 3}]\n"
              "[[route]]\nprefix = \"0.0.0.0/0\"\nvia = \"blackhole\"\n",
          {});
    finds(
        "[port.p1]\ndevice = \"net_pcap0,rx_pcap=a,tx_pcap=b\"\n[port.p2]\ndevice = "
        "\"net_pcap1,rx_pcap=a,tx_pcap=c\"\n[port.p3]\ndevice = \"net_null\"",
        {});
    finds(
        "[port.p1]\naddress = [\"fe80::1/64\", \"10.0.0.1/24\", \"10.0.0.2/24\"]\n[port.p2]\naddress = "
        "[\"fe80::1/64\", \"10.0.1.1/24\"]",
        {});
    finds(real + "[port.p1]\ndevice = \"0000:01:00.0\"", {});
    CHECK_FALSE(has_error(findings_of("cores = [1]\n[port.p1]")));
    CHECK_TRUE(has_error(findings_of("")));
}

}  // namespace sluice::lint_test
