// Switches, hosts and cables under one clock: nothing is lost without a fault, and every frame is accounted
// for with one.
#include <fmt/format.h>

#include "tests/fabric/checked_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fabric_test {

using namespace sluice::fabric;

namespace {

constexpr Time at_us(std::int64_t us) { return Time{} + microseconds(us); }

// Four to one over the spines, and a flow beside it.
std::string incast(const std::string& more = {}) {
    return R"(
[topology]
kind = "leaf-spine"
leaves = 3
spines = 2
hosts = 2
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[[flow]]
from = ["h1", "h2", "h3", "h4"]
to = "h6"
message = "60KB"
messages = 20
depth = 8
[[flow]]
from = "h1"
to = "h5"
message = "60KB"
messages = 20
depth = 8
)" + more;
}

}  // namespace

TEST_GROUP(Fabric){};

TEST(Fabric, AnIncastOverSpinesLosesNothingAndIsPausedHopByHop) {
    CheckedFabric run(incast());
    run.drain();
    LONGS_EQUAL(0, run.fabric().ledger().dropped);
    for (const char* from : {"h1", "h2", "h3", "h4"}) LONGS_EQUAL(1'200'000, run.delivered_bytes(from, "h6"));
    LONGS_EQUAL(1'200'000, run.delivered_bytes("h1", "h5"));
    CHECK_TRUE(run.port("leaf3", "spine1").generator.counters(3).tx_xoff.get() > 0);
    CHECK_TRUE(run.port("spine1", "leaf1").generator.counters(3).tx_xoff.get() > 0);
    LONGS_EQUAL(0, run.lossless_lost());
}

TEST(Fabric, TwoRunsAndAnyNumberOfWorkersGiveTheSameBytes) {
    const auto digest_of = [](unsigned workers) {
        CheckedFabric run(incast(
            fmt::format("[switch.leaf1]\nworkers = {}\n[switch.leaf3]\nworkers = {}\n", workers, workers)));
        run.drain();
        return run.digest();
    };
    const std::uint64_t one = digest_of(1);
    CHECK_TRUE(one == digest_of(1));
    CHECK_TRUE(one == digest_of(3));
}

TEST(Fabric, ACutCableLosesWhatIsOnItAndRoutesFollow) {
    CheckedFabric run(incast(R"(
[routing]
detection = "20us"
convergence = "30us"
[[event]]
at = "30us"
do = "link leaf1-spine1 down"
)"));
    run.run_until(at_us(29));
    LONGS_EQUAL(0, run.fabric().ledger().lost_into_cut);
    run.run_until(at_us(49));
    CHECK_TRUE(run.at("leaf1").ports->link("spine1")->link_up());
    run.run_until(at_us(51));
    CHECK_FALSE(run.at("leaf1").ports->link("spine1")->link_up());
    CHECK_FALSE(run.at("spine1").ports->link("leaf1")->link_up());
    const std::uint64_t into_cut = run.fabric().ledger().lost_into_cut;
    CHECK_TRUE(into_cut > 0);
    const LinkId other = run.link("leaf1-spine2");
    LONGS_EQUAL(2, run.at("leaf1").running->config().routes->size());
    run.run_until(at_us(200));
    for (const RouteConfig& route : *run.at("leaf1").running->config().routes) {
        LONGS_EQUAL(1, route.via.size());
        CHECK_TRUE(route.via[0].address == run.fabric().plan().addresses.address(other, 1));
    }
    run.drain();
    LONGS_EQUAL(into_cut, run.fabric().ledger().lost_into_cut);
    CHECK_TRUE(run.lossless_lost() > 0);
    // Retransmission has brought everything over.
    for (const char* from : {"h1", "h2", "h3", "h4"}) LONGS_EQUAL(1'200'000, run.delivered_bytes(from, "h6"));
}

TEST(Fabric, ASwitchWithoutPowerLosesWhatItHoldsAndComesBack) {
    CheckedFabric run(incast(R"(
[routing]
detection = "10us"
convergence = "10us"
[[event]]
at = "30us"
do = "switch spine1 down"
[[event]]
at = "300us"
do = "switch spine1 up"
)"));
    run.run_until(at_us(299));
    LONGS_EQUAL(0, run.at("spine1").running->device().ledger().queued);
    const std::uint64_t before = run.port("leaf1", "spine1").counters.tx.packets.get();
    CHECK_TRUE(run.at("spine1").running->device().ledger().dropped > 0);
    LONGS_EQUAL(
        run.at("spine1").running->device().ledger().dropped, run.dropped(DropReason::link_down) - [&] {
            std::uint64_t others = 0;
            for (const char* leaf : {"leaf1", "leaf2", "leaf3"})
                others += run.at(leaf).running->device().ledger().dropped;
            return others;
        }());
    run.drain();
    for (const char* from : {"h1", "h2", "h3", "h4"}) LONGS_EQUAL(1'200'000, run.delivered_bytes(from, "h6"));
    CHECK_TRUE(run.port("leaf1", "spine1").counters.tx.packets.get() > before);
    CHECK_TRUE(run.at("leaf1").ports->link("spine1")->link_up());
}

TEST(Fabric, AFlapThatIsShorterThanDetectionIsSeenByNobodyAndLosesFrames) {
    CheckedFabric run(incast(R"(
[routing]
detection = "20us"
[[event]]
at = "30us"
do = "link leaf1-spine1 down"
[[event]]
at = "40us"
do = "link leaf1-spine1 up"
)"));
    run.drain();
    CHECK_TRUE(run.fabric().ledger().lost_into_cut > 0);
    LONGS_EQUAL(2, run.fabric().events().size());
    for (const char* from : {"h1", "h2", "h3", "h4"}) LONGS_EQUAL(1'200'000, run.delivered_bytes(from, "h6"));
}

}  // namespace sluice::fabric_test
