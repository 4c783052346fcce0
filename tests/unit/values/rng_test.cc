#include "lib/values/rng.hh"

#include <bit>
#include <cmath>
#include <set>

#include "CppUTest/TestHarness.h"

namespace sluice::rng_test {
namespace {

double share_of_ones(const DrawKey& one, const DrawKey& other) {
    return std::popcount(draw(one) ^ draw(other)) / 64.0;
}

}  // namespace

TEST_GROUP(Rng){};

TEST(Rng, refusesNoKeyAndRepeatsEvery) {
    for (std::uint64_t n = 0; n < 1000; ++n) {
        const DrawKey key{n, 3, static_cast<std::uint32_t>(n * 7), ~n};
        CHECK_TRUE(draw(key) == draw(key));
    }
    static_assert(draw({1, 2, 3, 4}) == draw({1, 2, 3, 4}), "usable in constant expressions");
}

TEST(Rng, theValuesOfSplitMix64) {
    // The generator of the paper from state 1234567, as Vigna's C source prints it.
    const std::uint64_t step = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t state = 1234567;
    for (const std::uint64_t value : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                      4593380528125082431ULL, 16408922859458223821ULL}) {
        CHECK_TRUE(scramble(state) == value);
        state += step;
    }
}

TEST(Rng, neighboringKeysDrawApart) {
    double seed = 0, stream = 0, port = 0, sequence = 0;
    constexpr unsigned rounds = 20'000;
    for (std::uint64_t n = 0; n < rounds; ++n) {
        const DrawKey key{n, 1, 5, n * 3};
        seed += share_of_ones(key, {n + 1, 1, 5, n * 3});
        stream += share_of_ones(key, {n, 2, 5, n * 3});
        port += share_of_ones(key, {n, 1, 6, n * 3});
        sequence += share_of_ones(key, {n, 1, 5, n * 3 + 1});
    }
    for (const double sum : {seed, stream, port, sequence}) DOUBLES_EQUAL(0.5, sum / rounds, 0.005);
}

TEST(Rng, drawsOfOneStreamAreAllDifferent) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t n = 0; n < 100'000; ++n) seen.insert(draw({1, 0, 0, n}));
    LONGS_EQUAL(100'000, seen.size());
}

TEST(Rng, streamAndPortAreTwoKeys) {
    std::set<std::uint64_t> seen;
    for (std::uint32_t stream = 0; stream < 100; ++stream)
        for (std::uint32_t port = 0; port < 100; ++port) seen.insert(draw({1, stream, port, 0}));
    LONGS_EQUAL(10'000, seen.size());
}

TEST(Rng, chanceIsWhatItSays) {
    constexpr std::uint64_t one = 1ULL << 32;
    for (const double wanted : {0.001, 0.05, 0.2, 0.5, 0.99}) {
        unsigned hits = 0;
        constexpr unsigned draws = 200'000;
        for (std::uint64_t n = 0; n < draws; ++n)
            hits += chance(draw({9, 1, 1, n}), static_cast<std::uint64_t>(wanted * static_cast<double>(one)));
        DOUBLES_EQUAL(wanted, hits / double{draws}, 5 * std::sqrt(wanted * (1 - wanted) / draws));
    }
    for (std::uint64_t n = 0; n < 1000; ++n) {
        CHECK_FALSE(chance(draw({1, 1, 1, n}), 0));
        CHECK_TRUE(chance(draw({1, 1, 1, n}), one));
    }
}

}  // namespace sluice::rng_test
