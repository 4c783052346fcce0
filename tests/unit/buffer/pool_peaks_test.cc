#include "lib/buffer/pool_peaks.hh"

#include <array>
#include <optional>

#include "CppUTest/TestHarness.h"
#include "lib/values/rng.hh"

namespace sluice::pool_peaks_test {
namespace {

struct Draws {
    std::uint64_t last = 1;
    std::uint64_t operator()(std::uint64_t below) { return scramble(last++) % below; }
};

}  // namespace

TEST_GROUP(PoolPeaks){};

TEST(PoolPeaks, hasSeenNothingAtFirstAndAfterForgetting) {
    PoolPeaks peaks(3);
    CHECK_FALSE(peaks.seen(1, 0).has_value());
    peaks.see(0, 2, [](unsigned) { return 7; });  // no pool is in use
    CHECK_FALSE(peaks.seen(1, 0).has_value());
    peaks.use(0);
    CHECK_FALSE(peaks.seen(1, 0).has_value());
    peaks.see(0, 1, [](unsigned) { return 0; });
    LONGS_EQUAL(0, peaks.seen(1, 0)->most);
    CHECK_FALSE(peaks.seen(2, 0).has_value());
    peaks.forget(1);
    CHECK_FALSE(peaks.seen(1, 0).has_value());
    CHECK_TRUE(peaks.seen(0, 0).has_value());
}

TEST(PoolPeaks, aPoolIsSeenFromNothingToAWholeBuffer) {
    PoolPeaks peaks(1);
    peaks.use(7);
    peaks.see(0, 0, [](unsigned) { return -5; });  // after a cut
    LONGS_EQUAL(0, peaks.seen(0, 7)->latest);
    peaks.see(0, 0, [](unsigned) { return std::int64_t{max_buffer_cells}; });
    peaks.see(0, 0, [](unsigned) { return 3; });
    UNSIGNED_LONGS_EQUAL(max_buffer_cells, peaks.seen(0, 7)->most);
    LONGS_EQUAL(3, peaks.seen(0, 7)->latest);
}

TEST(PoolPeaks, isAnArrayOfEachPortAndPool) {
    constexpr unsigned ports = 70, pools = 3;
    std::array<std::array<std::optional<PoolPeaks::Seen>, pools>, ports> expected;
    PoolPeaks peaks(ports);
    for (unsigned pool = 0; pool < pools; ++pool) peaks.use(pool);
    Draws draw;
    for (unsigned n = 0; n < 2000; ++n) {
        const auto first = static_cast<PortId>(draw(ports));
        if (draw(4) == 0) {
            peaks.forget(first);
            expected[first] = {};
            continue;
        }
        const auto last = static_cast<PortId>(first + draw(ports - first));
        std::array<std::uint32_t, pools> free;
        for (auto& each : free) each = static_cast<std::uint32_t>(draw(1000));
        peaks.see(first, last, [&](unsigned pool) { return free[pool]; });
        for (unsigned port = first; port <= last; ++port)
            for (unsigned pool = 0; pool < pools; ++pool) {
                auto& seen = expected[port][pool];
                seen = {std::max(seen ? seen->most : 0, free[pool]), free[pool]};
            }
        for (unsigned port = 0; port < ports; ++port)
            for (unsigned pool = 0; pool < pools; ++pool) {
                const auto seen = peaks.seen(static_cast<PortId>(port), pool);
                CHECK_TRUE(seen.has_value() == expected[port][pool].has_value());
                if (!seen) continue;
                LONGS_EQUAL(expected[port][pool]->most, seen->most);
                LONGS_EQUAL(expected[port][pool]->latest, seen->latest);
            }
    }
}

}  // namespace sluice::pool_peaks_test
