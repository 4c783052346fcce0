#include "lib/record/depth_trace.hh"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::depth_trace_test {
namespace {

constexpr Duration width = nanoseconds(100);

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

void slot(std::int64_t start_ns, std::uint32_t peak, std::uint32_t last, const DepthTrace::Slot& got) {
    LONGLONGS_EQUAL(start_ns * 1000, got.start_ps);
    LONGS_EQUAL(peak, got.of[0].peak);
    LONGS_EQUAL(last, got.of[0].last);
}

}  // namespace

TEST_GROUP(DepthTrace){};

TEST(DepthTrace, neverHoldsMoreThanItsSlots) {
    for (const unsigned slots : {2U, 8U, 9U, 64U}) {
        DepthTrace trace(slots, width);
        for (std::int64_t n = 0; n < 10'000; ++n) {
            trace.record(at(n * 70), static_cast<std::uint32_t>(n));
            CHECK_TRUE(trace.slots().size() <= slots);
        }
        CHECK_TRUE(trace.slots().size() > slots / 4);  // and does not throw away more than it must
    }
}

TEST(DepthTrace, aSlotKeepsItsPeakAndItsLast) {
    DepthTrace trace(16, width);
    trace.record(at(10), 3);
    trace.record(at(50), 9);
    trace.record(at(99), 2);
    trace.record(at(100), 4);
    trace.record(at(730), 1);
    LONGS_EQUAL(3, trace.slots().size());
    slot(0, 9, 2, trace.slots()[0]);
    slot(100, 4, 4, trace.slots()[1]);
    slot(700, 1, 1, trace.slots()[2]);
}

TEST(DepthTrace, whenFullNeighborsAreOneSlotOfTwiceTheWidth) {
    DepthTrace trace(4, width);
    for (std::int64_t n = 0; n < 4; ++n) trace.record(at(n * 100), static_cast<std::uint32_t>(10 - n));
    trace.record(at(450), 1);
    LONGLONGS_EQUAL(200'000, trace.width().ps);
    LONGS_EQUAL(3, trace.slots().size());
    slot(0, 10, 9, trace.slots()[0]);
    slot(200, 8, 7, trace.slots()[1]);
    slot(400, 1, 1, trace.slots()[2]);
}

TEST(DepthTrace, slotsFarApartStayApart) {
    DepthTrace trace(2, width);
    trace.record(at(0), 1);
    trace.record(at(1'000'000'000), 2);
    trace.record(at(1'000'000'150), 3);
    // The last two fall together, and the first keeps its place.
    LONGS_EQUAL(2, trace.slots().size());
    LONGS_EQUAL(1, trace.slots()[0].of[0].peak);
    LONGS_EQUAL(3, trace.slots()[1].of[0].peak);
}

TEST(DepthTrace, meanAndDeviationAreOverTime) {
    DepthTrace trace(2, width);
    CHECK_TRUE(trace.moments(Time{}).mean == 0 && trace.moments(at(5)).deviation == 0);
    // 0 for a second, 10 for two, 4 for one.
    constexpr std::int64_t second = 1'000'000'000;
    trace.record(at(second), 7);  // replaced at once
    trace.record(at(second), 10);
    trace.record(at(3 * second), 4);
    const DepthTrace::Moments moments = trace.moments(at(4 * second));
    DOUBLES_EQUAL(6, moments.mean, 1e-12);
    DOUBLES_EQUAL(std::sqrt((2 * 100 + 16) / 4.0 - 36), moments.deviation, 1e-12);
    DOUBLES_EQUAL(5, trace.moments(at(8 * second)).mean, 1e-12);
}

TEST(DepthTrace, agreesWithAModelAtAnyLength) {
    for (const std::uint64_t seed : {1ULL, 2ULL, 3ULL}) {
        DepthTrace trace(32, width);
        struct Sample {
            std::int64_t ps;
            std::uint32_t depth;
        };
        std::vector<Sample> samples;
        std::int64_t now = 0;
        for (std::uint64_t n = 0; n < 3000; ++n) {
            const std::uint64_t drawn = draw({seed, 0, 0, n});
            now += static_cast<std::int64_t>(drawn % (n % 97 == 0 ? 5'000'000 : 150'000));
            samples.push_back({now, static_cast<std::uint32_t>(drawn >> 40 & 0xFF)});
            trace.record(Time{} + picoseconds(now), samples.back().depth);
        }
        const std::int64_t cut = trace.width().ps;
        CHECK_TRUE(cut % width.ps == 0 && (cut / width.ps & (cut / width.ps - 1)) == 0);
        std::size_t index = 0;
        for (const auto& got : trace.slots()) {
            CHECK_TRUE(index < samples.size());
            LONGLONGS_EQUAL(samples[index].ps / cut * cut, got.start_ps);
            std::uint32_t peak = 0;
            for (; index < samples.size() && samples[index].ps < got.start_ps + cut; ++index)
                peak = std::max(peak, samples[index].depth);
            LONGS_EQUAL(peak, got.of[0].peak);
            LONGS_EQUAL(samples[index - 1].depth, got.of[0].last);
        }
        LONGS_EQUAL(samples.size(), index);
    }
}

}  // namespace sluice::depth_trace_test
