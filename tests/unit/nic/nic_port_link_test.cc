// The link of an EthdevPort on a fake card, and a card that goes and comes back.
#include "dataplane/ports/ethdev_port.hh"

#include <array>
#include <cerrno>
#include <string>

#include "tests/unit/nic/on_cards.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::nic_port_link_test {

TEST_GROUP_BASE(NicPortLink, PortOnCard){};

// Links.

TEST(NicPortLink, asksTheDriverForTheLink) {
    const auto port = open();
    CHECK_TRUE(port->link_up());
    LONGS_EQUAL(100'000, port->link_mbps());
    card.set_link(false);
    port->poll_link();
    CHECK_FALSE(port->link_up());
    LONGS_EQUAL(0, port->link_mbps());
    card.set_link(true, 25'000);
    port->poll_link();
    CHECK_TRUE(port->link_up());
    LONGS_EQUAL(25'000, port->link_mbps());
    card.set_link(true, RTE_ETH_SPEED_NUM_UNKNOWN);
    port->poll_link();
    LONGS_EQUAL(0, port->link_mbps());
}

TEST(NicPortLink, seesALinkWhoseInterruptNeverComes) {
    card.link_interrupt_comes = false;
    card.link.link_status = 0;
    const auto port = open();
    CHECK_FALSE(port->link_up());
    card.set_link(true);
    port->poll_link();
    CHECK_TRUE(port->link_up());
    card.set_link(false);
    port->poll_link();
    CHECK_FALSE(port->link_up());
    LONGS_EQUAL(static_cast<int>(LinkCause::no_link), static_cast<int>(port->link_cause()));
}

TEST(NicPortLink, keepsTheLinkWhereTheDriverDoesNotAnswer) {
    const auto port = open();
    card.set_link(false);
    port->poll_link();
    card.fails = {{"rte_eth_link_get_nowait", -EIO}};
    card.set_link(true);
    port->poll_link();
    CHECK_FALSE(port->link_up());  // nothing new is nothing
}

TEST(NicPortLink, startsDownWithoutACable) {
    card.link.link_status = 0;
    CHECK_FALSE(open()->link_up());
}

// Cards that go and come back.

TEST(NicPortLink, goesDownWhenTheCardGoesAndAsksItNothingMore) {
    card.flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
    card.xstats = {{"rx_crc_errors", 1}};
    const auto port = open();
    card.imissed = 3;
    LONGS_EQUAL(3, port->account().missed);
    card.pull();
    CHECK_TRUE(port->is_removed());
    CHECK_FALSE(port->link_up());
    const std::size_t before = card.calls.size();
    LONGS_EQUAL(3, port->account().missed);
    CHECK_TRUE(port->read_physical(true).empty());
    LONGS_EQUAL(before, card.calls.size());
    card.removed = false;  // a last interrupt says that the link is up
    card.set_link(true);
    CHECK_FALSE(port->link_up());
    port->poll_link();
    CHECK_FALSE(port->link_up());
}

TEST(NicPortLink, goesDownWhenTheKernelAsksForTheCard) {
    const auto port = open();
    card.request();
    CHECK_TRUE(port->is_removed());
    CHECK_FALSE(port->link_up());
}

TEST(NicPortLink, isReleasedOnceAndGivesBackItsFrames) {
    card.flags = RTE_ETH_DEV_INTR_RMV;
    const auto port = open();
    arrive(2500);
    std::array<Packet*, 32> burst{};
    LONGS_EQUAL(32, port->receive(burst, Time{}));
    CHECK_TRUE(port->falls_behind(Time{}).value());
    for (Packet* packet : burst) rte_pktmbuf_free(packet);
    card.pull();
    CHECK_FALSE(port->has_returned());
    port->release();
    CHECK_FALSE(port->is_open());
    LONGS_EQUAL(0, pool.in_use());
    LONGS_EQUAL(1, card.count("rte_eth_dev_close"));
    LONGS_EQUAL(1, card.count("rte_dev_remove"));
    CHECK_TRUE(card.callbacks.empty());
    CHECK_TRUE(card.device_callbacks.empty());
    port->release();
    LONGS_EQUAL(1, card.count("rte_eth_dev_close"));
    CHECK_FALSE(port->has_returned());
    CHECK_FALSE(port->falls_behind(Time{}).value());  // asks no device
}

TEST(NicPortLink, isTakenAgainWhenTheCardIsBack) {
    card.flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
    const auto port = open();
    const std::uint16_t first = card.id;
    card.imissed = 4;
    LONGS_EQUAL(4, port->account().missed);
    card.pull();
    port->release();
    machine.replug(address);
    CHECK_TRUE(port->has_returned());
    machine.bind(address, "ixgbe");
    CHECK_FALSE(port->has_returned());  // the kernel's driver was quicker
    machine.bind(address, "vfio-pci");
    card.imissed = 2;
    STRCMP_EQUAL("", port->reopen().c_str());
    CHECK_TRUE(card.id != first);
    LONGS_EQUAL(4 + 2, port->account().missed);  // of both times
    CHECK_TRUE(port->link_up() && port->is_open() && !port->is_removed());
    CHECK_FALSE(port->has_returned());
    arrive(1);
    std::array<Packet*, 32> burst{};
    LONGS_EQUAL(1, port->receive(burst, Time{}));
    rte_pktmbuf_free(burst[0]);
    card.pull();  // and again
    CHECK_FALSE(port->link_up());
}

TEST(NicPortLink, staysDownWhenTheCardThatIsBackDoesNotStart) {
    card.flags = RTE_ETH_DEV_INTR_RMV;
    const auto port = open();
    card.pull();
    port->release();
    machine.replug(address);
    for (const char* function : {"rte_dev_probe", "rte_eth_dev_get_port_by_name", "rte_eth_dev_configure",
                                 "rte_eth_dev_start", "rte_eth_dev_info_get"}) {
        card.fails = {{function, -EIO}};
        STRCMP_CONTAINS_TEXT("device \"03:00.0\": ", port->reopen().c_str(), function);
        CHECK_FALSE(port->link_up());
        CHECK_FALSE(port->is_open());
        CHECK_TRUE(card.callbacks.empty());
    }
    card.fails.clear();
    card.probed = false;
    STRCMP_EQUAL("", port->reopen().c_str());
    CHECK_TRUE(port->link_up());
}

TEST(NicPortLink, readsItsCountersAndNowAndThenItsModule) {
    card.xstats = {{"rx_crc_errors", 3}};
    card.module = std::vector<std::uint8_t>(256, 0);
    card.module[0] = 0x11;
    card.module[22] = 50;
    const auto port = open();
    CHECK_TRUE(port->physical().empty());
    LONGS_EQUAL(3, port->read_physical(false).get(Physical::crc_errors).value_or(0));
    LONGS_EQUAL(0, card.count("rte_eth_dev_get_module_eeprom"));
    LONGS_EQUAL(50'000, port->read_physical(true).module_temperature.value_or(0));
}

}  // namespace sluice::nic_port_link_test
