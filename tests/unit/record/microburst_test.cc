#include "lib/record/microburst.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::microburst_test {
namespace {
constexpr Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }
}  // namespace

TEST_GROUP(Microburst){};

TEST(Microburst, offSeesNothing) {
    MicroburstMeter meter;
    for (const std::uint32_t threshold : {0U, 0xFFFF'FFFFU}) {
        meter.configure(threshold);
        meter.rose(at(1), 4'000'000'000U, 0);
        CHECK_FALSE(meter.running(at(2)).has_value());
        CHECK_FALSE(meter.fell(at(2), 0).has_value());
    }
}

TEST(Microburst, theThresholdItselfIsNoExcursion) {
    MicroburstMeter meter;
    meter.configure(100);
    meter.rose(at(1), 100, 0);
    meter.dropped();
    CHECK_FALSE(meter.running(at(2)).has_value());
    CHECK_FALSE(meter.fell(at(2), 99).has_value());
}

TEST(Microburst, startsWithThePacketThatExceedsAndEndsAtHalfTheThreshold) {
    MicroburstMeter meter;
    meter.configure(100);
    meter.rose(at(1), 99, 9);
    meter.dropped();  // before it: not counted
    meter.marked();
    meter.rose(at(5), 101, 2);
    meter.rose(at(6), 140, 200);
    meter.rose(at(7), 120, 2);  // lower: the peak stays, and so does its time
    meter.rose(at(7), 140, 2);
    meter.dropped();
    meter.dropped();
    meter.marked();
    CHECK_FALSE(meter.fell(at(8), 51).has_value());
    const auto under_way = meter.running(at(8));
    CHECK_TRUE(under_way.has_value());
    LONGS_EQUAL(3'000, under_way->length.ps);
    const auto burst = meter.fell(at(12), 50);
    CHECK_TRUE(burst.has_value());
    CHECK_TRUE(burst->start == at(5));
    LONGS_EQUAL(7'000, burst->length.ps);
    LONGS_EQUAL(140, burst->peak_cells);
    CHECK_TRUE(burst->peak_at == at(6));
    LONGS_EQUAL(2, burst->dropped);
    LONGS_EQUAL(1, burst->marked);
    PortMask fed;
    fed.add(2);
    fed.add(200);
    CHECK_TRUE(burst->fed_by == fed);
    CHECK_FALSE(meter.fell(at(13), 0).has_value());  // once
    CHECK_FALSE(meter.running(at(13)).has_value());
}

TEST(Microburst, eachExcursionBeginsAnew) {
    MicroburstMeter meter;
    meter.configure(10);
    meter.rose(at(1), 50, 1);
    meter.dropped();
    CHECK_TRUE(meter.fell(at(2), 3).has_value());
    meter.rose(at(3), 11, 4);
    CHECK_FALSE(meter.fell(at(4), 10).has_value());
    const auto burst = meter.fell(at(5), 5);
    CHECK_TRUE(burst.has_value());
    LONGS_EQUAL(11, burst->peak_cells);
    CHECK_TRUE(burst->peak_at == at(3));
    LONGS_EQUAL(0, burst->dropped);
    CHECK_FALSE(burst->fed_by.contains(1));
}

TEST(Microburst, switchedOffItEndsWithTheNextPacketThatLeaves) {
    MicroburstMeter meter;
    meter.configure(10);
    meter.rose(at(1), 50, 1);
    meter.configure(0);
    CHECK_TRUE(meter.fell(at(2), 49).has_value());
    meter.rose(at(3), 60, 1);
    CHECK_FALSE(meter.running(at(3)).has_value());
}

}  // namespace sluice::microburst_test
