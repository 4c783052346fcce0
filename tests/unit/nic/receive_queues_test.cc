// Several receive queues of one port: the card's settings for them.
#include <array>
#include <cerrno>
#include <cstdint>

#include "tests/unit/nic/on_cards.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::receive_queues_test {
namespace {

class FourQueues : public PortOnCard {
  public:
    void setup() override { spec.nic.receive_queues = 4; }
};

}  // namespace

TEST_GROUP_BASE(ReceiveQueues, FourQueues){};

// Refusals.

TEST(ReceiveQueues, areRefusedBeyondWhatTheCardHas) {
    card.max_rx_queues = 3;
    STRCMP_EQUAL("device \"03:00.0\": it has 3 receive queues; do: set rx_queues to at most 3",
                 refused().c_str());
    CHECK_FALSE(card.configured);
    card.max_rx_queues = 1;
    STRCMP_CONTAINS(": it has 1 receive queue; do: set rx_queues to at most 1", refused().c_str());
    card.max_rx_queues = 4;
    STRCMP_EQUAL("", refused().c_str());
}

TEST(ReceiveQueues, areRefusedWhereNothingKeepsAFlowOnOne) {
    card.rss = RTE_ETH_RSS_L2_PAYLOAD;
    STRCMP_CONTAINS(": it has no hash by which a flow stays on one receive queue; do: set rx_queues to 1",
                    refused().c_str());
    spec.nic.receive_queues = 1;
    STRCMP_EQUAL("", refused().c_str());
}

TEST(ReceiveQueues, areRefusedWithTheStepThatFails) {
    card.fails = {{"rte_eth_dev_rss_reta_update", -EIO}};
    STRCMP_CONTAINS("it takes no table of its receive queues: Input/output error", refused().c_str());
    card.fails = {{"rte_eth_rx_queue_setup", -EIO}};
    STRCMP_CONTAINS("it takes no receive ring: Input/output error", refused().c_str());
}

// The settings that a card gets.

TEST(ReceiveQueues, areSpreadByAHashOfWhatTheCardKnows) {
    const auto port = open();
    LONGS_EQUAL(4, card.rx_queues);
    LONGS_EQUAL(4, card.rx_queues_set);
    LONGS_EQUAL(RTE_ETH_MQ_RX_RSS, card.conf.rxmode.mq_mode);
    CHECK_TRUE(card.conf.rx_adv_conf.rss_conf.rss_hf == (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP));
    STRCMP_EQUAL("4 queues by RSS of ip, udp, tcp", port->capabilities().receive_spread.c_str());
    card.rss = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
    STRCMP_EQUAL("4 queues by RSS of ip, udp", open()->capabilities().receive_spread.c_str());
    CHECK_TRUE(card.conf.rx_adv_conf.rss_conf.rss_hf == card.rss);
}

TEST(ReceiveQueues, haveASymmetricKeyOfTheLengthThatTheCardWants) {
    for (const std::uint8_t bytes : {std::uint8_t{40}, std::uint8_t{52}}) {
        card.key_bytes = bytes;
        static_cast<void>(open());
        LONGS_EQUAL(bytes, card.rss_key.size());
        for (std::size_t n = 0; n < card.rss_key.size(); ++n)
            LONGS_EQUAL(n % 2 == 0 ? 0x6D : 0x5A, card.rss_key[n]);
    }
    card.key_bytes = 0;  // its own
    static_cast<void>(open());
    LONGS_EQUAL(0, card.rss_key.size());
}

TEST(ReceiveQueues, haveTheirShareOfTheTable) {
    spec.nic.receive_queues = 3;
    for (const std::uint16_t size : {std::uint16_t{128}, std::uint16_t{512}, std::uint16_t{40}}) {
        card.table_size = size;
        static_cast<void>(open());
        LONGS_EQUAL(size, card.table.size());
        for (std::size_t n = 0; n < size; ++n) LONGS_EQUAL(n % 3, card.table[n]);
    }
    card.table_size = 0;
    card.calls.clear();
    static_cast<void>(open());
    LONGS_EQUAL(0, card.count("rte_eth_dev_rss_reta_update"));
    card.table_size = 128;
    card.fails = {{"rte_eth_dev_rss_reta_update", -ENOTSUP}};  // the driver has filled it
    STRCMP_EQUAL("", refused().c_str());
}

TEST(ReceiveQueues, areNotSpreadOverOne) {
    spec.nic.receive_queues = 1;
    const auto port = open();
    LONGS_EQUAL(RTE_ETH_MQ_RX_NONE, card.conf.rxmode.mq_mode);
    LONGS_EQUAL(0, card.conf.rx_adv_conf.rss_conf.rss_hf);
    LONGS_EQUAL(0, card.count("rte_eth_dev_rss_reta_update"));
    STRCMP_EQUAL("1 queue", port->capabilities().receive_spread.c_str());
}

TEST(ReceiveQueues, areReceivedFromAndFallBehindEachByItself) {
    const auto port = open();
    arrive(3000, 2);
    std::array<Packet*, 32> burst{};
    for (const std::uint16_t queue : {std::uint16_t{1}, std::uint16_t{3}}) {
        LONGS_EQUAL(0, port->receive_from(queue, burst, Time{7}));
        CHECK_FALSE(port->queue_falls_behind(queue).value());
    }
    LONGS_EQUAL(0, port->receive(burst, Time{7}));
    LONGS_EQUAL(32, port->receive_from(2, burst, Time{7}));
    LONGS_EQUAL(7, meta(burst[31]).arrival.ps);
    for (Packet* packet : burst) rte_pktmbuf_free(packet);
    LONGS_EQUAL(0, port->receive_from(1, burst, Time{8}));
    CHECK_TRUE(port->queue_falls_behind(2).value());
    CHECK_FALSE(port->queue_falls_behind(1).value());
    CHECK_FALSE(port->falls_behind(Time{}).value());
}

}  // namespace sluice::receive_queues_test
