// Links that go wrong: faults of each kind and direction, cables that are cut with frames on them, and the
// account of what was lost, by place and reason.
#include <fmt/format.h>

#include <string>

#include "tests/fabric/checked_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::link_test {

using namespace sluice::fabric;

namespace {

constexpr Time at_us(std::int64_t us) { return Time{} + microseconds(us); }

// 50 KB messages over h1 > left > right > h2, and two the other way.
std::string dumbbell(const std::string& more = {}, unsigned messages = 20, unsigned depth = 4) {
    return fmt::format(R"(
[topology]
kind = "dumbbell"
hosts = 1
[routing]
detection = "20us"
convergence = "20us"
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[[flow]]
from = "h1"
to = "h2"
message = "50KB"
messages = {}
depth = {}
[[flow]]
from = "h2"
to = "h1"
message = "50KB"
messages = 2
)",
                       messages, depth) +
           more;
}

std::string event(const std::string& command, unsigned us = 5) {
    return fmt::format("[[event]]\nat = \"{}us\"\ndo = \"{}\"\n", us, command);
}

void check_all_delivered(CheckedFabric& run, unsigned messages = 20) {
    LONGS_EQUAL(50'000 * messages, run.delivered_bytes("h1", "h2"));
    LONGS_EQUAL(100'000, run.delivered_bytes("h2", "h1"));
}

std::uint64_t lost_at(CheckedFabric& run, const std::string& place, const std::string& reason) {
    const auto losses = run.fabric().losses();
    const auto found = losses.find(place);
    if (found == losses.end()) return 0;
    const auto of_reason = found->second.find(reason);
    return of_reason == found->second.end() ? 0 : of_reason->second;
}

const FaultCounters& faults_at(CheckedFabric& run, const std::string& device, const std::string& port) {
    FabricSwitch& of = run.at(device);
    return of.running->faults().at(of.ports->id_of(port))->faults();
}

}  // namespace

TEST_GROUP(FabricLink){};

TEST(FabricLink, AFaultOnALinkFreezesNothing) {
    for (const char* fault :
         {"delay 2us", "drop_every 100", "drop_chance 1%", "corrupt_chance 1%", "duplicate_chance 1%",
          "ber 1e-6", "pfc_delay 2us", "pfc_lose_every 2", "pfc_quanta 100", "tx_delay 1us",
          "tx_drop_every 90", "tx_ber 1e-6", "tx_corrupt_chance 1%", "tx_duplicate_chance 1%",
          "storm_classes [3]", "slow_receiver 50G", "stuck_xoff [0]", "overshoot 2KB"})
        for (const char* to : {"", "to right "}) {
            const std::string command = fmt::format("link left-right {}{}", to, fault);
            CheckedFabric run(dumbbell(event(command), 6), command);
            run.drain();
            check_all_delivered(run, 6);
        }
}

TEST(FabricLink, AFaultOnAHostsCableIsOfItsDirection) {
    for (const char* fault : {"delay 2us", "drop_every 20", "drop_chance 5%", "corrupt_chance 5%",
                              "duplicate_chance 5%", "ber 5e-6"})
        for (const char* to : {"", "to h2 ", "to right "}) {
            const std::string command = fmt::format("link h2-right {}{}", to, fault);
            CheckedFabric run(dumbbell(event(command), 6), command);
            run.drain();
            check_all_delivered(run, 6);
            const FaultCounters& faults = faults_at(run, "right", "h2");
            const auto sum = [](const FrameFaultCounters& way) {
                return way.dropped + way.bad_fcs + way.corrupted + way.duplicated + way.delayed;
            };
            CHECK_EQUAL_TEXT(std::string(to) != "to right ", sum(faults.sent) != 0, command.c_str());
            CHECK_EQUAL_TEXT(std::string(to) != "to h2 ", sum(faults.received) != 0, command.c_str());
        }
}

TEST(FabricLink, ClearingOneDirectionKeepsTheOther) {
    CheckedFabric run(dumbbell());
    run.command("link h2-right delay 2us");
    run.command("link h2-right to h2 clear");
    const auto& fault = run.at("right").running->config().ports.at("h2").fault;
    CHECK_TRUE(fault.sent.delay == Duration{} && fault.received.delay == microseconds(2));
    run.command("link h2-right to h2 delay 1us");
    run.command("link h2-right to right clear");
    CHECK_TRUE(fault.sent.delay == microseconds(1) && fault.received.delay == Duration{});
    run.command("link h2-right clear");
    CHECK_TRUE(fault == FaultSettings{});
    run.drain();
    check_all_delivered(run);
}

TEST(FabricLink, ADelayToOneEndIsTheRoundTripsAndNotTwice) {
    const auto end_of = [](const std::string& more) {
        CheckedFabric run(dumbbell(more));
        run.drain();
        return run.now();
    };
    const Time plain = end_of("");
    const Duration one = end_of(event("link left-right to right delay 40us", 0)) - plain;
    const Duration both = end_of(event("link left-right delay 40us", 0)) - plain;
    CHECK_TRUE(one >= microseconds(40));
    CHECK_TRUE(both >= one + microseconds(40));
    CHECK_TRUE(end_of(event("link h2-right to h2 delay 40us", 0)) - plain >= microseconds(40));
}

TEST(FabricLink, DropsAreCountedAtTheLinkAndBadFramesAtTheirReceiver) {
    CheckedFabric run(dumbbell(event("link left-right to right drop_every 50", 0) +
                               event("link h2-right to h2 ber 2e-6", 0) +
                               event("link h1-left to left ber 1e-6", 0)));
    run.drain();
    check_all_delivered(run);
    CHECK_TRUE(lost_at(run, "left-right", "fault_drop") >= 10);
    LONGS_EQUAL(faults_at(run, "right", "left").received.dropped, lost_at(run, "left-right", "fault_drop"));
    CHECK_TRUE(lost_at(run, "h2", "bad_fcs") > 0);
    CHECK_TRUE(lost_at(run, "left", "bad_fcs") > 0);
    LONGS_EQUAL(0, lost_at(run, "right", "bad_fcs"));
    std::uint64_t sum = 0;
    for (const auto& [place, reasons] : run.fabric().losses())
        for (const auto& [reason, frames] : reasons) sum += frames;
    LONGS_EQUAL(run.fabric().ledger().lost(), sum);
    CHECK_TRUE(run.lossless_lost() > 0);
}

TEST(FabricLink, ACutLosesWhatAFaultKeepsOnTheCable) {
    CheckedFabric run(dumbbell(event("link left-right delay 30us", 0) + event("link left-right down", 50) +
                                   event("link left-right up", 52),
                               20, 20));
    run.run_until(at_us(49));
    const FaultPort& fault = *run.at("right").running->faults().at(run.at("right").ports->id_of("left"));
    const std::size_t kept = fault.under_way();
    CHECK_TRUE(kept > 100);
    run.run_until(at_us(50));
    LONGS_EQUAL(0, fault.under_way());
    CHECK_TRUE(fault.faults().received.cut >= kept - 20 && fault.faults().received.cut > 0);
    CHECK_TRUE(fault.faults().lossless > 0);
    CHECK_TRUE(lost_at(run, "left-right", "cut_on_wire") >= fault.faults().received.cut);
    run.drain();
    check_all_delivered(run);
}

TEST(FabricLink, AHostsCableThatIsCutLosesWhatIsOnItBothWays) {
    CheckedFabric run(dumbbell("[[event]]\nat = \"60us\"\ndo = \"link h2-right down\"\n"
                               "[[event]]\nat = \"90us\"\ndo = \"link h2-right up\"\n") +
                      "");
    run.run_until(at_us(59));
    const std::size_t before = run.fabric().host(run.node("h2")).lost_on_wire();
    LONGS_EQUAL(0, before);
    run.run_until(at_us(61));
    CHECK_TRUE(run.fabric().host(run.node("h2")).lost_on_wire() > 0);
    CHECK_TRUE(lost_at(run, "h2-right", "cut_on_wire") > 0);
    run.drain();
    check_all_delivered(run);
    CHECK_TRUE(run.lossless_lost() > 0);
}

TEST(FabricLink, FramesOnTheWayToAHostAreUnderWayAndNotDelivered) {
    const std::string kind = "kind = \"dumbbell\"\n";
    std::string longer = dumbbell();
    longer.replace(longer.find(kind), kind.size(), kind + "host_cable = \"2km\"\n");
    const std::string size = "buffer.size = \"2MB\"";
    longer.replace(longer.find(size), size.size(), "buffer.size = \"8MB\"");
    CheckedFabric run(longer);
    run.run_until(at_us(15));
    const HostPort& host = run.fabric().host(run.node("h2"));
    // 10 us of cable at 100 Gb/s hold 125 KB.
    CHECK_TRUE(host.under_way(run.now()) > 20);
    const Fabric::Ledger ledger = run.fabric().ledger();
    CHECK_TRUE(ledger.on_wire >= host.under_way(run.now()));
    run.drain();
    check_all_delivered(run);
}

TEST(FabricLink, FramesThatASlowHostHasNoRoomForAreLostThere) {
    const std::string text =
        dumbbell("[host.h2]\ndrain = \"5G\"\n" + event("link h2-right to right drop_chance 100%", 0) +
                     event("link h2-right clear", 400),
                 60, 60);
    CheckedFabric run(text);
    run.run_until(at_us(400));
    const std::uint64_t overrun = run.fabric().host(run.node("h2")).overrun();
    CHECK_TRUE(overrun > 100);
    LONGS_EQUAL(overrun, lost_at(run, "h2", "overrun"));
    LONGS_EQUAL(overrun, run.fabric().ledger().overrun);
    LONGS_EQUAL(overrun, run.fabric().host(run.node("h2")).lossless_lost());
    run.drain();
    LONGS_EQUAL(3'000'000, run.delivered_bytes("h1", "h2"));
}

TEST(FabricLink, AFrameIsHandedOverWhenAllOfItHasArrived) {
    CheckedFabric run(R"(
[topology]
kind = "dumbbell"
hosts = 1
host_speed = "10G"
speed = "10G"
[switch.default]
buffer.size = "2MB"
[host.default]
mtu = 4096
[[flow]]
from = "h1"
to = "h2"
message = "4096B"
messages = 1
)");
    const LinkPort& end = *run.at("right").ports->link("left");
    // 3.3 us of frame after 0.2 us of cable.
    run.run_until(at_us(1));
    LONGS_EQUAL(1, end.under_way());
    run.run_until(at_us(4));
    LONGS_EQUAL(1, run.port("right", "left").counters.rx.packets.get());
    run.drain();
}

}  // namespace sluice::link_test
