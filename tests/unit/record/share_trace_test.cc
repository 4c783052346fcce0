#include "lib/record/share_trace.hh"

#include <numeric>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::share_trace_test {
namespace {

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

using Slots = std::vector<std::int64_t>;  // in nanoseconds

Slots in_ns(const Slots& slots) {
    Slots ns;
    for (const std::int64_t ps : slots) ns.push_back(ps / 1000);
    return ns;
}

}  // namespace

TEST_GROUP(ShareTrace){};

TEST(ShareTrace, cutsTheTimeIntoSlots) {
    ShareTrace trace(8, nanoseconds(100));
    CHECK_TRUE(trace.slots(at(500)).empty());
    trace.change(at(50), true);
    trace.change(at(60), true);  // no change
    trace.change(at(250), false);
    trace.change(at(310), true);
    CHECK_TRUE(in_ns(trace.slots(at(320))) == (Slots{50, 100, 50, 10}));
    trace.change(at(320), false);
    CHECK_TRUE(in_ns(trace.slots(at(700))) == (Slots{50, 100, 50, 10}));
}

TEST(ShareTrace, anEndOnABorderTakesNoSlotMore) {
    ShareTrace trace(2, nanoseconds(100));
    trace.change(at(0), true);
    CHECK_TRUE(in_ns(trace.slots(at(200))) == (Slots{100, 100}));
    LONGS_EQUAL(100'000, trace.width(at(200)).ps);
    CHECK_TRUE(in_ns(trace.slots(at(201))) == (Slots{200, 1}));
    LONGS_EQUAL(200'000, trace.width(at(201)).ps);
}

TEST(ShareTrace, addsUpNeighborsAndLosesNothing) {
    ShareTrace trace(6, nanoseconds(1));
    std::int64_t now = 0;
    std::int64_t on = 0;
    for (std::uint64_t n = 0; n < 2000; ++n) {
        now += static_cast<std::int64_t>(scramble(2 * n) % 1000);
        trace.change(at(now), true);
        const auto length = static_cast<std::int64_t>(scramble(2 * n + 1) % 300);
        now += length;
        on += length;
        trace.change(at(now), false);
        const Slots slots = trace.slots(at(now));
        CHECK_TRUE(slots.size() <= 6);
        LONGLONGS_EQUAL(on * 1000, std::accumulate(slots.begin(), slots.end(), std::int64_t{0}));
        for (const std::int64_t slot : slots) CHECK_TRUE(slot <= trace.width(at(now)).ps);
    }
}

}  // namespace sluice::share_trace_test
