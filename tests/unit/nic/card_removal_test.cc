// A whole switch on two fake cards, of which one is pulled and comes back.

#include <cerrno>
#include <string>

#include "tests/unit/nic/one_worker.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::card_removal_test {

TEST_GROUP_BASE(CardRemoval, OneWorker){};

TEST(CardRemoval, goesOnWhenACardIsPulledAndTakesItAgain) {
    starts();
    p1.takes = 0;  // what p1 is to send stays in its queue
    arrive(p0, 50);
    for (unsigned n = 0; n < 3; ++n) worker_turn(0);
    p1.pull();
    arrive(p0, 5);
    for (unsigned n = 0; n < 3; ++n) alone->devices()->poll_links(now);  // its owner has not seen it yet
    LONGS_EQUAL(0, p1.count("rte_eth_dev_close"));
    LONGS_EQUAL(1, events("device_gone").size());
    STRCMP_EQUAL("port p1: its card is gone; it is taken again when it is back",
                 events("device_gone")[0].c_str());
    worker_turn(0);
    CHECK_TRUE(running->device().ledger().balanced());
    LONGS_EQUAL(0, running->device().ledger().queued);
    LONGS_EQUAL(0, report("p0")["priority_groups"][3]["reserved_bytes"].get<int>());
    for (unsigned n = 0; n < 5; ++n) round();
    LONGS_EQUAL(1, p1.count("rte_eth_dev_close"));
    LONGS_EQUAL(0, p1.polls_when_gone.load());
    LONGS_EQUAL(1, report("p1")["flaps"].get<int>());
    CHECK_FALSE(report("p1")["link_up"].get<bool>());
    const auto drops = report("p0")["drops"];
    LONGS_EQUAL(55,
                drops["link_down"].get<int>() + drops.value("no_route", 0) + drops.value("no_next_hop", 0));

    // The other port goes on: what comes in on it is received and accounted for.
    arrive(p0, 5);
    round();
    LONGS_EQUAL(60, report("p0")["rx"]["packets"].get<int>());

    const auto probes = p1.count("rte_dev_probe");
    for (unsigned n = 0; n < 100; ++n) round();
    LONGS_EQUAL(probes, p1.count("rte_dev_probe"));  // nothing is asked of an empty slot
    machine.replug("0000:04:00.0");
    p1.takes = 0xFFFF;
    for (unsigned n = 0; n < 70; ++n) round();
    LONGS_EQUAL(probes + 1, p1.count("rte_dev_probe"));
    LONGS_EQUAL(1, events("device_back").size());
    CHECK_TRUE(report("p1")["link_up"].get<bool>());
    arrive(p0, 7);
    round();
    LONGS_EQUAL(7, p1.sent.size());
    p1.pull();  // and once more
    for (unsigned n = 0; n < 3; ++n) round();
    LONGS_EQUAL(2, events("device_gone").size());
    LONGS_EQUAL(0, p1.polls_when_gone.load());
}

TEST(CardRemoval, letsGoOfACardAtTheSecondLookAtTheEarliest) {
    starts();
    worker_turn(0);
    p1.pull();
    worker_turn(0);  // its owner has seen it
    alone->devices()->poll_links(now);
    LONGS_EQUAL(0, p1.count("rte_eth_dev_close"));
    alone->devices()->poll_links(now);
    LONGS_EQUAL(1, p1.count("rte_eth_dev_close"));
}

TEST(CardRemoval, asksNothingOfACardThatIsPulledWhileItFallsBehind) {
    starts();
    arrive(p0, 1000);
    worker_turn(0);
    LONGS_EQUAL(1, report("p0")["fell_behind"].get<int>());
    p0.pull();
    for (unsigned n = 0; n < 3; ++n) worker_turn(0);
    LONGS_EQUAL(0, p0.polls_when_gone.load());
    CHECK_FALSE(report("p0")["priority_groups"][3]["xoff"].get<bool>());
}

TEST(CardRemoval, saysOnceWhyACardThatIsBackIsNotTaken) {
    starts();
    round();
    p1.pull();
    for (unsigned n = 0; n < 3; ++n) round();
    machine.replug("0000:04:00.0");
    machine.bind("0000:04:00.0", "ixgbe");  // not ours, yet
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    LONGS_EQUAL(0, events("device_refused").size());
    machine.bind("0000:04:00.0", "vfio-pci");
    p1.fails = {{"rte_eth_dev_start", -EIO}};
    const auto starts_before = p1.count("rte_eth_dev_start");
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    LONGS_EQUAL(starts_before + 3, p1.count("rte_eth_dev_start"));
    for (unsigned n = 0; n < 30; ++n) round();  // half a second
    LONGS_EQUAL(starts_before + 3, p1.count("rte_eth_dev_start"));
    LONGS_EQUAL(1, events("device_refused").size());
    STRCMP_CONTAINS("port p1: device \"0000:04:00.0\": it does not start: Input/output error",
                    events("device_refused")[0].c_str());
    p1.fails.clear();
    p1.forwarding = fake::Forwarding::refuses;
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    LONGS_EQUAL(2, events("device_refused").size());
    STRCMP_CONTAINS("another card is there: the driver net_ixgbe does not hand MAC control frames over",
                    events("device_refused")[1].c_str());
    CHECK_FALSE(running->device().link_up(1));
    p1.forwarding = fake::Forwarding::reads_back;
    round(seconds(1));
    round();
    CHECK_TRUE(running->device().link_up(1));
    LONGS_EQUAL(1, events("device_back").size());
}

TEST(CardRemoval, endsWithACardMissing) {
    starts();
    arrive(p0, 3);
    round();
    p0.pull();
    round();
    round();
    p1.pull();  // which nobody has looked at yet
}

}  // namespace sluice::card_removal_test
