#include "lib/route/port_load.hh"

#include <map>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::remote_quality_test {
namespace {

Time at_ns(std::int64_t ns) { return Time{} + nanoseconds(ns); }

RemoteQuality::Bands all(std::uint8_t band) {
    RemoteQuality::Bands bands{};
    bands.fill(band);
    return bands;
}

}  // namespace

TEST_GROUP(RemoteQuality){};

TEST(RemoteQuality, IsKnownWhenItHasCrossedTheCableUntilTheNextOneHas) {
    RemoteQuality known(microseconds(10), {nanoseconds(300)});
    known.reset(4);
    known.tell(0, 2, at_ns(0), all(3));
    LONGS_EQUAL(0, known.bands(0, 2, at_ns(299))[3]);
    LONGS_EQUAL(3, known.bands(0, 2, at_ns(300))[3]);
    known.tell(0, 2, at_ns(10'000), all(15));
    LONGS_EQUAL(3, known.bands(0, 2, at_ns(10'299))[3]);
    LONGS_EQUAL(15, known.bands(0, 2, at_ns(10'300))[3]);
    LONGS_EQUAL(0, known.bands(0, 1, at_ns(10'300))[3]);
}

TEST(RemoteQuality, IsForgottenWithTheGroupsThatItWasToldOf) {
    RemoteQuality known(microseconds(10), {nanoseconds(300), nanoseconds(300)});
    LONGS_EQUAL(0, known.bands(1, 0, at_ns(5000))[0]);
    known.reset(2);
    known.tell(1, 1, at_ns(0), all(7));
    known.tell(1, 2, at_ns(0), all(7));  // not one of its groups
    LONGS_EQUAL(7, known.bands(1, 1, at_ns(5000))[0]);
    LONGS_EQUAL(0, known.bands(1, 2, at_ns(5000))[0]);
    known.reset(3);
    for (std::uint32_t group = 0; group < 3; ++group) LONGS_EQUAL(0, known.bands(1, group, at_ns(5000))[0]);
}

// Against a list of all that was ever said. Cables shorter and longer than the interval.
TEST(RemoteQuality, IsWhatWasSaidLastAmongWhatHasArrived) {
    constexpr std::uint32_t groups = 3;
    const std::vector<Duration> delays{nanoseconds(5), nanoseconds(999), nanoseconds(1000), nanoseconds(1001),
                                       nanoseconds(7300)};
    RemoteQuality known(nanoseconds(1000), delays);
    known.reset(groups);
    std::map<std::pair<PortId, std::uint32_t>, std::vector<std::uint8_t>> said;
    std::uint64_t seed = 1;
    const auto below = [&](std::uint64_t end) { return (seed = scramble(seed)) % end; };
    for (std::int64_t tick = 0; tick < 60; ++tick) {
        for (PortId port = 0; port < delays.size(); ++port)
            for (std::uint32_t group = 0; group < groups; ++group) {
                const auto band = static_cast<std::uint8_t>(below(16));
                known.tell(port, group, at_ns(1000 * tick), all(band));
                said[{port, group}].push_back(band);
            }
        for (unsigned n = 0; n < 100; ++n) {
            const auto now = static_cast<std::int64_t>(static_cast<std::uint64_t>(1000 * tick) + below(1000));
            const auto port = static_cast<PortId>(below(delays.size()));
            const auto group = static_cast<std::uint32_t>(below(groups));
            const std::int64_t sent_by = now - delays[port].ps / 1000;
            const int expected =
                sent_by < 0 ? 0 : said[{port, group}][static_cast<std::size_t>(sent_by / 1000)];
            LONGS_EQUAL(expected, known.bands(port, group, at_ns(now))[5]);
        }
    }
}

TEST(RemoteQuality, OfTwoTheWorseOfEachClassCounts) {
    RemoteQuality::Bands bands{1, 9, 0, 4, 0, 0, 0, 15};
    take_worst(bands, {2, 3, 0, 4, 0, 7, 0, 0});
    const RemoteQuality::Bands expected{2, 9, 0, 4, 0, 7, 0, 15};
    CHECK_TRUE(bands == expected);
}

}  // namespace sluice::remote_quality_test
