// A packet of 64 bytes is one cell everywhere, and how packets are cut into bursts changes nothing.
#include <array>
#include <cstdint>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::one_cell_test {

using namespace sluice::sim;

namespace {

struct State {
    std::array<std::uint32_t, 4> group{};  // of every part, and the watermark
    std::array<std::int64_t, 4> pool{};
    std::uint32_t queue = 0;
    bool xoff = false;
    std::uint64_t pauses = 0;
    bool operator==(const State&) const = default;
};

State state_of(SimSwitch& sim, ClassId n) {
    const PriorityGroup& group = sim.group(0, n);
    const PoolUse& pool = sim.use_of(0, n);
    return {{group.reserved_cells(), group.shared_cells(), group.headroom_cells(),
             group.shared_watermark.persistent.get()},
            {pool.shared.get(), pool.headroom.get(), pool.shared_watermark.persistent(),
             pool.headroom_watermark.persistent()},
            sim.device().port(1).queue[n].use.used_cells(),
            group.in_xoff(),
            sim.port(0).pauses().size()};
}

}  // namespace

TEST_GROUP(OneCell){};

TEST(OneCell, inGroupQueueAndPool) {
    for (const ClassId n : {ClassId{3}, ClassId{0}}) {
        Config config = sim_config(2, gigabits(100));
        for (unsigned id = 0; id < 2; ++id)
            port_of(config, id).priority_group[n].size_bytes = port_of(config, id).queue[n].size_bytes = 0;
        SimSwitch sim(config);
        sim.hold(1, n, true);
        Flow flow;
        flow.dscp = n == 3 ? 26 : 0;
        flow.priority = n;
        for (unsigned i = 1; i <= 3; ++i) {
            sim.port(0).inject(sim.now() + nanoseconds(100), flow, {64});
            sim.run_until(sim.now() + nanoseconds(200));
            LONGS_EQUAL(i, sim.group(0, n).used_cells());
            LONGS_EQUAL(i, sim.group(0, n).shared_cells());
            LONGS_EQUAL(i, sim.use_of(0, n).shared.get());
            const QueueLimits& queue = sim.policy().ports[1].queue[n];
            LONGS_EQUAL(i, sim.device().port(1).queue[n].use.used_cells());
            LONGS_EQUAL(i, sim.device().egress_use(queue.pool).shared.get());
        }
        sim.hold(1, n, false);
        sim.drain(Time{} + milliseconds(1));
        LONGS_EQUAL(3, sim.port(1).departed());
    }
}

// The same 32 packets in one burst and in 32, again and again from empty to refused.
TEST(OneCell, burstOf32LikeBurstsOfOne) {
    for (std::uint64_t seed = 1; seed <= (is_long() ? 400U : 20U); ++seed) {
        const std::string label = "seed " + std::to_string(seed);
        Config config = sim_config(2, gigabits(100), 5, 1500);
        config.buffer_size_bytes = 600'000 + seed * 1000;
        config.cell_bytes = 96 + static_cast<std::uint32_t>(scramble(seed) % 161);
        // A packet that egress refuses is released a burst later or sooner: here ingress alone decides.
        port_of(config, 1).queue[0].static_bytes = 0;
        port_of(config, 1).queue[0].pool = "egress-lossless";
        SimSwitch whole(config, label);
        SimSwitch single(config, label);
        single.port(0).burst_limit(1);
        std::uint64_t draws = 0;
        const auto random = [&](std::uint64_t below) { return scramble(seed << 32 | ++draws) % below; };
        std::vector<SimSwitch*> both{&whole, &single};
        for (SimSwitch* sim : both) sim->hold(1, 3, true), sim->hold(1, 0, true);
        for (unsigned round = 0; round < 40; ++round) {
            const bool lossless = random(4) != 0;
            std::vector<std::uint32_t> sizes;
            for (unsigned i = 0; i < 32; ++i) sizes.push_back(60 + static_cast<std::uint32_t>(random(1455)));
            Flow flow;
            flow.dscp = lossless ? 26 : 0;
            flow.priority = lossless ? 3 : 0;
            for (SimSwitch* sim : both) {
                const Time start = sim->now();
                sim->port(0).inject(start + nanoseconds(100), flow, sizes);
                sim->run_until(start + nanoseconds(200));
            }
            for (const ClassId n : {ClassId{0}, ClassId{3}})
                if (!(state_of(whole, n) == state_of(single, n)))
                    whole.fail("bursts differ in class " + std::to_string(n));
        }
        CHECK(whole.dropped(DropReason::headroom_overrun) > 0);
        LONGS_EQUAL(single.dropped(), whole.dropped());
        for (SimSwitch* sim : both) {
            sim->hold(1, 3, false), sim->hold(1, 0, false);
            sim->drain(Time{} + milliseconds(10));
        }
        CHECK(whole.digest() == single.digest());
    }
}

}  // namespace sluice::one_cell_test
