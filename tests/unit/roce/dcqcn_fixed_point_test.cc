// DCQCN as a whole: endless queue pairs into one 40G link, against the fixed point of the published fluid
// model.
//
// The fluid model (Zhu et al., "ECN or Delay", CoNEXT 2016, equations 9 to 13) has its fixed point
// at 20.2, 41.8, 93.8 and 122.6 KB for 2, 4, 8 and 10 queue pairs of 1000-byte packets, and above Kmax
// for 20. It has CNPs come without memory. A notification point that waits 50 us after a CNP leaves time for
// an increase (55 us) between most of them, so a rate falls less deep and the queue settles higher.
// `settled_kb` is the fixed point of the same laws with 50 us and an exponential time between CNPs (solved
// numerically; 1024 B on the wire).
#include <array>
#include <cstdio>

#include "tests/tries.hh"
#include "tests/unit/roce/bottleneck.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::dcqcn_fixed_point_test {
namespace {

using namespace sluice::roce;

constexpr std::uint64_t seeds = 5;

struct Published {
    unsigned queue_pairs;
    double fluid_kb;
    double settled_kb;
};
constexpr std::array<Published, 4> published{
    {{2, 20.2, 24.7}, {4, 41.8, 53.1}, {8, 93.8, 121.7}, {10, 122.6, 159.9}}};

// Runs every seed; the mean of their mean queues in KB. `check` sees each.
template <class Check>
double mean_queue_kb(BottleneckSettings settings, Check check) {
    double sum = 0;
    for (settings.seed = 1; settings.seed <= seeds; ++settings.seed) {
        const BottleneckResult result = Bottleneck(settings).run();
        check(result);
        sum += result.queue_bytes / 1'000;
    }
    return sum / seeds;
}

}  // namespace

TEST_GROUP(DcqcnFixedPoint){};

// 20 ms after the start alpha still falls from 1, and so does the mean of the next 40 ms: nearer to the
// fluid's.
TEST(DcqcnFixedPoint, theQueueIsThatOfTheFluidModelWithinAQuarter) {
    for (const Published& each : published) {
        BottleneckSettings settings;
        settings.queue_pairs = each.queue_pairs;
        const double queue_kb = mean_queue_kb(settings, [&](const BottleneckResult& result) {
            CHECK_TRUE(result.utilization >= 0.995 && result.utilization <= 1.0001);
            CHECK_TRUE(result.jain >= 0.98);
        });
        DOUBLES_EQUAL(each.fluid_kb, queue_kb, each.fluid_kb / 4);
    }
}

TEST(DcqcnFixedPoint, twentyQueuePairsSitAtTheUpperThreshold) {
    BottleneckSettings settings;
    settings.queue_pairs = 20;
    const double queue_kb = mean_queue_kb(
        settings, [](const BottleneckResult& result) { CHECK_TRUE(result.utilization >= 0.995); });
    CHECK_TRUE(queue_kb >= 175 && queue_kb <= 205);
}

TEST(DcqcnFixedPoint, marksAtEnqueueComeLateAndTheQueueSwings) {
    double deviation_ratio = 0;
    BottleneckSettings settings;
    settings.queue_pairs = 20;
    for (settings.seed = 1; settings.seed <= seeds; ++settings.seed) {
        settings.mark_at = MarkAt::dequeue;
        const BottleneckResult early = Bottleneck(settings).run();
        settings.mark_at = MarkAt::enqueue;
        const BottleneckResult late = Bottleneck(settings).run();
        CHECK_TRUE(late.queue_deviation > early.queue_deviation);
        CHECK_TRUE(late.utilization < early.utilization);
        CHECK_TRUE(late.utilization > 0.9 &&
                   late.utilization < 0.98);  // an independent model: 38.0 of 40 Gb/s
        deviation_ratio += late.queue_deviation / early.queue_deviation / seeds;
    }
    CHECK_TRUE(deviation_ratio >= 2);
}

TEST(DcqcnFixedPoint, withoutReactionTheQueueGrowsWithoutEnd) {
    BottleneckSettings settings;
    settings.reaction = ReactionParameters::of(CongestionControl::none, gigabits(40));
    settings.transient = settings.spread = {};
    settings.measured = milliseconds(1);
    // 40 Gb/s too many for 1 ms are 5 MB of wire, half of that in the mean.
    DOUBLES_EQUAL(2'500'000 * 1000.0 / 1024, Bottleneck(settings).run().queue_bytes, 150'000);
}

TEST(DcqcnFixedPoint, theSameSeedGivesTheSameRun) {
    BottleneckSettings settings;
    settings.transient = settings.measured = milliseconds(2);
    const double queue_bytes = Bottleneck(settings).run().queue_bytes;
    CHECK_TRUE(queue_bytes == Bottleneck(settings).run().queue_bytes);
    settings.seed = 2;
    CHECK_TRUE(queue_bytes != Bottleneck(settings).run().queue_bytes);
}

// With SLUICE_LONG=1, and printed: what is there when alpha has settled.
TEST(DcqcnFixedPoint, settledQueuesAreThoseOfSpacedCnps) {
    if (!is_long()) return;
    for (const Published& each : published) {
        BottleneckSettings settings;
        settings.queue_pairs = each.queue_pairs;
        settings.transient = milliseconds(200);
        settings.measured = milliseconds(200);
        const double queue_kb =
            mean_queue_kb(settings, [](const BottleneckResult& result) { CHECK_TRUE(result.jain >= 0.98); });
        std::printf("%u queue pairs: %.1f KB, spaced CNPs %.1f, fluid model %.1f\n", each.queue_pairs,
                    queue_kb, each.settled_kb, each.fluid_kb);
        DOUBLES_EQUAL(each.settled_kb, queue_kb, each.settled_kb * 0.12);
    }
}

}  // namespace sluice::dcqcn_fixed_point_test
