// Changes while lossless traffic runs: nothing is lost, nothing is promised twice, nobody stays paused.
#include <cstdint>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

using namespace sluice;
using namespace sluice::sim;

namespace {

constexpr ClassId lossless = 3;

Flow flow_to(PortId to) {
    Flow flow;
    flow.to = to;
    flow.size = [](Time) { return 1514U; };
    return flow;
}

}  // namespace

TEST_GROUP(Change){};

// Thresholds, reserved parts, offsets and the pools themselves, back and forth, under an incast.
TEST(Change, ofLimitsUnderTrafficLosesNothing) {
    Config wide = sim_config(4, gigabits(100), 40, 1500);
    wide.buffer_size_bytes = 4'000'000;
    wide.pools["lossless"] = {PoolDirection::ingress, 3'000'000, 0};
    wide.pools["lossy"] = {PoolDirection::ingress, 500'000, 0};
    Config narrow = wide;
    narrow.pools["lossless"].size_bytes = 2'000'000;
    narrow.pools["lossy"].size_bytes = 1'500'000;
    for (auto& [name, port] : narrow.ports) {
        port.priority_group[lossless].dynamic_th = -3;
        port.priority_group[lossless].size_bytes = 12'000;
        port.priority_group[lossless].xon_offset_bytes = 20'000;
        port.queue[lossless].weight = 9;
    }
    SimSwitch sim(wide);
    for (PortId id = 0; id < 3; ++id) sim.add(id, flow_to(3));
    unsigned pending = 0;
    for (unsigned i = 0; i < 40; ++i) {
        sim.run_until(sim.now() + nanoseconds(20'011));
        CHECK(sim.apply(i % 2 == 0 ? narrow : wide));
        pending += sim.change_pending() ? 1 : 0;
    }
    CHECK(pending > 0);
    CHECK(sim.device().port(0).counters.group[lossless].xoff.get() > 1);
    for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
    sim.drain(sim.now() + milliseconds(20));
    CHECK_FALSE(sim.change_pending());
    LONGS_EQUAL(0, sim.dropped());
}

// mechanisms section 2: XON for whatever we hold paused when a port goes down, behind the frame under way.
TEST(Change, aPortThatIsTakenDownResumesItsPeer) {
    Config config = sim_config(3, gigabits(100), 5, 1500);
    config.buffer_size_bytes = 4'000'000;
    SimSwitch sim(config);
    sim.hold(1, lossless, true);
    sim.add(0, flow_to(1));
    sim.add(2, flow_to(0));  // p0's transmitter is busy
    sim.run_until(Time{} + microseconds(400));
    CHECK(sim.group(0, lossless).in_xoff());
    const std::size_t sent = sim.port(0).pauses().size();
    sim.set_port(0, false);
    sim.run_until(sim.now() + microseconds(1));
    LONGS_EQUAL(sent + 1, sim.port(0).pauses().size());
    LONGS_EQUAL(1U << lossless, sim.port(0).pauses()[sent].map.class_enable);
    LONGS_EQUAL(0, sim.port(0).pauses()[sent].map.quanta[lossless]);
    // Up again with the group still over: it says so again.
    sim.set_port(0, true);
    sim.run_until(sim.now() + microseconds(1));
    LONGS_EQUAL(sent + 2, sim.port(0).pauses().size());
    for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(20));
}
