#include "lib/threads/histogram.hh"

#include <algorithm>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::histogram_test {

TEST_GROUP(Histogram){};

TEST(Histogram, ofNothingSaysNothing) {
    const Histogram histogram;
    LONGS_EQUAL(0, histogram.count());
    LONGS_EQUAL(0, histogram.quantile(500).ps);
    LONGS_EQUAL(0, histogram.max().ps);
}

TEST(Histogram, ofOneValueIsThatValue) {
    for (const std::int64_t ps : {0LL, 1LL, 15LL, 16LL, 17LL, 999'999LL, 1LL << 45}) {
        Histogram histogram;
        histogram.record({ps});
        for (const unsigned per_mille : {1U, 500U, 999U, 1000U})
            CHECK_TRUE(histogram.quantile(per_mille).ps == ps);
    }
}

TEST(Histogram, quantilesAreWithinASixteenthAbove) {
    Histogram histogram;
    std::vector<std::int64_t> values;
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        // every magnitude alike
        const auto ps = static_cast<std::int64_t>(draw({1, 2, 3, n}) >> 20 >> n % 40);
        values.push_back(ps);
        histogram.record({ps});
    }
    std::sort(values.begin(), values.end());
    LONGS_EQUAL(values.size(), histogram.count());
    CHECK_TRUE(histogram.max().ps == values.back());
    for (const unsigned per_mille : {1U, 10U, 250U, 500U, 900U, 990U, 999U, 1000U}) {
        const std::size_t rank = (values.size() * per_mille + 999) / 1000;
        const std::int64_t exact = values[rank - 1];
        const std::int64_t told = histogram.quantile(per_mille).ps;
        CHECK_TRUE(told >= exact && told <= exact + exact / 16 + 1);
    }
}

TEST(Histogram, tooLongCountsAsTheLongest) {
    Histogram histogram;
    histogram.record(seconds(100));
    LONGS_EQUAL(1, histogram.count());
    CHECK_TRUE(histogram.max() == seconds(100));
}

}  // namespace sluice::histogram_test
