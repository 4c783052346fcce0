// DWRR shares through a whole switch, not the scheduler alone.
#include <cstdint>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fairness_test {

using namespace sluice::sim;

namespace {

Flow flow_of(std::uint8_t dscp, ClassId priority, std::uint32_t bytes) {
    Flow flow;
    flow.dscp = dscp;
    flow.priority = priority;
    flow.to = 3;
    flow.size = [bytes](Time) { return bytes; };
    return flow;
}

}  // namespace

TEST_GROUP(Fairness){};

// Its last frame is charged before it is forgotten that it owes or may claim anything.
TEST(Fairness, aQueueThatEmptiesOwesNothing) {
    SimSwitch sim(sim_config(4, gigabits(100)));
    Flow single = flow_of(0, 0, 9000);
    single.frames = 1;
    sim.add(0, single);
    sim.drain(Time{} + milliseconds(1));
    LONGS_EQUAL(1, sim.port(3).departed());
    LONGS_EQUAL(0, sim.device().port(3).scheduler.deficit(0));
}

// A queue gets a frame at a time and empties with each, the other is never empty; both have weight 1. A new
// frame waits for the rounds that save up for it, and for none for the frame before.
TEST(Fairness, aQueueThatKeepsEmptyingPaysForOneFrameAtATime) {
    constexpr std::uint32_t large = 9000;
    constexpr std::uint32_t other = 1514;
    Config config = sim_config(4, gigabits(100));
    for (const ClassId queue : {ClassId{0}, ClassId{3}}) port_of(config, 3).queue[queue].weight = 1;
    SimSwitch sim(config);
    for (const PortId from : {PortId{0}, PortId{1}})
        sim.add(from, flow_of(26, 3, other));  // twice the output
    Flow sparse = flow_of(0, 0, large);
    sparse.interval = microseconds(4);
    sim.add(2, sparse);
    sim.run_until(Time{} + microseconds(400));
    const Histogram& wait = sim.device().port(3).counters.queue[0].latency;
    CHECK(wait.count() >= 99);
    const std::uint32_t saved_up = wire_bytes(large) + quantum_bytes_per_weight + 2 * wire_bytes(other);
    CHECK(wait.max() < gigabits(100).byte_time() * saved_up);
    for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
    sim.drain(Time{} + milliseconds(10));
}

// Twice the output for a strict queue, and a lossy queue of a guaranteed rate beside it.
TEST(Fairness, aMinimumIsKeptBesideAStrictQueue) {
    for (const std::int64_t turn : {0, 1'000}) {
        Config config = sim_config(4, gigabits(100));
        config.virtual_turn = nanoseconds(turn);
        port_of(config, 3).queue[0].min_rate = gigabits(5);
        port_of(config, 3).queue[3].scheduler = QueueScheduler::strict;
        SimSwitch sim(config);
        for (const PortId from : {PortId{0}, PortId{1}}) sim.add(from, flow_of(26, 3, 1514));
        sim.add(2, flow_of(0, 0, 1514));
        sim.run_until(Time{} + microseconds(100));
        const Counter& packets = sim.device().port(3).counters.queue[0].tx.packets;
        const std::uint64_t before = packets.get();
        sim.run_until(Time{} + microseconds(1'100));
        DOUBLES_EQUAL(5e9, static_cast<double>((packets.get() - before) * wire_bytes(1514) * 8) * 1e3,
                      0.05e9);
        for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
        sim.drain(Time{} + milliseconds(10));
    }
}

// After a pause two frames of the MTU leave at line rate, or as many as the key says; the weight does not
// matter.
TEST(Fairness, aShaperLetsTwoFramesThroughAtOnce) {
    for (const bool port : {false, true}) {
        for (const std::uint64_t frames : {0U, 1U, 10U}) {
            if (frames == 1 && !port) continue;  // by weight it has credit for a round of the others, too
            Config config = sim_config(4, gigabits(100), 5, 1500);
            PortConfig& shaped = port_of(config, 3);
            shaped.queue[0].weight = 100;
            (port ? shaped.shaper : shaped.queue[0].max_rate) = gigabits(1);
            if (frames != 0)
                (port ? shaped.shaper_burst_bytes : shaped.queue[0].max_burst_bytes) =
                    frames * wire_bytes(1514);
            SimSwitch sim(config);
            Flow flow = flow_of(0, 0, 1514);
            flow.frames = 20;
            sim.add(0, flow);
            sim.run_until(Time{} + microseconds(6));
            LONGS_EQUAL(frames == 0 ? 2 : frames, sim.port(3).departed());
            sim.drain(Time{} + milliseconds(10));
            LONGS_EQUAL(20, sim.port(3).departed());
        }
    }
}

}  // namespace sluice::fairness_test
