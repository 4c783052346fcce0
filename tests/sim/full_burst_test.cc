// A full burst for a port where nothing waits leaves before the next port is looked at, as it does under the
// real clock (dataplane/run/worker.hh); how many workers there are changes nothing.
#include <cstdint>
#include <vector>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::full_burst_test {

using namespace sluice::sim;

namespace {

constexpr PortId out = 3;

// p0 and p1 take so many frames of one cell at one instant, all for p3, where a frame of another class may
// wait in a queue that is held. Most that p3's queue held at a time; the digest of the run is the same for
// any number of workers.
std::uint32_t deepest_of(unsigned frames, bool one_waits) {
    std::uint64_t digest = 0;
    std::uint32_t deepest = 0;
    for (const unsigned workers : {1U, 2U, 4U}) {
        Config config = sim_config(4, gigabits(400));
        config.workers = workers;
        config.virtual_turn = nanoseconds(200);
        SimSwitch sim(config);
        Flow flow;
        flow.to = out;
        if (one_waits) {
            Flow other = flow;
            other.dscp = other.priority = 0;
            sim.hold(out, 0, true);
            sim.port(2).inject(Time{} + nanoseconds(200), other, {60});
        }
        for (const PortId from : {PortId{0}, PortId{1}})
            sim.port(from).inject(Time{} + nanoseconds(400), flow, std::vector<std::uint32_t>(frames, 60));
        sim.run_until(Time{} + microseconds(1));
        sim.hold(out, 0, false);
        sim.drain(Time{} + milliseconds(1));
        LONGS_EQUAL(2 * frames + (one_waits ? 1 : 0), sim.port(out).departed());
        if (workers == 1) digest = sim.digest();
        CHECK_TRUE(digest == sim.digest());
        deepest = sim.device().port(out).queue[lossless].use.deepest_cells();
    }
    return deepest;
}

}  // namespace

TEST_GROUP(FullBurst){};

TEST(FullBurst, leavesBeforeTheNextPortIsTaken) { LONGS_EQUAL(burst_size, deepest_of(burst_size, false)); }

TEST(FullBurst, waitsForAllPortsWhereItIsNotFull) {
    LONGS_EQUAL(2 * (burst_size - 1), deepest_of(burst_size - 1, false));
}

TEST(FullBurst, waitsForAllPortsWhereSomethingIsQueued) {
    LONGS_EQUAL(2 * burst_size, deepest_of(burst_size, true));
}

}  // namespace sluice::full_burst_test
