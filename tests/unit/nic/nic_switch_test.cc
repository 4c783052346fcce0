// A whole switch on two fake cards: refusals, output and forwarding.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/config/lint/lint_nic.hh"
#include "control/serve/server/api.hh"
#include "lib/values/endian.hh"

#include "tests/unit/nic/one_worker.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::nic_switch_test {
namespace {

const std::string lossy = "qos = \"lossy\"\n";

}  // namespace

TEST_GROUP_BASE(NicSwitch, OneWorker){};

// A lossless profile, and cards that cannot be paused.

TEST(NicSwitch, refusesLosslessClassesWhereACardCannotDoPfc) {
    p1.driver = "mlx5_pci";
    p1.forwarding = fake::Forwarding::ignores;
    const std::string error = start({});
    STRCMP_CONTAINS(
        "port.p1.qos: PFC of priority 3 needs pfc_tx software, and it is none here: the driver mlx5_pci was "
        "asked to hand MAC control frames over and does not say that it will; do: write qos = \"lossy\"",
        error.c_str());
    STRCMP_CONTAINS("or run it so, not lossless: --force", error.c_str());
    CHECK_FALSE(error.find("port.p0") != std::string::npos);
    CHECK_FALSE(p0.started);
    CHECK_FALSE(p1.started);
}

TEST(NicSwitch, namesEveryCardThatCannotBeHadBeforeDpdkStarts) {
    const Config config = config_of({});
    const auto cards = [&] { return StandaloneSwitch::unusable_cards(config, machine.folder()); };
    STRCMP_EQUAL("", cards().c_str());
    machine.bind("0000:03:00.0", "ixgbe");
    machine.unplug("0000:04:00.0");
    STRCMP_CONTAINS("port p0: device \"03:00.0\": the kernel's driver ixgbe has it; do: ", cards().c_str());
    STRCMP_CONTAINS("\nport p1: device \"0000:04:00.0\": there is no such device; do: ", cards().c_str());
}

TEST(NicSwitch, refusesThemWhereOnlyTheNicCanDoPfc) {
    p0.driver = p1.driver = "net_i40e";
    const std::string error = start({});
    STRCMP_CONTAINS("port.p0.qos: PFC of priority 3 needs pfc_tx software, and it is hardware here",
                    error.c_str());
    STRCMP_CONTAINS("port.p1.qos: PFC", error.c_str());
}

TEST(NicSwitch, runsThemForcedAndSaysSo) {
    p1.driver = "net_i40e";
    starts(true);
    STRCMP_CONTAINS("port.p1.qos: PFC of priority 3 needs pfc_tx software", promises().c_str());
    LONGS_EQUAL(1, events("forced").size());
    STRCMP_EQUAL("hardware", report("p1")["pfc_tx"].get<std::string>().c_str());
    STRCMP_EQUAL("software", report("p0")["pfc_tx"].get<std::string>().c_str());
}

TEST(NicSwitch, runsLossyClassesOnAnyCard) {
    p0.driver = p1.driver = "mlx5_pci";
    p0.forwarding = p1.forwarding = fake::Forwarding::ignores;
    starts(false, lossy, lossy);
    STRCMP_EQUAL("none", report("p0")["pfc_tx"].get<std::string>().c_str());
    STRCMP_EQUAL("", promises().c_str());
}

TEST(NicSwitch, refusesAChangeToLosslessWhileItRuns) {
    p0.driver = "mlx5_pci";
    p0.forwarding = fake::Forwarding::ignores;
    starts(false, lossy);
    Transaction changes(*running);
    Config config = running->config();
    config.ports.at("p0").qos = config.ports.at("p1").qos;
    const auto done = changes.apply(config, {});
    CHECK_FALSE(done.has_value());
    STRCMP_CONTAINS("port.p0.qos: PFC of priority 3 needs pfc_tx software", done.error().message.c_str());
    CHECK_TRUE(done.error().may_be_forced);
    STRCMP_EQUAL("nic-pfc", done.error().id.value_or("").c_str());
    CHECK_TRUE(running->config().ports.at("p0").qos != config.ports.at("p1").qos);
}

TEST(NicSwitch, showsErrorsOfEalAlthoughTheCardStarted) {
    p1.logs_at_start = "Error enabling MSI-X interrupts for fd 33";
    starts();
    LONGS_EQUAL(1, events("device_log").size());
    STRCMP_EQUAL("port p1: DPDK logged while it started: EAL: Error enabling MSI-X interrupts for fd 33",
                 events("device_log")[0].c_str());
}

// A wire that is to pass PFC on, between cards that keep it.

TEST(NicSwitch, aWireSaysWhichCardSwallowsPfc) {
    const auto found = [](const std::string& pfc, PfcTx tx) {
        const auto config = parse_config(
            "clock = \"real\"\n[default]\nqos = \"lossy\"\n"
            "[port.p0]\ndevice = \"0000:03:00.0\"\n[port.p1]\ndevice = \"0000:04:00.0\"\n"
            "[wire.w]\nports = [\"p0\", \"p1\"]\npfc = \"" +
                pfc + "\"\n",
            "f");
        CHECK_TRUE(config.has_value());
        PortCapabilities can;
        can.is_virtual = false;
        can.pfc = {tx, "the card has it"};
        const auto findings = lint_nics(*config, effective_qos(*config), [&](const std::string& port) {
            return port == "p1" ? NicState{&can, 0} : NicState{};
        });
        std::string text;
        for (const Finding& finding : findings)
            if (finding.id == "wire-nic") text += finding.path + ": " + finding.message + "\n";
        return text;
    };
    STRCMP_EQUAL("", found("pass", PfcTx::software).c_str());
    STRCMP_EQUAL("", found("end", PfcTx::hardware).c_str());
    STRCMP_EQUAL("wire.w.pfc: PFC is to pass port p1, and its card's is hardware: the card has it\n",
                 found("pass", PfcTx::hardware).c_str());
}

// The report of the port.

TEST(NicSwitch, showsWhatACardCanAndItsCounters) {
    p0.xstats = {{"rx_crc_errors", 4}, {"rx_priority3_xoff_packets", 0}};
    p0.module = std::vector<std::uint8_t>(256, 0);
    p0.module[0] = 0x11;
    p0.module[22] = 41;
    starts();
    round();
    const auto port = report("p0");
    STRCMP_EQUAL("software", port["pfc_tx"].get<std::string>().c_str());
    STRCMP_EQUAL("unknown", port["pfc_peer"].get<std::string>().c_str());
    STRCMP_EQUAL("net_ixgbe", port["capabilities"]["driver"].get<std::string>().c_str());
    LONGS_EQUAL(1024, port["capabilities"]["receive_ring"].get<int>());
    CHECK_TRUE(port["capabilities"]["paced"].get<bool>());
    LONGS_EQUAL(10'000'000'000, port["link_speed_bps"].get<std::int64_t>());
    LONGS_EQUAL(4, port["physical"]["crc_errors"].get<int>());
    LONGS_EQUAL(0, port["physical"]["rx_pfc"][3].get<int>());
    CHECK_TRUE(port["physical"]["rx_pfc"][4].is_null());
    LONGS_EQUAL(41'000, port["physical"]["module_temperature_mc"].get<int>());
    CHECK_FALSE(report("p1").contains("physical"));
}

TEST(NicSwitch, readsCountersOnceASecondAndModulesEveryTen) {
    p0.xstats = {{"rx_symbol_errors", 4}};  // of no frame, so nobody else reads it
    p0.module = std::vector<std::uint8_t>(256, 0);
    starts();
    for (unsigned n = 0; n < 50; ++n) round(milliseconds(10));  // half a second
    LONGS_EQUAL(1, p0.count("rte_eth_xstats_get_by_id"));
    for (unsigned n = 0; n < 51; ++n) round(milliseconds(10));
    LONGS_EQUAL(2, p0.count("rte_eth_xstats_get_by_id"));
    LONGS_EQUAL(1, p0.count("rte_eth_dev_get_module_eeprom"));
    for (unsigned n = 0; n < 9; ++n) round(seconds(1));
    LONGS_EQUAL(11, p0.count("rte_eth_xstats_get_by_id"));
    LONGS_EQUAL(2, p0.count("rte_eth_dev_get_module_eeprom"));
}

TEST(NicSwitch, saysEverLessOftenThatAReceiveRingHasNoRoom) {
    starts();
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    LONGS_EQUAL(0, events("ring_overrun").size());
    p1.imissed = 7;
    round(milliseconds(500));
    LONGS_EQUAL(0, events("ring_overrun").size());  // asked once a second
    for (unsigned n = 0; n < 3; ++n) round(seconds(1)), ++p1.imissed;
    LONGS_EQUAL(2, events("ring_overrun").size());  // at once, and a second later
    STRCMP_CONTAINS("port p1: its receive ring had no room, or no packet buffer, for 7 frames by now",
                    events("ring_overrun")[0].c_str());
    LONGS_EQUAL(10, report("p1")["imissed"].get<int>());
    for (unsigned n = 0; n < 20; ++n) round(seconds(1)), ++p1.imissed;
    LONGS_EQUAL(5, events("ring_overrun").size());  // 2, 4 and 8 seconds later
    for (unsigned n = 0; n < 200; ++n) round(seconds(1));
    LONGS_EQUAL(6, events("ring_overrun").size());  // the last figure, for nothing grows
    STRCMP_CONTAINS("for 30 frames by now", events("ring_overrun")[5].c_str());
}

TEST(NicSwitch, saysThatTheMacTakesPfcFramesIn) {
    p0.xstats = {{"rx_priority3_xoff_packets", 100}};  // of before it started
    p1.xstats = {{"rx_priority3_xoff_packets", 0}};
    starts();
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    LONGS_EQUAL(0, events("pfc_swallowed").size());
    p0.xstats[0].second = 107;
    round(seconds(1));
    LONGS_EQUAL(0, events("pfc_swallowed").size());  // they may be under way
    round(seconds(1));
    round(seconds(1));
    LONGS_EQUAL(1, events("pfc_swallowed").size());
    STRCMP_EQUAL("port p0: its MAC has counted 7 PFC frames and handed none over",
                 events("pfc_swallowed")[0].c_str());
    STRCMP_CONTAINS("not obeyed: the MAC of p0 counts PFC frames and hands none over", promises().c_str());
}

TEST(NicSwitch, saysNothingOfPfcFramesThatReachUs) {
    p0.xstats = {{"rx_priority3_xoff_packets", 0}};
    starts();
    round(seconds(1));
    p0.xstats[0].second = 1;
    pause_arrives(p0, 1);
    for (unsigned n = 0; n < 4; ++n) round(seconds(1));
    LONGS_EQUAL(1, report("p0")["pfc"]["rx_xoff"][3].get<int>());
    LONGS_EQUAL(0, events("pfc_swallowed").size());
}

// Links.

TEST(NicSwitch, saysOnceThatTheLinkHasAnotherSpeed) {
    p1.link.link_speed = 25'000;
    starts();
    LONGS_EQUAL(1, events("nic_warning").size());
    STRCMP_CONTAINS("default.speed: the link is of 25 Gb/s, and 10 Gb/s are configured",
                    events("nic_warning")[0].c_str());
    STRCMP_CONTAINS("(of port p1); do: write speed = \"25G\" under [port.p1]",
                    events("nic_warning")[0].c_str());
    for (unsigned n = 0; n < 3; ++n) round();
    LONGS_EQUAL(1, events("link_speed").size());
    p1.set_link(false);
    round();
    p1.set_link(true, 25'000);  // as before
    round();
    LONGS_EQUAL(1, events("link_speed").size());
    p1.set_link(true, 1'000);
    round();
    LONGS_EQUAL(2, events("link_speed").size());
    STRCMP_EQUAL(
        "port p1: the link is of 1 Gb/s, and 10 Gb/s are configured: pauses last another time than reckoned "
        "with",
        events("link_speed")[1].c_str());
    p1.set_link(true, 10'000);
    round();
    p1.set_link(true, 1'000);
    round();
    LONGS_EQUAL(3, events("link_speed").size());
}

TEST(NicSwitch, saysNothingOfTheSpeedOfALinkThatIsDown) {
    p1.link.link_status = 0;
    p1.link.link_speed = 0;
    starts();
    round();
    LONGS_EQUAL(0, events("nic_warning").size() + events("link_speed").size());
}

TEST(NicSwitch, warnsOfAReceiveRingThatATurnOverruns) {
    p0.rx_limits.nb_max = 16;
    p0.rx_limits.nb_min = 16;
    starts();
    LONGS_EQUAL(1, events("nic_warning").size());
    STRCMP_CONTAINS(
        "port.p0.device: 62500 bytes arrive in a turn of 50us, and the card's receive ring of 16 descriptors "
        "takes 32768; do: write turn_max = ",
        events("nic_warning")[0].c_str());
}

TEST(NicSwitch, countsFlapsAsTheDriverTells) {
    starts();
    worker_turn(0);
    p0.set_link(false);
    alone->devices()->poll_links(now);
    worker_turn(0);
    CHECK_FALSE(running->device().link_up(0));
    p0.set_link(true);
    alone->devices()->poll_links(now);
    worker_turn(0);
    CHECK_TRUE(running->device().link_up(0));
    LONGS_EQUAL(1, report("p0")["flaps"].get<int>());
}

// Frames.

TEST(NicSwitch, forwardsFromCardToCard) {
    starts();
    arrive(p0, 20);
    worker_turn(0);
    LONGS_EQUAL(20, p1.sent.size());
    CHECK_TRUE(
        std::equal(p1.mac.begin(), p1.mac.end(), rte_pktmbuf_mtod_offset(p1.sent[0], std::uint8_t*, 6)));
}

// The worker looks at p0 and then at p1, by which they leave.
TEST(NicSwitch, aFullBurstLeavesBeforeTheNextPortIsLookedAt) {
    starts();
    for (unsigned n = 0; n < burst_size; ++n) SwitchOnCards::arrive(p0, {.number = n});
    worker_turn(0);
    LONGS_EQUAL(burst_size, p1.sent_when_polled);
    LONGS_EQUAL(burst_size, p1.sent.size());
    for (unsigned n = 0; n < burst_size; ++n)
        LONGS_EQUAL(n, load_be<std::uint16_t>(rte_pktmbuf_mtod_offset(p1.sent[n], std::uint8_t*, 34)));
}

TEST(NicSwitch, aBurstThatIsNotFullLeavesWhenAllPortsHaveBeenLookedAt) {
    starts();
    arrive(p0, burst_size - 1);
    worker_turn(0);
    LONGS_EQUAL(0, p1.sent_when_polled);
    LONGS_EQUAL(burst_size - 1, p1.sent.size());
}

TEST(NicSwitch, aFullBurstForAPortThatIsPausedIsHeld) {
    starts();
    pause_arrives(p1, 0xFFFF);
    worker_turn(0);
    arrive(p0, burst_size);
    worker_turn(0);
    LONGS_EQUAL(0, p1.sent.size());
    LONGS_EQUAL(burst_size, running->device().ledger().queued);
}

TEST(NicSwitch, pausesThePeerWhenHalfTheReceiveRingIsFull) {
    starts();
    arrive(p0, 1000);
    worker_turn(0);
    LONGS_EQUAL(1, p0.sent.size());
    LONGS_EQUAL(0x88, rte_pktmbuf_mtod(p0.sent[0], std::uint8_t*)[12]);
    LONGS_EQUAL(1, report("p0")["fell_behind"].get<int>());
    running->watch().note_news();
    LONGS_EQUAL(1, events("fell_behind").size());
    STRCMP_EQUAL("port p0: the worker fell behind and paused the peer", events("fell_behind")[0].c_str());
    while (!p0.arrived.empty()) {
        now = now + microseconds(50);
        worker_turn(0);
    }
    for (unsigned n = 0; n < 100; ++n) {
        now = now + microseconds(50);
        worker_turn(0);
    }
    LONGS_EQUAL(1000, p1.sent.size());
    LONGS_EQUAL(0, report("p0")["pfc"]["tx_refresh"][3].get<int>());
    CHECK_FALSE(report("p0")["priority_groups"][3]["xoff"].get<bool>());
}

TEST(NicSwitch, pausesEveryLosslessClassThenWhetherItHasPacketsOrNot) {
    starts(false, "pfc = [3, 4]\n");
    for (unsigned n = 0; n < 3; ++n) round();
    arrive(p0, 1000);  // all of class 3
    worker_turn(0);
    LONGS_EQUAL(1, p0.sent.size());
    LONGS_EQUAL(1 << 3 | 1 << 4, rte_pktmbuf_mtod(p0.sent[0], std::uint8_t*)[17]);  // class-enable vector
}

// Two ports are answered twice as much in a turn as their worker takes of control's frames.
TEST(NicSwitch, countsTheRepliesThatItHasNoRoomFor) {
    const std::string answers = "responder = true\n";
    starts(false, answers, answers + "[punt.ttl]\nrate = 1000000\nburst = 4096\n");
    const auto sum = [&](const char* key) {
        return report("p0")[key].get<unsigned>() + report("p1")[key].get<unsigned>();
    };
    constexpr unsigned turns = 10;
    for (unsigned n = 0; n < turns; ++n) {
        arrive(p0, burst_size, 1);
        arrive(p1, burst_size, 1);
        worker_turn(0);
        running->serve_slow_path();
    }
    const unsigned lost = sum("inject_lost_packets");
    CHECK_TRUE(lost > 0);
    for (unsigned n = 0; n < turns; ++n) worker_turn(0);
    LONGS_EQUAL(2 * turns * burst_size, sum("replied_packets") + lost);
    LONGS_EQUAL(lost, sum("inject_lost_packets"));
    LONGS_EQUAL(0, sum("unresolved_waiting_packets"));
}

// As control returns packets that have waited for a neighbor.
TEST(NicSwitch, routesAgainWhatHasWaitedAndPausesNobodyForIt) {
    starts();
    p1.takes = 0;  // what p1 is to send stays in its queue
    arrive(p0, 7);
    const auto give_back = [&](DropReason reason) {
        rte_mbuf* frame = p0.arrived.back();
        CHECK_TRUE(running->device().inject(0, {frame_bytes(frame), frame->pkt_len},
                                            {InjectHead::Origin::returned, reason, 0}));
        p0.arrived.pop_back();
        rte_pktmbuf_free(frame);
    };
    for (unsigned n = 0; n < 5; ++n) give_back(DropReason::none);
    give_back(DropReason::unresolved_timeout);
    give_back(DropReason::unresolved_next_hop);
    worker_turn(0);

    LONGS_EQUAL(0, report("p0")["rx"]["packets"].get<int>());
    LONGS_EQUAL(7, report("p0")["returned_packets"].get<int>());
    const auto groups = report("p0")["priority_groups"];
    unsigned held = 0;
    for (const auto& group : groups)
        held += group["reserved_bytes"].get<unsigned>() + group["shared_bytes"].get<unsigned>();
    LONGS_EQUAL(5 * 256, held);
    LONGS_EQUAL(0, groups[3]["reserved_bytes"].get<int>() + groups[3]["shared_bytes"].get<int>());
    for (const char* kind : {"drops", "lossless_drops"}) {
        LONGS_EQUAL(1, report("p0")[kind]["unresolved_timeout"].get<int>());
        LONGS_EQUAL(1, report("p0")[kind]["unresolved_next_hop"].get<int>());
    }
    Ledger ledger = running->device().ledger();
    CHECK_TRUE(ledger.balanced());
    LONGS_EQUAL(7, ledger.injected);
    LONGS_EQUAL(5, ledger.queued);
    p1.takes = 0xFFFF;
    round(), round();
    LONGS_EQUAL(5, p1.sent.size());
    LONGS_EQUAL(63, frame_bytes(p1.sent[0])[22]);
}

// A card may split a frame wherever it likes: what is looked at behind the parser lies in one piece.
TEST(NicSwitch, headersMayLieInTwoSegments) {
    starts(false, lossy, lossy);
    constexpr unsigned frame_bytes_each = 100;
    for (std::uint16_t cut = 1; cut < frame_bytes_each; ++cut) {
        arrive(p0, 1);
        Packet* packet = p0.arrived_at(0).back();
        Packet* rest = rte_pktmbuf_alloc(p0.pool);
        const auto left = static_cast<std::uint16_t>(frame_bytes_each - cut);
        std::copy_n(frame_bytes(packet) + cut, left, frame_bytes(rest));
        std::fill_n(frame_bytes(packet) + cut, left, std::uint8_t{0xEE});
        packet->data_len = cut;
        rest->data_len = left;
        packet->next = rest;
        packet->nb_segs = 2;
        round();
        LONGS_EQUAL(cut, p1.sent.size());
        LONGS_EQUAL(frame_bytes_each, p1.sent.back()->pkt_len);
        BYTES_EQUAL(63, frame_bytes(p1.sent.back())[22]);  // TTL
    }
}

}  // namespace sluice::nic_switch_test
