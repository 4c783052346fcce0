// The base of tests on fake cards: a port on one card, or a whole switch on two. The test itself runs the
// turns and the rounds of control: nothing happens by itself, and only the test moves time on.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "control/config/lint/judge.hh"
#include "control/report/figures/report.hh"
#include "control/switch/running/standalone_switch.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/path/worker_context.hh"
#include "dataplane/ports/ethdev_port.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/worker.hh"
#include "lib/pfc/pfc_frame.hh"
#include "tests/unit/frames.hh"
#include "tests/unit/nic/fake_ethdev.hh"

#include "CppUTest/TestHarness.h"

namespace sluice {

// For a group of tests on one port.
class PortOnCard : public Utest {
  public:
    void teardown() override { LONGS_EQUAL(0, pool.in_use()); }

    std::unique_ptr<EthdevPort> open() {
        auto port = EthdevPort::start(spec);
        if (!port) FAIL(port.error().c_str());
        return std::move(*port);
    }
    std::string refused() {
        auto port = EthdevPort::start(spec);
        return port ? "" : port.error();
    }
    void arrive(unsigned frames, std::uint16_t queue = 0) {
        for (unsigned n = 0; n < frames; ++n) {
            Packet* packet = rte_pktmbuf_alloc(pool.pool());
            packet->pkt_len = packet->data_len = 60;
            card.arrived_at(queue).push_back(packet);
        }
    }

    const std::string address = "0000:03:00.0";
    fake::Machine machine;
    fake::Card& card = machine.plug(address);
    PacketPool pool{"on_card", 8191, 0};
    EthdevPort::Spec spec{
        "03:00.0",
        {9100, pool.pool(), gigabits(100), microseconds(50), microseconds(20), std::nullopt},
        machine.folder()};
};

// For a group of tests on a switch of two ports, 10.0.0.1/24 and 10.0.1.1/24, with 10.0.1.2 behind the
// latter.
class SwitchOnCards : public Utest {
  public:
    void setup() override {
        for (fake::Card* card : {&p0, &p1}) {
            card->link.link_speed = 10'000;
            card->flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
        }
    }
    void teardown() override { stop(); }
    void stop() {
        if (!running) return;
        CHECK_TRUE(running->device().ledger().balanced());
        static_cast<void>(running->close());
        running->device().empty();
        LONGS_EQUAL(0, running->packets_missing());
        running = nullptr;
        alone.reset();
    }

    // Parts of a configuration beside the ports: keys at the top, and of each port.
    struct Keys {
        std::string top{}, p0{}, p1{};
        std::string p0_arguments{};  // ",name=value", of its device
    };
    static Config config_of(const Keys& keys) {
        const std::string text = "clock = \"real\"\n" + keys.top + R"([buffer]
size = "4MB"
[fib]
ipv4_tables = 256
ipv6_tables = 256
[default]
speed = "10G"
mtu = 1500
[port.p0]
device = "03:00.0)" + keys.p0_arguments +
                                 R"("
address = ["10.0.0.1/24"]
)" + keys.p0 + R"(
[port.p1]
device = "0000:04:00.0"
address = ["10.0.1.1/24"]
)" + keys.p1 + R"(
[[neighbor]]
address = "10.0.1.2"
port = "p1"
mac = "02:00:00:00:00:02"
)";
        const ConfigResult config = parse_config(text, "f");
        if (!config) FAIL(config.error().front().text().c_str());
        for (const Finding& finding : judge_config(*config, Machine{2}))
            if (finding.severity == Severity::error) FAIL(finding.text("f").c_str());
        return *config;
    }
    // An error's text, or empty.
    std::string start(const Keys& keys, bool force = false) {
        StandaloneOptions options;
        options.running.name = "on_cards";
        options.force = force;
        options.pci_folder = machine.folder();
        auto made = StandaloneSwitch::create(config_of(keys), options);
        if (!made) return made.error();
        alone = std::move(*made);
        running = &alone->running();
        return {};
    }

    void worker_turn(unsigned worker) { turn(running->device().worker(static_cast<WorkerId>(worker)), now); }
    nlohmann::ordered_json report(const std::string& port) const {
        return make_report(*running)["ports"][port];
    }

    // A frame of the lossless class, to the host behind p1.
    struct Routed {
        std::size_t bytes = 100;
        unsigned number = 0;  // its UDP source port
        std::uint8_t ttl = 64;
    };
    static void arrive(fake::Card& card, const Routed& set, std::uint16_t queue = 0) {
        constexpr std::uint8_t lossless_dscp = 26;
        frames::Frame frame = frames::v4_frame(frames::udp(set.number, 0, frames::Frame(set.bytes - 42)),
                                               {.ttl = set.ttl, .tos = lossless_dscp << 2});
        std::copy_n(card.mac.begin(), 6, frame.begin());
        card.arrived_at(queue).push_back(make_packet(card.pool, frame, false));
    }
    // The peer pauses the lossless class.
    static void pause_arrives(fake::Card& card, std::uint16_t quanta, std::uint16_t queue = 0) {
        constexpr ClassId priority = 3;
        std::array<std::uint8_t, pfc_frame_bytes> frame{};
        PauseMap map;
        map.class_enable = 1U << priority;
        map.quanta[priority] = quanta;
        build_pfc_frame(frame, {{2, 0, 0, 0, 0, 9}}, map);
        card.arrived_at(queue).push_back(make_packet(card.pool, frame, false));
    }

    fake::Machine machine;
    fake::Card& p0 = machine.plug("0000:03:00.0");
    fake::Card& p1 = machine.plug("0000:04:00.0");
    std::unique_ptr<StandaloneSwitch> alone;
    RunningSwitch* running = nullptr;  // of `alone`
    Time now{1'000'000'000};
};

}  // namespace sluice
