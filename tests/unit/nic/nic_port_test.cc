// EthdevPort and start_nic on a fake card: every answer of a driver.
#include "dataplane/ports/ethdev_port.hh"

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/unit/nic/on_cards.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::nic_port_test {
namespace {

using fake::Forwarding;

}  // namespace

TEST_GROUP_BASE(NicPort, PortOnCard){};

// Refusals.

TEST(NicPort, isRefusedBeforeDpdkIsAskedWhenTheKernelHasTheCard) {
    machine.bind(address, "ixgbe", "enp3s0");
    STRCMP_CONTAINS("device \"03:00.0\": the kernel's driver ixgbe has it, as interface enp3s0",
                    refused().c_str());
    LONGS_EQUAL(0, card.calls.size());
}

TEST(NicPort, isRefusedWithTheStepThatFails) {
    struct Row {
        const char* function;
        const char* said;
    };
    for (const Row& row : std::array{
             Row{"rte_dev_probe", "device \"03:00.0\": DPDK has no driver for it, or it does not start: I"},
             Row{"rte_eth_dev_get_port_by_name", "DPDK has no driver of Ethernet devices for it"},
             Row{"rte_eth_dev_info_get", "it says nothing of itself: I"},
             Row{"rte_eth_dev_configure", "it takes no configuration: I"},
             Row{"rte_eth_dev_adjust_nb_rx_tx_desc", "its rings have no size: I"},
             Row{"rte_eth_rx_queue_setup", "it takes no receive ring: I"},
             Row{"rte_eth_tx_queue_setup", "it takes no transmit ring: I"},
             Row{"rte_eth_dev_start", "it does not start: Input/output error"},
         }) {
        card.fails = {{row.function, -EIO}};
        STRCMP_CONTAINS_TEXT(row.said, refused().c_str(), row.function);
        CHECK_FALSE(card.started);
        CHECK_TRUE(card.callbacks.empty());  // nobody is called for a port that is not
        CHECK_TRUE(card.device_callbacks.empty());
        card.calls.clear();
    }
}

TEST(NicPort, takesACardThatDpdkHasProbedAlready) {
    card.fails = {{"rte_dev_probe", -EEXIST}};
    card.probed = true;
    card.id = 19;
    CHECK_TRUE(open()->link_up());
}

TEST(NicPort, isRefusedAnMtuThatTheCardDoesNotTake) {
    card.max_mtu = 1500;
    STRCMP_EQUAL("device \"03:00.0\": it takes an MTU of at most 1500; do: set mtu to at most 1500",
                 refused().c_str());
    spec.nic.mtu = 1500;
    STRCMP_EQUAL("", refused().c_str());
}

TEST(NicPort, isRefusedJumboFramesThatDoNotFitABufferWhereTheCardKnowsButOne) {
    card.rx_offloads = 0;
    STRCMP_EQUAL(
        "device \"03:00.0\": it receives a frame into one packet buffer, of which it fills 2048 bytes, and "
        "one "
        "of MTU 9100 takes 9122; do: set mtu to at most 2026, or buffer.packet_buffer to 9216",
        refused().c_str());
    card.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
    card.tx_offloads = 0;
    STRCMP_CONTAINS("it sends a frame from one packet buffer, of which", refused().c_str());
    card.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    card.tx_limits.nb_mtu_seg_max = 4;
    STRCMP_CONTAINS(
        "it sends a frame from at most 4 packet buffers, of which it fills 2048 bytes, and one of MTU 9100 "
        "takes 9122; do: set mtu to at most 8170",
        refused().c_str());
    spec.nic.mtu = 8170;
    LONGS_EQUAL(8170, open()->capabilities().max_mtu);
    card.tx_limits.nb_mtu_seg_max = 5;
    spec.nic.mtu = 9100;
    STRCMP_EQUAL("", refused().c_str());
    spec.nic.mtu = 2027;
    card.rx_offloads = 0;
    STRCMP_CONTAINS("takes 2049", refused().c_str());
    spec.nic.mtu = 2026;
    LONGS_EQUAL(2026, open()->capabilities().max_mtu);
}

TEST(NicPort, isRefusedAMacThatTheCardNeitherTakesNorOverlooks) {
    card.fails = {{"rte_eth_promiscuous_enable", -ENOTSUP}, {"rte_eth_dev_default_mac_addr_set", -EPERM}};
    STRCMP_EQUAL("", refused().c_str());  // the card's own
    spec.nic.mac = MacAddress{{2, 0, 0, 0, 0, 9}};
    STRCMP_CONTAINS(
        "it is neither promiscuous nor takes the port's mac; do: leave mac out: Operation not permitted",
        refused().c_str());
}

TEST(NicPort, countsOnWholeKilobytesOfABufferAlone) {
    const PacketPool odd("nic_test_odd", 1023, 0, 3000);
    card.rx_limits.nb_max = card.tx_limits.nb_max = 64;
    spec.nic.pool = odd.pool();
    spec.nic.mtu = 2027;  // 2049 bytes, and NICs fill 2048 of the 3000
    auto port = open();
    LONGS_EQUAL(RTE_ETH_RX_OFFLOAD_SCATTER, card.conf.rxmode.offloads);
    port.reset();
    spec.nic.mtu = 2026;
    port = open();
    LONGS_EQUAL(0, card.conf.rxmode.offloads);
    port.reset();
    const PacketPool small("nic_test_small", 1023, 0, 1000);
    spec.nic.pool = small.pool();
    spec.nic.mtu = 978;
    port = open();
    LONGS_EQUAL(0, card.conf.rxmode.offloads);
}

// The settings that a card gets.

TEST(NicPort, asksForNoOffloadButWhatItsFramesNeed) {
    auto port = open();
    LONGS_EQUAL(RTE_ETH_RX_OFFLOAD_SCATTER, card.conf.rxmode.offloads);
    LONGS_EQUAL(RTE_ETH_TX_OFFLOAD_MULTI_SEGS, card.conf.txmode.offloads);
    LONGS_EQUAL(9100, card.conf.rxmode.mtu);
    LONGS_EQUAL(RTE_ETH_MQ_RX_NONE, card.conf.rxmode.mq_mode);
    port.reset();
    spec.nic.mtu = 1500;
    port = open();
    LONGS_EQUAL(0, card.conf.rxmode.offloads);
    LONGS_EQUAL(0, card.conf.txmode.offloads);
    port.reset();
    card.min_mtu = 1600;
    port = open();
    LONGS_EQUAL(1600, card.conf.rxmode.mtu);
}

TEST(NicPort, hasRingsAsLongAsATurnAndAsShortAsHeadroomAssumes) {
    const auto port = open();
    LONGS_EQUAL(4096, card.rx_ring);  // 8192 are wanted, the card has no more
    LONGS_EQUAL(120, card.tx_ring);
    LONGS_EQUAL(4096, port->capabilities().receive_ring);
    LONGS_EQUAL(120, port->capabilities().transmit_ring);
    CHECK_FALSE(port->capabilities().paced);
    CHECK_TRUE(port->has_own_ring());
}

TEST(NicPort, roundsItsTransmitRingDownToTheCardsSteps) {
    card.tx_limits.nb_align = 32;
    CHECK_TRUE(open()->has_own_ring());
    LONGS_EQUAL(32 * 3, open()->capabilities().transmit_ring);
    card.tx_limits.nb_align = 128;  // none is short enough: the link model holds frames back
    LONGS_EQUAL(128, open()->capabilities().transmit_ring);
    CHECK_FALSE(open()->has_own_ring());
    card.tx_limits.nb_align = 0;
    card.tx_limits.nb_align = 8;
    card.tx_limits.nb_min = 512;
    LONGS_EQUAL(512, open()->capabilities().transmit_ring);
    CHECK_FALSE(open()->has_own_ring());
}

TEST(NicPort, isPacedWhereTheShortestRingHoldsTooMuch) {
    spec.nic.speed = gigabits(10);
    const auto port = open();
    LONGS_EQUAL(64, card.tx_ring);
    LONGS_EQUAL(1024, card.rx_ring);
    CHECK_FALSE(port->has_own_ring());
}

TEST(NicPort, asksForNoInterruptButOfRemoval) {
    auto port = open();
    LONGS_EQUAL(0, card.conf.intr_conf.lsc);  // so that DPDK asks the driver for the link
    LONGS_EQUAL(0, card.conf.intr_conf.rmv);
    CHECK_FALSE(port->capabilities().removal_interrupt);
    port.reset();
    card.flags = RTE_ETH_DEV_INTR_RMV;
    port = open();
    LONGS_EQUAL(1, card.conf.intr_conf.rmv);
    CHECK_TRUE(port->capabilities().removal_interrupt);
}

TEST(NicPort, letsPfcsGroupAddressInByWhateverTheCardHas) {
    struct Row {
        std::map<std::string, int> fails;
        const char* filter;
        const char* said;
        const char* pfc;
    };
    const int no = -ENOTSUP;
    for (const Row& row : {Row{{}, "promiscuous", "promiscuous", "software"},
                           Row{{{"rte_eth_promiscuous_enable", no}},
                               "01:80:C2:00:00:01",
                               "own MAC and 01:80:C2:00:00:01",
                               "software"},
                           Row{{{"rte_eth_promiscuous_enable", no}, {"rte_eth_dev_set_mc_addr_list", no}},
                               "multicast",
                               "own MAC and all multicast",
                               "software"},
                           Row{{{"rte_eth_promiscuous_enable", no},
                                {"rte_eth_dev_set_mc_addr_list", no},
                                {"rte_eth_allmulticast_enable", no}},
                               "",
                               "own MAC",
                               "hardware"}}) {
        card.fails = row.fails;
        card.filter.clear();
        const auto port = open();
        STRCMP_EQUAL(row.filter, card.filter.c_str());
        STRCMP_EQUAL(row.said, port->capabilities().filter.c_str());
        STRCMP_EQUAL(row.pfc, std::string(to_string(port->capabilities().pfc.tx)).c_str());
    }
    spec.nic.mac = MacAddress{{2, 0, 0, 0, 0, 9}};
    static_cast<void>(open());
    LONGS_EQUAL(9, card.new_mac[5]);
}

TEST(NicPort, turnsFlowControlOfTheCardOffAndAsksForMacControlFrames) {
    for (const auto& [forwarding, forwarded, pfc] : {std::tuple{Forwarding::reads_back, 1, PfcTx::software},
                                                     std::tuple{Forwarding::ignores, 0, PfcTx::hardware},
                                                     std::tuple{Forwarding::grants, 1, PfcTx::hardware},
                                                     std::tuple{Forwarding::refuses, 0, PfcTx::hardware}}) {
        card.forwarding = forwarding;
        card.flow_control = {};
        card.flow_control.mode = RTE_ETH_FC_FULL;
        card.flow_control.autoneg = 1;
        card.flow_control.high_water = 80;
        const auto port = open();
        LONGS_EQUAL(RTE_ETH_FC_NONE, card.flow_control.mode);
        LONGS_EQUAL(1, card.flow_control.autoneg);
        LONGS_EQUAL(forwarded, card.flow_control.mac_ctrl_frame_fwd);
        CHECK_TRUE(port->capabilities().pfc.tx == pfc);
    }
    card.keeps_pausing = true;  // and says that it does
    card.forwarding = Forwarding::reads_back;
    card.flow_control = {};
    card.flow_control.mode = RTE_ETH_FC_FULL;
    CHECK_TRUE(open()->capabilities().pfc.tx == PfcTx::hardware);
    card.keeps_pausing = false;
    card.driver = "net_igc";  // whose driver does not read it back
    card.forwarding = Forwarding::grants;
    CHECK_TRUE(open()->capabilities().pfc.tx == PfcTx::software);
    card.driver = "mlx5_pci";
    CHECK_TRUE(open()->capabilities().pfc.tx == PfcTx::none);
}

TEST(NicPort, findsNoPfcWhereTheCardHasNoFlowControlAtAll) {
    card.driver = "net_ice";
    card.fails = {{"rte_eth_dev_flow_ctrl_get", -ENOTSUP}, {"rte_eth_dev_flow_ctrl_set", -ENOTSUP}};
    for (const auto& [classes_of_card, pfc] :
         {std::pair{0xFF, PfcTx::none}, {0, PfcTx::none}, {8, PfcTx::hardware}}) {
        card.pfc_traffic_classes = static_cast<std::uint8_t>(classes_of_card);
        CHECK_TRUE(open()->capabilities().pfc.tx == pfc);
    }
}

TEST(NicPort, showsWhatTheCardCan) {
    card.module = std::vector<std::uint8_t>(256, 0);
    const auto port = open();
    const PortCapabilities& can = port->capabilities();
    STRCMP_EQUAL("net_ixgbe", can.driver.c_str());
    CHECK_FALSE(can.is_virtual);
    LONGS_EQUAL(9702, can.max_mtu);
    CHECK_TRUE(can.scattered_receive && can.multi_segment_transmit && can.module && can.tells_ring_fill);
    LONGS_EQUAL(64, can.receive_queues);
    LONGS_EQUAL(32, can.transmit_queues);
    LONGS_EQUAL(1, port->mac().bytes[5]);
}

// Frames and the ring.

TEST(NicPort, fallsBehindWhenBurstsAreFullAndHalfTheRingIs) {
    const auto port = open();
    std::array<Packet*, 32> burst{};
    const auto receive = [&] {
        const unsigned count = port->receive(burst, Time{7});
        for (unsigned n = 0; n < count; ++n) {
            LONGS_EQUAL(7, meta(burst[n]).arrival.ps);
            rte_pktmbuf_free(burst[n]);
        }
        return count;
    };
    const auto behind = [&] { return port->falls_behind(Time{}).value(); };
    arrive(2080);
    CHECK_FALSE(behind());  // nobody has looked yet
    LONGS_EQUAL(32, receive());
    LONGS_EQUAL(2048, card.arrived.size());
    CHECK_FALSE(behind());  // one frame short of the descriptor in the middle, which is the 2049th
    arrive(33);
    receive();
    CHECK_TRUE(behind());
    while (card.arrived.size() > 32) receive();
    CHECK_FALSE(behind());
    arrive(3000);
    receive();
    CHECK_TRUE(behind());
    while (receive() == 32) {
    }
    arrive(3000);
    CHECK_FALSE(behind());  // the last burst was not full, so the ring was empty
}

TEST(NicPort, saysNothingOfFallingBehindWhereTheCardDoesNotTell) {
    card.tells_ring_fill = false;
    const auto port = open();
    CHECK_FALSE(port->capabilities().tells_ring_fill);
    CHECK_FALSE(port->falls_behind(Time{}).has_value());
}

TEST(NicPort, leavesToTheCallerWhatTheCardDoesNotTake) {
    const auto port = open();
    arrive(4);
    std::array<Packet*, 4> burst{};
    LONGS_EQUAL(4, port->receive(burst, Time{}));
    card.takes = 3;
    LONGS_EQUAL(3, port->transmit(burst));
    LONGS_EQUAL(3, card.sent.size());
    rte_pktmbuf_free(burst[3]);
}

TEST(NicPort, countsWhatTheCardMissed) {
    const auto port = open();
    card.imissed = 5;
    card.ierrors = 2;
    LONGS_EQUAL(5, port->account().missed);
    LONGS_EQUAL(2, port->account().rx_errors);
    card.fails = {{"rte_eth_stats_get", -EIO}};
    card.imissed = 6;
    LONGS_EQUAL(5, port->account().missed);
    card.fails.clear();
    static_cast<void>(port->close());
    card.imissed = 9;
    LONGS_EQUAL(6, port->account().missed);
}

}  // namespace sluice::nic_port_test
