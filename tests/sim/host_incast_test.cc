// Published results of an incast, with hosts behind the ports of a switch: 40G, packets of 1000 bytes, links
// of 1 us, marks between 5 and 200 KB up to 1 %. SLUICE_LONG=1: all cases, five seeds, and the figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "control/config/compile/compile.hh"
#include "tests/sim/host_incast.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::host_incast_test {

using namespace sluice::sim;
using roce::CongestionControl;

TEST_GROUP(HostIncast){};

#ifndef SLUICE_SANITIZED  // Three tests of means over long runs: what they run through, the one below and Ecn
                          // run through, too.
// By default two cases of one seed; SLUICE_LONG=1: all, five seeds.
TEST(HostIncast, incastSettlesAtDcqcnsFixedPoint) {
    struct Case {
        unsigned senders;
        double least_kb, max_kb;
    };
    constexpr std::array<Case, 5> cases{{{2, 20.2 * 0.75, 20.2 * 1.25},
                                         {4, 41.8 * 0.75, 41.8 * 1.25},
                                         {8, 93.8 * 0.75, 93.8 * 1.25},
                                         {10, 122.6 * 0.75, 122.6 * 1.25},
                                         {20, 175, 205}}};
    const std::uint64_t seeds = is_long() ? 5 : 1;
    for (const Case& each : cases) {
        if (!is_long() && each.senders != 4 && each.senders != 20) continue;
        double mean_kb = 0;
        // Two senders overtake each other slowly: over 40 ms a single run may have a Jain index of 0.97.
        const Duration measured = milliseconds(each.senders == 2 ? 120 : 40);
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            HostSwitch sim(marked_config(each.senders, seed),
                           incast(each.senders, CongestionControl::dcqcn_paper),
                           fmt::format("{} senders, seed {}", each.senders, seed), incast_packets, false);
            const Settled settled = settle(sim, each.senders, milliseconds(20), measured);
            CHECK_TRUE(settled.utilization >= 0.995 && settled.utilization <= 1.0001);
            LONGS_EQUAL(0, sim.dropped());
            LONGS_EQUAL(0, sim.device().port(0).counters.group[lossless].xoff.get());
            mean_kb += settled.queue_bytes / 1000 / static_cast<double>(seeds);
            if (settled.jain < 0.98)
                FAIL(fmt::format("{} senders, seed {}: Jain {:.4f}", each.senders, seed, settled.jain)
                         .c_str());
            if (is_long())
                std::printf("\n%u senders, seed %u: %.1f KB, %.4f of the link, Jain %.4f", each.senders,
                            static_cast<unsigned>(seed), settled.queue_bytes / 1000, settled.utilization,
                            settled.jain);
        }
        if (mean_kb < each.least_kb || mean_kb > each.max_kb)
            FAIL(fmt::format("{} senders: {:.1f} KB", each.senders, mean_kb).c_str());
    }
}

// The same marks, given when a packet leaves or when it comes, for twenty senders: a mark that is given at
// the queue's end comes a queue's time late, and the queue swings. By default one seed.
TEST(HostIncast, marksAtEnqueueComeLateAndTheQueueSwings) {
    constexpr unsigned senders = 20;
    const std::uint64_t seeds = is_long() ? 5 : 1;
    double mean_dequeue = 0, mean_enqueue = 0;
    if (is_long())
        std::printf(
            "\nan independent model: deviation 13 KB at dequeue, 80 KB at enqueue; 40.0 and 38.0 Gb/s");
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto settled_at = [&](MarkAt mark_at) {
            Config config = marked_config(senders, seed);
            config.wred["paper"].mark_at = mark_at;
            HostSwitch sim(config, incast(senders, CongestionControl::dcqcn_paper), "", incast_packets,
                           false);
            return settle(sim, senders, milliseconds(20), milliseconds(40));
        };
        const Settled dequeue = settled_at(MarkAt::dequeue);
        const Settled enqueue = settled_at(MarkAt::enqueue);
        CHECK_TRUE(enqueue.deviation_bytes > dequeue.deviation_bytes);
        CHECK_TRUE(enqueue.utilization < dequeue.utilization);
        mean_dequeue += dequeue.deviation_bytes / 1000 / static_cast<double>(seeds);
        mean_enqueue += enqueue.deviation_bytes / 1000 / static_cast<double>(seeds);
        if (is_long())
            std::printf("\nseed %u: deviation %.1f KB at dequeue, %.1f KB at enqueue; %.2f and %.2f Gb/s",
                        static_cast<unsigned>(seed), dequeue.deviation_bytes / 1000,
                        enqueue.deviation_bytes / 1000, dequeue.utilization * 40, enqueue.utilization * 40);
    }
    CHECK_TRUE(mean_enqueue >= 2 * mean_dequeue);
}

// Choudhury and Hahne: N groups that are never satisfied share N a S / (1 + N a) with any senders. Above it
// are at most the packets that a group's pause lets through.
TEST(HostIncast, withoutCongestionControlGroupsShareTheBufferByTheirAlpha) {
    struct Case {
        unsigned senders;
        int exponent;
        std::uint64_t seed;
    };
    std::vector<Case> cases;
    for (const unsigned senders : {2U, 8U})
        for (const int exponent : {-2, 0})
            for (std::uint64_t seed = 1; seed <= (is_long() ? 5 : 1); ++seed)
                cases.push_back({senders, exponent, seed});
    for (const auto& [senders, exponent, seed] : cases) {
        Config config = sim_config(senders + 1, gigabits(40), one_us);
        config.seed = seed;
        config.buffer_size_bytes = 4'000'000;
        for (unsigned id = 0; id <= senders; ++id)
            port_of(config, id).priority_group[lossless].dynamic_th = exponent;
        // The invariants after each instant are for the short runs.
        HostSwitch sim(config, incast(senders, CongestionControl::none), "", incast_packets, !is_long());
        sim.run_until(Time{} + milliseconds(3));
        Switch& device = sim.device();
        const std::uint8_t pool = sim.device().policy().ports[0].group[lossless].pool;
        const double shared_bytes = sim.device().policy().ingress_pools[pool].shared_cells * 256.0;
        double most = 0, least = 1e18;
        sim.on_instant = [&] {
            const double used = device.ingress_use(pool).shared.get() * 256.0;
            most = std::max(most, used);
            least = std::min(least, used);
        };
        sim.run_until(Time{} + milliseconds(is_long() ? 25 : 6));
        LONGS_EQUAL(0, sim.dropped());
        const double share = senders * std::pow(2.0, exponent);
        const double wanted = share * shared_bytes / (1 + share);
        const Duration round_trip =
            (cable_delay(port_of(config, 0)) + peer_delay(port_of(config, 0))->reaction) * 2;
        const double slack = senders * (static_cast<double>(round_trip.ps) / 200 + 2 * 1024);
        if (most > wanted + slack || least < wanted - slack)
            FAIL(fmt::format(
                     "{} senders, alpha 2^{}, seed {}: {:.1f} to {:.1f} KB, wanted {:.1f} +- {:.1f} KB",
                     senders, exponent, seed, least / 1000, most / 1000, wanted / 1000, slack / 1000)
                     .c_str());
        if (is_long())
            std::printf("\n%u senders, alpha 2^%d, seed %u: %.1f to %.1f KB, published %.1f +- %.1f KB",
                        senders, exponent, static_cast<unsigned>(seed), least / 1000, most / 1000,
                        wanted / 1000, slack / 1000);
    }
}
#endif

TEST(HostIncast, losslessIncastWithoutCongestionControlIsFairAndLosesNothing) {
    constexpr unsigned senders = 8;
    const Duration measured = milliseconds(is_long() ? 20 : 5);
    for (std::uint64_t seed = 1; seed <= (is_long() ? 5 : 1); ++seed) {
        Config config = sim_config(senders + 1, gigabits(40), one_us);
        config.seed = seed;
        config.buffer_size_bytes = 4'000'000;
        HostSwitch sim(config, incast(senders, CongestionControl::none), fmt::format("seed {}", seed),
                       incast_packets, !is_long());
        const Settled settled = settle(sim, senders, milliseconds(2), measured);
        CHECK_TRUE(settled.utilization >= 0.9999);
        CHECK_TRUE(settled.jain >= 0.999);
        LONGS_EQUAL(0, sim.dropped());
        CHECK_TRUE(sim.device().port(0).counters.group[lossless].xoff.get() > 0);
        CHECK_TRUE(sim.host(0).paused_time(lossless, sim.now()) > measured * 4 / 5);
        std::uint64_t again = 0;
        for (unsigned id = 0; id < senders; ++id)
            again += sim.qp(id, 0).requester()->counters().retransmissions;
        LONGS_EQUAL(0, again);
    }
}

}  // namespace sluice::host_incast_test
