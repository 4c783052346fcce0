#include "dataplane/path/congestion.hh"

#include <memory>

#include "CppUTest/TestHarness.h"

namespace sluice::congestion_test {

TEST_GROUP(DequeueTallies){};

// Packets are counted together only while queue, ECN and time in the queue are the same.
TEST(DequeueTallies, whatDiffersIsCountedApart) {
    const auto counters = std::make_unique<PortCounters>();
    constexpr EcnBits ect0 = EcnBits::of(Ecn::ect0, Color::green, false);
    constexpr EcnBits cnp = EcnBits::of(Ecn::not_ect, Color::green, true);
    {
        DequeueTally tally(*counters);
        CHECK_TRUE(tally.add(3, ect0, nanoseconds(100)));
        CHECK_FALSE(tally.add(3, ect0, nanoseconds(100)));
        CHECK_TRUE(tally.add(3, ect0, nanoseconds(9000)));
        CHECK_TRUE(tally.add(3, cnp, nanoseconds(9000)));
        CHECK_TRUE(tally.add(6, cnp, nanoseconds(9000)));
    }
    const Histogram& latency = counters->queue[3].latency;
    UNSIGNED_LONGS_EQUAL(4, latency.count());
    LONGS_EQUAL(nanoseconds(9000).ps, latency.max().ps);
    CHECK_TRUE(latency.quantile(500) < nanoseconds(110));
    UNSIGNED_LONGS_EQUAL(3, counters->queue[3].taken[ect0.bits].get());
    UNSIGNED_LONGS_EQUAL(1, counters->queue[6].latency.count());
    UNSIGNED_LONGS_EQUAL(2, counters->cnp_latency.count());
}

}  // namespace sluice::congestion_test
