// The effect of one class on another, each with its neighbor at that neighbor's own limit.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::isolation_test {

using namespace sluice::sim;

namespace {

Flow flow_of(std::uint8_t dscp, ClassId priority, PortId to, std::uint32_t bytes = 1514) {
    Flow flow;
    flow.dscp = dscp;
    flow.priority = priority;
    flow.to = to;
    flow.size = [bytes](Time) { return bytes; };
    return flow;
}
Flow lossy_to(PortId to) { return flow_of(0, 0, to); }
Flow lossless_to(PortId to) { return flow_of(26, 3, to); }

std::uint64_t pauses(SimSwitch& sim) {
    std::uint64_t sum = 0;
    for (PortId id = 0; id < sim.device().port_count(); ++id) sum += sim.port(id).pauses().size();
    return sum;
}

// Frames that a port carries back to back in `span`.
std::uint64_t line_rate_frames(Rate speed, std::uint32_t bytes, Duration span) {
    return static_cast<std::uint64_t>(span.ps / (speed.byte_time().ps * wire_bytes(bytes)));
}

void stop_all(SimSwitch& sim) {
    for (PortId id = 0; id < sim.device().port_count(); ++id) sim.port(id).stop_flows();
}

}  // namespace

TEST_GROUP(Isolation){};

// Pools of their own: lossy traffic at the limit of its pool, four to one, and RoCE beside it.
TEST(Isolation, lossyLoadNeverPausesALosslessClass) {
    Config config = sim_config(6, gigabits(100), 40, 1500);
    config.buffer_size_bytes = 4'000'000;
    SimSwitch sim(config);
    for (PortId id = 0; id < 4; ++id) sim.add(id, lossy_to(5));
    Flow roce = lossless_to(5);
    roce.interval =
        gigabits(100).byte_time() * (5 * wire_bytes(1514));  // 40 % of the link: less than its half
    sim.add(4, roce);
    sim.add(0, roce);  // on the same wire as lossy load, too
    sim.run_until(Time{} + microseconds(800));
    CHECK(sim.dropped(DropReason::ingress_limit) + sim.dropped(DropReason::queue_limit) > 1000);
    LONGS_EQUAL(0, pauses(sim));
    stop_all(sim);
    sim.drain(Time{} + milliseconds(10));
    LONGS_EQUAL(sim.port(4).started(0), sim.port(5).departed(4, 0));
    LONGS_EQUAL(sim.port(0).started(1), sim.port(5).departed(0, 1));
    for (PortId id = 0; id < 6; ++id)
        LONGS_EQUAL(0, sim.device().dropped_lossless(id, DropReason::headroom_overrun));
}

// A blocked lossless class with all its senders paused: lossy traffic of the same ports keeps its full rate.
TEST(Isolation, aLosslessStormLeavesLossyTrafficAtFullRate) {
    Config config = sim_config(5, gigabits(100), 5, 1500);
    config.buffer_size_bytes = 4'000'000;
    SimSwitch sim(config);
    sim.hold(3, 3, true);
    for (PortId id = 0; id < 3; ++id) sim.add(id, lossless_to(3));
    sim.run_until(Time{} + microseconds(400));
    for (PortId id = 0; id < 3; ++id) CHECK(sim.group(id, 3).in_xoff());
    sim.add(0, lossy_to(4));
    const Time start = sim.now();
    const Duration span = microseconds(500);
    const std::uint64_t before = sim.port(4).departed();
    sim.run_until(start + span);
    const std::uint64_t sent = sim.port(4).departed() - before;
    CHECK(sent + 2 >= line_rate_frames(gigabits(100), 1514, span));
    LONGS_EQUAL(0, sim.dropped());
    stop_all(sim);
    sim.hold(3, 3, false);
    sim.drain(sim.now() + milliseconds(20));
    LONGS_EQUAL(0, sim.dropped());
}

// A common pool (SONiC's): the use below which a group is never paused, with any load of the others and in
// any order they came. The figure of mechanisms section 3, size + alpha S / (1 + sum of alphas), holds when
// the users settle together. The last one, when each of the others has filled up to its own limit in the pool
// as it found it, gets size + alpha S / product(1 + alpha_i): the test asserts this.
TEST(Isolation, aCommonPoolKeepsItsPromise) {
    for (const int others : {0, 1, 3}) {
        Config config = sim_config(6, gigabits(100), 5, 1500);
        for (auto& [name, port] : config.ports) {
            port.qos = "sonic-t0";
            for (unsigned n = 0; n < classes; ++n) {
                port.priority_group[n].dynamic_th = n == 3 || n == 4 ? 0 : others;
                port.queue[n].static_bytes = 0;  // ingress alone decides
            }
        }
        config.buffer_size_bytes = 8'000'000;
        SimSwitch sim(config, fmt::format("alpha 2^{} beside", others));
        for (unsigned n = 0; n < classes; ++n) sim.hold(5, static_cast<ClassId>(n), true);
        // Three neighbors at their limits: two lossy, then a lossless one that is paused.
        sim.add(0, flow_of(0, 0, 5));
        sim.add(1, flow_of(0, 0, 5));
        sim.run_until(Time{} + microseconds(900));
        sim.add(2, flow_of(4, 4, 5));
        sim.run_until(Time{} + microseconds(1800));
        CHECK(sim.dropped(DropReason::ingress_limit) > 0);
        CHECK(sim.group(2, 4).in_xoff());
        const GroupLimits& limits = sim.limits(3, 3);
        const std::int64_t size = sim.pool_of(3, 3).shared_cells;
        const std::int64_t product = (1LL + (1LL << others)) * (1LL + (1LL << others)) * 2 * 2;
        const std::int64_t promised = limits.reserved_cells / 6 + size / product / 6;  // packets of 6 cells
        Flow late = flow_of(3, 3, 5);
        late.frames = static_cast<std::uint64_t>(promised);
        sim.add(3, late);
        sim.run_until(sim.now() + microseconds(900));
        LONGS_EQUAL(promised, sim.device().port(3).counters.group_rx[3].packets.get());
        LONGS_EQUAL(0, sim.port(3).pauses().size());
        LONGS_EQUAL(0, sim.device().port(3).counters.group[3].xoff.get());
        stop_all(sim);
        for (unsigned n = 0; n < classes; ++n) sim.hold(5, static_cast<ClassId>(n), false);
        sim.drain(sim.now() + milliseconds(20));
        LONGS_EQUAL(0, sim.dropped(DropReason::headroom_overrun));
    }
}

// A lossless class is blocked, the other of the same ports runs at full rate.
TEST(Isolation, twoLosslessClassesDoNotPauseEachOther) {
    Config config = sim_config(3, gigabits(100), 5, 1500);
    config.buffer_size_bytes = 4'000'000;
    config.maps["default"].dscp_to_tc[34] = 4;
    for (auto& [name, port] : config.ports) port.pfc = {3, 4};
    SimSwitch sim(config);
    sim.hold(2, 4, true);
    sim.add(0, flow_of(34, 4, 2));
    sim.run_until(Time{} + microseconds(400));
    CHECK(sim.group(0, 4).in_xoff());
    sim.add(0, lossless_to(2));
    const std::uint64_t before = sim.port(2).departed();
    const Duration span = microseconds(500);
    sim.run_until(sim.now() + span);
    CHECK(sim.port(2).departed() - before + 2 >= line_rate_frames(gigabits(100), 1514, span));
    for (const SentPause& pause : sim.port(0).pauses()) LONGS_EQUAL(1U << 4, pause.map.class_enable);
    stop_all(sim);
    sim.hold(2, 4, false);
    sim.drain(sim.now() + milliseconds(20));
    LONGS_EQUAL(0, sim.dropped());
}

TEST(Isolation, aFastPortIntoASlowOneLosesNothing) {
    Config config = sim_config(3, gigabits(100), 40, 1500);
    port_of(config, 1).speed = gigabits(10);
    config.buffer_size_bytes = 4'000'000;
    SimSwitch sim(config);
    sim.add(0, lossless_to(1));
    sim.add(0, lossless_to(2));  // shares the wire, and the pauses, of the slow one
    Time free{};
    sim.port(1).on_departure = [&](const Departure& departure) {
        if (free != Time{} && departure.at != free) sim.fail("the slow port idles");
        free = departure.at + gigabits(10).byte_time() * wire_bytes(departure.bytes);
    };
    sim.run_until(Time{} + milliseconds(3));
    CHECK(sim.device().port(0).counters.group[3].xoff.get() > 3);
    stop_all(sim);
    sim.drain(sim.now() + milliseconds(20));
    LONGS_EQUAL(0, sim.dropped());
    LONGS_EQUAL(sim.port(0).started(0), sim.port(1).departed());
}

}  // namespace sluice::isolation_test
