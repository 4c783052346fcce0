// WRED and ECN through the whole switch: where in a queue packets are marked, how often, and when.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::ecn_test {

using namespace sluice::sim;

namespace {

constexpr ClassId roce_class = 3;
constexpr ClassId best_effort = 0;
constexpr std::uint64_t kb = 1024;  // of frame, which are four cells
constexpr std::uint64_t min_kb = 100;
constexpr std::uint64_t max_kb = 300;

Config config_of(std::uint64_t min, std::uint64_t max, unsigned percent, unsigned ports = 2) {
    Config config = sim_config(ports, gigabits(100));
    WredConfig& wred = config.wred["test"];
    wred.green.min_bytes = min;
    wred.green.max_bytes = max;
    wred.green.probability = Chance{percent * 10'000'000};
    for (unsigned id = 0; id < ports; ++id) {
        port_of(config, id).queue[roce_class].wred = "test";
        port_of(config, id).queue[best_effort].wred = "test";
    }
    return config;
}

Flow flow_of(Ecn ecn, ClassId priority = roce_class) {
    Flow flow;
    flow.ecn = ecn;
    flow.priority = priority;
    flow.dscp = priority == roce_class ? 26 : 0;
    flow.size = [](Time) { return static_cast<std::uint32_t>(kb); };
    return flow;
}

// Fills a held queue of port 1 with n packets of 1 KB, releases it, and says which left marked, in order.
std::vector<bool> marks(SimSwitch& sim, const Flow& flow, std::size_t n) {
    std::vector<bool> marked;
    sim.port(1).on_departure = [&](const Departure& departure) {
        marked.push_back(departure.ecn == Ecn::ce);
    };
    sim.hold(1, flow.priority, true);
    sim.port(0).inject(sim.now() + nanoseconds(1), flow, std::vector<std::uint32_t>(n, kb));
    sim.run_until(sim.now() + microseconds(100));
    sim.hold(1, flow.priority, false);
    sim.drain(sim.now() + milliseconds(5));
    sim.port(1).on_departure = nullptr;
    return marked;
}

const QueueCounters& queue_counters(SimSwitch& sim, ClassId queue) {
    return sim.device().port(1).counters.queue[queue];
}

}  // namespace

TEST_GROUP(Ecn){};

TEST(Ecn, theFirstOfTwiceMaxIsMarkedAndTheLastIsNot) {
    SimSwitch sim(config_of(min_kb * kb, max_kb * kb, 20));
    const auto marked = marks(sim, flow_of(Ecn::ect0), 2 * max_kb);
    LONGS_EQUAL(2 * max_kb, marked.size());
    CHECK_TRUE(marked.front());
    CHECK_FALSE(marked.back());
}

TEST(Ecn, marksFollowTheCurve) {
    constexpr unsigned seeds = 200, percent = 40;
    constexpr std::size_t n = max_kb + 10;
    Config config = config_of(min_kb * kb, max_kb * kb, percent);
    SimSwitch sim(config, "marksFollowTheCurve");
    std::vector<unsigned> seen(n);
    std::uint64_t all = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        config.seed = seed;
        CHECK_TRUE(sim.apply(config));
        const auto marked = marks(sim, flow_of(seed % 2 == 0 ? Ecn::ect0 : Ecn::ect1), n);
        LONGS_EQUAL(n, marked.size());
        for (std::size_t i = 0; i < n; ++i) seen[i] += marked[i] ? 1 : 0;
    }
    for (const unsigned count : seen) all += count;
    LONGS_EQUAL(all, queue_counters(sim, roce_class).marked[0].get());
    // Packet i leaves n - 1 - i KB behind.
    const auto behind = [&](std::size_t i) { return n - 1 - i; };
    constexpr std::size_t bin = 50;
    double expected = 0, variance = 0, observed = 0;
    unsigned bins = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (behind(i) >= max_kb) LONGS_EQUAL(seeds, seen[i]);
        if (behind(i) < min_kb) LONGS_EQUAL(0, seen[i]);
        if (behind(i) >= max_kb || behind(i) < min_kb) continue;
        const double p =
            percent / 100.0 * static_cast<double>(behind(i) - min_kb) / static_cast<double>(max_kb - min_kb);
        expected += seeds * p;
        variance += seeds * p * (1 - p);
        observed += seen[i];
        if ((behind(i) - min_kb) % bin != 0) continue;
        ++bins;
        // Chi-square with one degree of freedom: p > 0.001 is below 10.83.
        const double chi_square = (observed - expected) * (observed - expected) / variance;
        if (chi_square >= 10.83)
            FAIL(fmt::format("from {} KB: {} marks, {} expected", behind(i), observed, expected).c_str());
        expected = variance = observed = 0;
    }
    LONGS_EQUAL((max_kb - min_kb) / bin, bins);
}

TEST(Ecn, aStepMarksAlmostNothingBelowAndAlmostEverythingAbove) {
    constexpr std::uint64_t step_kb = 150;
    for (const bool above : {false, true}) {
        SimSwitch sim(config_of(step_kb * kb, step_kb * kb, 100));
        const std::uint64_t standing = above ? step_kb * 3 / 2 : step_kb * 2 / 3;
        sim.hold(1, roce_class, true);
        Flow flow = flow_of(Ecn::ect0);
        sim.port(0).inject(sim.now() + nanoseconds(1), flow, std::vector<std::uint32_t>(standing, kb));
        sim.run_until(sim.now() + microseconds(10));
        sim.hold(1, roce_class, false);
        // From now on as much comes as goes.
        unsigned passed = 0, marked = 0;
        flow.start = sim.now();
        const std::uint8_t number = sim.add(0, flow);
        sim.port(1).on_departure = [&](const Departure& departure) {
            ++passed;
            marked += departure.ecn == Ecn::ce ? 1 : 0;
        };
        sim.run_until(sim.now() + microseconds(400));
        CHECK_TRUE(sim.port(0).started(number) > 4000 && passed > 4000);
        if (above)
            CHECK_TRUE(marked >= passed * 95 / 100);
        else
            LONGS_EQUAL(0, marked);
        sim.port(1).on_departure = nullptr;
        sim.port(0).stop_flows();
        sim.drain(sim.now() + milliseconds(5));
    }
}

TEST(Ecn, notEctPassesALosslessQueueAndIsDroppedFromALossyOneByItsCurve) {
    SimSwitch sim(config_of(min_kb * kb, min_kb * kb, 100));
    const auto lossless = marks(sim, flow_of(Ecn::not_ect), 2 * min_kb);
    LONGS_EQUAL(2 * min_kb, lossless.size());
    CHECK_TRUE(std::none_of(lossless.begin(), lossless.end(), [](bool marked) { return marked; }));
    LONGS_EQUAL(0, sim.dropped());

    const auto lossy = marks(sim, flow_of(Ecn::not_ect, best_effort), 2 * min_kb);
    LONGS_EQUAL(min_kb, lossy.size());  // those before the step
    LONGS_EQUAL(min_kb, sim.dropped(DropReason::wred_drop));
    LONGS_EQUAL(min_kb, sim.dropped());
    LONGS_EQUAL(min_kb, queue_counters(sim, best_effort).wred_dropped[0].get());

    const auto ect = marks(sim, flow_of(Ecn::ect1, best_effort), 2 * min_kb);
    LONGS_EQUAL(2 * min_kb, ect.size());  // marked instead
    LONGS_EQUAL(min_kb, std::count(ect.begin(), ect.end(), true));
    LONGS_EQUAL(min_kb, sim.dropped());
}

TEST(Ecn, withoutDropNonEctALossyQueueMarksAndDropsNothing) {
    Config config = config_of(min_kb * kb, min_kb * kb, 100);
    config.wred["test"].drop_non_ect = false;
    SimSwitch sim(config);
    const auto not_ect = marks(sim, flow_of(Ecn::not_ect, best_effort), 2 * min_kb);
    LONGS_EQUAL(2 * min_kb, not_ect.size());
    const auto ect = marks(sim, flow_of(Ecn::ect1, best_effort), 2 * min_kb);
    LONGS_EQUAL(2 * min_kb, ect.size());
    LONGS_EQUAL(min_kb, std::count(ect.begin(), ect.end(), true));
    LONGS_EQUAL(0, sim.dropped());
}

TEST(Ecn, dropNonEctDropsFromALosslessQueueAndTheReportCanSay) {
    Config config = config_of(min_kb * kb, min_kb * kb, 100);
    config.wred["test"].drop_non_ect = true;
    SimSwitch sim(config);
    const auto left = marks(sim, flow_of(Ecn::not_ect), 2 * min_kb);
    LONGS_EQUAL(min_kb, left.size());
    LONGS_EQUAL(min_kb, sim.device().dropped_lossless(0, DropReason::wred_drop));
}

TEST(Ecn, colorsHaveTheirOwnCurves) {
    Config config = config_of(200 * kb, 200 * kb, 100);
    config.wred["test"].yellow.min_bytes = config.wred["test"].yellow.max_bytes = 100 * kb;
    config.wred["test"].red.min_bytes = config.wred["test"].red.max_bytes = 50 * kb;
    config.maps["default"].dscp_to_tc[28] = config.maps["default"].dscp_to_tc[30] = roce_class;  // AF32, AF33
    SimSwitch sim(config);
    const std::array<std::uint8_t, 3> dscp{26, 28, 30};
    const std::array<unsigned, 3> step{200, 100, 50};
    for (unsigned n = 0; n < colors; ++n) {
        Flow flow = flow_of(Ecn::ect0);
        flow.dscp = dscp[n];
        const auto marked = marks(sim, flow, 300);
        // Packet i leaves 299 - i KB behind.
        for (unsigned i = 0; i < 300; ++i) CHECK_TRUE(marked[i] == (299 - i >= step[n]));
        LONGS_EQUAL(300 - step[n], queue_counters(sim, roce_class).marked[n].get());
    }
}

// A millisecond has passed before: it counts for no idle time.
TEST(Ecn, anAverageFallsOnlyWhileTheQueueIsEmpty) {
    Config config = config_of(min_kb * kb, max_kb * kb, 10);
    config.wred["test"].weight = 7;
    SimSwitch sim(config);
    sim.run_until(Time{} + milliseconds(1));
    const auto average = [&] { return sim.device().port(1).queue[roce_class].wred.average_bytes(); };
    const Flow flow = flow_of(Ecn::ect0);
    sim.hold(1, roce_class, true);
    sim.port(0).inject(sim.now() + nanoseconds(1), flow, std::vector<std::uint32_t>(200, kb));
    sim.run_until(sim.now() + microseconds(20));
    const std::uint64_t full = average();
    CHECK_TRUE(full > 50 * kb);
    sim.hold(1, roce_class, false);
    sim.run_until(sim.now() + microseconds(18));
    sim.port(0).inject(sim.now() + nanoseconds(1), flow, {kb});
    sim.run_until(sim.now() + microseconds(1));
    CHECK_TRUE(average() < full && average() > full / 16);
}

TEST(Ecn, sojournMarksThoseThatStayedLong) {
    Config config = config_of(0, 0, 100);
    WredConfig& wred = config.wred["test"];
    wred.mark_at = MarkAt::sojourn;
    wred.sojourn_min = wred.sojourn_max = microseconds(10);
    SimSwitch sim(config);
    std::vector<Duration> stays;
    // Without a hold: 200 KB at once drain in 16.8 us, so the later ones have stayed longer.
    unsigned count = 0, marked = 0;
    const Time arrival = sim.now() + nanoseconds(1);
    sim.port(1).on_departure = [&](const Departure& departure) {
        ++count;
        const bool late = departure.at - arrival >= microseconds(10);
        marked += departure.ecn == Ecn::ce ? 1 : 0;
        CHECK_TRUE((departure.ecn == Ecn::ce) == late);
    };
    sim.port(0).inject(arrival, flow_of(Ecn::ect0), std::vector<std::uint32_t>(200, kb));
    sim.drain(sim.now() + milliseconds(1));
    LONGS_EQUAL(200, count);
    CHECK_TRUE(marked > 60 && marked < 140);
    // The histogram of the queue agrees: the last one waited longest.
    const Duration longest = queue_counters(sim, roce_class).latency.max();
    CHECK_TRUE(longest == gigabits(100).byte_time() * (199 * static_cast<std::int64_t>(wire_bytes(kb))));
    LONGS_EQUAL(200, queue_counters(sim, roce_class).latency.count());
}

namespace {

// Two senders into one port; when the first marked packet left, and how many were marked.
struct Signal {
    Time first{};
    unsigned marked = 0;
};

Signal signal_of(MarkAt where) {
    Config config = config_of(200 * kb, 200 * kb, 100, 3);
    config.wred["test"].mark_at = where;
    SimSwitch sim(config);
    Signal signal;
    sim.port(2).on_departure = [&](const Departure& departure) {
        if (departure.ecn != Ecn::ce) return;
        if (signal.marked++ == 0) signal.first = departure.at;
    };
    for (const PortId id : {PortId{0}, PortId{1}}) {
        Flow flow = flow_of(Ecn::ect0);
        flow.to = 2;
        flow.frames = 600;
        sim.add(id, flow);
    }
    sim.drain(milliseconds(5).ps > 0 ? Time{} + milliseconds(5) : Time{});
    return signal;
}

}  // namespace

TEST(Ecn, markingAtDequeueSignalsEarlierThanAtEnqueue) {
    const Signal dequeue = signal_of(MarkAt::dequeue);
    const Signal enqueue = signal_of(MarkAt::enqueue);
    UT_PRINT(fmt::format("first mark leaves at {} ns when marked at dequeue, at {} ns at enqueue",
                         dequeue.first.ps / 1000, enqueue.first.ps / 1000)
                 .c_str());
    CHECK_TRUE(dequeue.marked > 100 && enqueue.marked > 100);
    // At enqueue the mark waits for the 200 KB before it: 16.8 us at 100 Gb/s.
    CHECK_TRUE(enqueue.first - dequeue.first > microseconds(16));
}

TEST(Ecn, doesNotDependOnTheNumberOfWorkers) {
    std::uint64_t digest = 0;
    for (const unsigned workers : {1U, 2U, 4U}) {
        Config config = config_of(20 * kb, 200 * kb, 50, 5);
        config.workers = workers;
        SimSwitch sim(config, fmt::format("workers {}", workers));
        for (PortId id = 0; id < 4; ++id) {
            Flow flow = flow_of(id % 2 == 0 ? Ecn::ect0 : Ecn::ect1);
            flow.to = 4;
            flow.frames = 300;
            flow.size = [id](Time now) {
                return 100 + static_cast<std::uint32_t>(draw({1, 2, id, now.ps}) % 1400);
            };
            sim.add(id, flow);
        }
        sim.drain(Time{} + milliseconds(5));
        CHECK_TRUE(sim.device().port(4).counters.queue[roce_class].marked[0].get() > 50);
        if (workers == 1) digest = sim.digest();
        CHECK_TRUE(digest == sim.digest());
    }
}

// A lossless queue never limits, with any threshold (mechanisms: section 3, "Egress").
TEST(Ecn, aLosslessQueueWithAThresholdStillRefusesNothing) {
    Config config = config_of(1ULL << 30, 1ULL << 30, 100);
    port_of(config, 1).queue[roce_class].dynamic_th = -8;
    SimSwitch sim(config);
    LONGS_EQUAL(2000, marks(sim, flow_of(Ecn::ect0), 2000).size());
    LONGS_EQUAL(0, sim.dropped());
}

}  // namespace sluice::ecn_test
