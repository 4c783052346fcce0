// Microbursts of a queue that an operator blocks: start, length, peak, feeders and drops, exactly.
#include <array>
#include <vector>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::microburst_test {

using namespace sluice::sim;

namespace {

constexpr std::uint32_t frame = 1000;
constexpr std::uint32_t frame_cells = 4;

std::vector<Microburst> bursts_of(SimSwitch& sim) {
    std::vector<Microburst> bursts;
    for (unsigned w = 0; w < sim.device().worker_count(); ++w) {
        std::array<Microburst, 1> burst;
        while (sim.device().microbursts(static_cast<WorkerId>(w))->events.collect(burst) == 1)
            bursts.push_back(burst[0]);
    }
    return bursts;
}

Flow lossy_to(PortId to) {
    Flow flow;
    flow.dscp = 0;
    flow.priority = 0;
    flow.to = to;
    return flow;
}

void one(SimSwitch& sim, PortId from, Time at) {
    sim.port(from).inject(at, lossy_to(3), {frame});
    sim.run_until(at);
}

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

}  // namespace

TEST_GROUP(Microbursts){};

TEST(Microbursts, ofABlockedQueueAreExact) {
    for (const unsigned workers : {1U, 2U, 4U}) {
        Config config = sim_config(4, gigabits(100));
        config.workers = workers;
        QueueConfig& queue = port_of(config, 3).queue[0];
        queue.microburst_bytes = std::uint64_t{3 * frame_cells * 256};
        queue.size_bytes = std::uint64_t{0};
        queue.static_bytes = std::uint64_t{6 * frame_cells * 256};
        SimSwitch sim(config);
        sim.hold(3, 0, true);
        one(sim, 0, at(1'000));
        one(sim, 0, at(2'000));
        one(sim, 1, at(3'000));
        LONGS_EQUAL(0, bursts_of(sim).size());
        CHECK_FALSE(sim.device().port(3).queue[0].microburst.running(sim.now()).has_value());
        one(sim, 2, at(4'000));  // the fourth is above three
        one(sim, 1, at(5'000));
        one(sim, 2, at(6'000));
        one(sim, 1, at(7'000));  // the queue takes six: refused
        one(sim, 0, at(8'000));
        LONGS_EQUAL(0, bursts_of(sim).size());
        sim.run_until(at(10'000));
        sim.at(at(10'000), [&] { sim.hold(3, 0, false); });
        sim.drain(at(1'000'000));
        const auto bursts = bursts_of(sim);
        LONGS_EQUAL(1, bursts.size());
        const Microburst& burst = bursts[0];
        LONGS_EQUAL(3, burst.port);
        LONGS_EQUAL(0, burst.queue);
        CHECK_TRUE(burst.start == at(4'000));
        // Frames leave at 10 us and one to four frame times later: then one is left, less than half of three.
        const Duration frame_time = gigabits(100).byte_time() * wire_bytes(frame);
        LONGS_EQUAL((nanoseconds(6'000) + frame_time * 4).ps, burst.length.ps);
        LONGS_EQUAL(6 * frame_cells, burst.peak_cells);
        LONGS_EQUAL(2, burst.dropped);
        LONGS_EQUAL(0, burst.marked);
        PortMask fed;  // port 0 only fed it before, and was refused meanwhile
        fed.add(1);
        fed.add(2);
        CHECK_TRUE(burst.fed_by == fed);
        LONGS_EQUAL(2, sim.dropped(DropReason::queue_limit));
    }
}

TEST(Microbursts, aLinkThatGoesDownEndsOne) {
    Config config = sim_config(4, gigabits(100));
    port_of(config, 3).microburst_bytes = std::uint64_t{frame_cells * 256};
    SimSwitch sim(config);
    sim.hold(3, 0, true);
    for (int n = 1; n <= 3; ++n) one(sim, 0, at(n * 1'000));
    sim.at(at(5'000), [&] { sim.set_port(3, false); });
    sim.run_until(at(6'000));
    const auto bursts = bursts_of(sim);
    LONGS_EQUAL(1, bursts.size());
    LONGS_EQUAL(3'000'000, bursts[0].length.ps);
    LONGS_EQUAL(3, bursts[0].dropped);
    LONGS_EQUAL(3 * frame_cells, bursts[0].peak_cells);
}

TEST(Microbursts, offThereAreNone) {
    Config config = sim_config(4, gigabits(100));
    port_of(config, 3).microburst_bytes = std::uint64_t{0};
    SimSwitch sim(config);
    sim.hold(3, 0, true);
    for (int n = 1; n <= 200; ++n) one(sim, 0, at(n * 1'000));
    CHECK_FALSE(sim.device().port(3).queue[0].microburst.running(sim.now()).has_value());
    sim.hold(3, 0, false);
    sim.drain(at(1'000'000));
    LONGS_EQUAL(0, bursts_of(sim).size());
}

}  // namespace sluice::microburst_test
