#include "lib/clock/capture_timeline.hh"

#include <algorithm>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::capture_timeline_test {
namespace {

constexpr std::uint64_t hour = max_stamp_gap_ns;

StampRanges ranges_of(const std::vector<std::uint64_t>& stamps) {
    StampRanges ranges;
    for (const std::uint64_t stamp : stamps) ranges.add(stamp);
    return ranges;
}

}  // namespace

TEST_GROUP(CaptureTimeline){};

TEST(CaptureTimeline, aGapOfAnHourIsNoneAndOneNanosecondMoreIs) {
    LONGS_EQUAL(1, ranges_of({0, hour, 2 * hour}).all().size());
    LONGS_EQUAL(2, ranges_of({0, hour, 2 * hour + 1}).all().size());
    LONGS_EQUAL(1, ranges_of({0, hour + 1, 1}).all().size());  // a stamp between them joins them
}

TEST(CaptureTimeline, withoutStampsItIsTheEpochs) {
    const CaptureTimeline line;
    UNSIGNED_LONGLONGS_EQUAL(0, line.origin_ns());
    UNSIGNED_LONGLONGS_EQUAL(0, line.shortened_gaps());
    UNSIGNED_LONGLONGS_EQUAL(5, line.stamp_of(Time{5000}));
}

TEST(CaptureTimeline, aMomentWithinAGapHasTheStampBehindItsBeginning) {
    const CaptureTimeline line(ranges_of({10, 10 + 5 * hour}));
    UNSIGNED_LONGLONGS_EQUAL(10 + hour - 1, line.stamp_of(Time{(hour - 1) * 1000}));
    UNSIGNED_LONGLONGS_EQUAL(10 + 5 * hour, line.stamp_of(Time{hour * 1000}));
    UNSIGNED_LONGLONGS_EQUAL(4 * hour, line.removed_ns());
}

// Random stamps in random order, against the definition: sort them, and cut each gap.
TEST(CaptureTimeline, isWhatItsDefinitionSays) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::vector<std::uint64_t> stamps;
        std::uint64_t at = scramble(seed);
        at %= latest_stamp_ns / 2;
        for (unsigned n = 0; n < 60; ++n) {
            const std::uint64_t draw = scramble(seed << 32 | n);
            at += draw % (draw >> 60 < 4 ? 50 * hour : 2 * hour);
            stamps.push_back(at);
        }
        std::vector<std::uint64_t> shuffled = stamps;
        for (std::size_t n = shuffled.size() - 1; n > 0; --n)
            std::swap(shuffled[n], shuffled[scramble(seed ^ n << 20) % (n + 1)]);
        // Two inputs, whose gaps differ.
        StampRanges ranges;
        StampRanges other;
        for (std::size_t n = 0; n < shuffled.size(); ++n) (n % 3 == 0 ? other : ranges).add(shuffled[n]);
        ranges.add(other);
        const CaptureTimeline line(ranges);
        TimelineCursor in(line);
        TimelineCursor out(line);
        std::uint64_t time = 0;
        for (std::size_t n = 0; n < stamps.size(); ++n) {
            if (n != 0) time += std::min(stamps[n] - stamps[n - 1], hour);
            UNSIGNED_LONGLONGS_EQUAL(time * 1000, in.time_of(stamps[n]).ps);
            UNSIGNED_LONGLONGS_EQUAL(stamps[n], out.stamp_of(Time{time * 1000 + 999}));
            UNSIGNED_LONGLONGS_EQUAL(stamps[n], line.stamp_of(Time{time * 1000}));
        }
        for (const std::uint64_t stamp : shuffled) {
            const Time there = in.time_of(stamp);
            UNSIGNED_LONGLONGS_EQUAL(stamp, out.stamp_of(there));
        }
        UNSIGNED_LONGLONGS_EQUAL(time, line.span_ns());
        UNSIGNED_LONGLONGS_EQUAL(stamps.back() - stamps.front() - time, line.removed_ns());
    }
}

}  // namespace sluice::capture_timeline_test
