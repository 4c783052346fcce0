#include "lib/record/sample_trace.hh"

#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sample_trace_test {
namespace {

constexpr Duration width = nanoseconds(100);

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

void offer(SampleTrace<int>& trace, std::int64_t ns, int sample) {
    if (trace.wants(at(ns))) trace.add(at(ns), sample);
}

}  // namespace

TEST_GROUP(SampleTrace){};

TEST(SampleTrace, neverHoldsMoreThanItsLimit) {
    for (const std::size_t limit : {2U, 3U, 64U})
        for (const std::int64_t apart_ns : {70, 100'000}) {
            SampleTrace<int> trace(limit, width);
            for (int n = 0; n < 10'000; ++n) {
                offer(trace, n * apart_ns, n);
                CHECK_TRUE(trace.taken().size() <= limit);
            }
            CHECK_TRUE(trace.taken().size() > limit / 4);  // and does not throw away more than it must
        }
}

TEST(SampleTrace, aSlotWantsOneSample) {
    SampleTrace<int> trace(16, width);
    CHECK_TRUE(trace.wants(at(50)));
    trace.add(at(50), 1);
    CHECK_FALSE(trace.wants(at(50)));
    CHECK_FALSE(trace.wants(at(99)));
    CHECK_TRUE(trace.wants(at(100)));  // slots lie on a grid
    CHECK_TRUE(trace.wants(at(730)));
}

TEST(SampleTrace, theClocksLastMomentHasItsPlace) {
    SampleTrace<int> trace(2, width);
    for (const std::uint64_t ps : {std::uint64_t{0}, std::uint64_t{INT64_MAX} - 1, std::uint64_t{INT64_MAX}})
        if (trace.wants(Time{ps})) trace.add(Time{ps}, 0);
    LONGS_EQUAL(2, trace.taken().size());
}

TEST(SampleTrace, holdsTheFirstOfEachSlotAtAnyLength) {
    for (const std::uint64_t seed : {1ULL, 2ULL, 3ULL}) {
        SampleTrace<int> trace(32, width);
        std::vector<std::int64_t> offered;
        std::int64_t now = 0;
        for (int n = 0; n < 3000; ++n) {
            const std::uint64_t drawn = draw({seed, 0, 0, static_cast<std::uint64_t>(n)});
            now += static_cast<std::int64_t>(drawn % (n % 97 == 0 ? 5'000 : 150));
            offered.push_back(now);
            offer(trace, now, n);
        }
        const std::int64_t cut = trace.width().ps / 1000;
        std::vector<int> first;
        for (std::size_t n = 0; n < offered.size(); ++n)
            if (n == 0 || offered[n] / cut != offered[n - 1] / cut) first.push_back(static_cast<int>(n));
        LONGS_EQUAL(first.size(), trace.taken().size());
        for (std::size_t n = 0; n < first.size(); ++n) {
            LONGS_EQUAL(first[n], trace.taken()[n].sample);
            CHECK_TRUE(trace.taken()[n].at == at(offered[static_cast<std::size_t>(first[n])]));
        }
    }
}

}  // namespace sluice::sample_trace_test
