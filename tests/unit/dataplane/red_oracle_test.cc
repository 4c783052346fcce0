// The averaged queue length against DPDK's own RED, on the same sequence of lengths.
#include <rte_red.h>

#include <array>
#include <cmath>

#include "lib/queue/wred.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::red_oracle_test {
namespace {

constexpr std::uint16_t least = 200, most = 600, inverse_probability = 10;
constexpr Duration idle_packet{RTE_RED_S};  // its unit of time: one small packet's

// Both at once; lengths in [0, 1023], which is as far as rte_red goes.
class Both {
  public:
    explicit Both(std::uint16_t weight) : weight_(weight) {
        LONGS_EQUAL(0, rte_red_config_init(&config_, weight, least, most, inverse_probability));
        LONGS_EQUAL(0, rte_red_rt_data_init(&red_));
        rte_red_rand_seed = weight;
        rte_red_rand_val = rte_fast_rand();
        profile_.color.fill(WredCurve(least, most, certainty / inverse_probability));
        profile_.weight = static_cast<std::uint8_t>(weight);
        profile_.mark_at = MarkAt::enqueue;
    }
    struct Verdicts {
        bool theirs, ours;
    };
    Verdicts arrival(std::uint16_t length, Time now) {
        const bool theirs = rte_red_enqueue(&config_, &red_, length, now.ps) != 0;
        const WredDecision ours = queue_.arrival(
            profile_, EcnBits::of(Ecn::ect0, Color::green, false), true, length, now, idle_packet, [&] {
                return static_cast<std::uint32_t>(draw({weight_, 0, 0, ++drawn_}) >> 32);
            });
        return {theirs, ours.verdict == WredVerdict::mark};
    }
    void became_empty(Time now) {
        rte_red_mark_queue_empty(&red_, now.ps);
        queue_.became_empty(now);
    }
    double theirs() const { return static_cast<double>(red_.avg) / std::exp2(RTE_RED_SCALING + weight_); }
    std::uint64_t theirs_floor() const { return red_.avg >> (RTE_RED_SCALING + weight_); }
    std::uint64_t ours() const { return queue_.average_bytes(); }

  private:
    unsigned weight_;
    rte_red_config config_{};
    rte_red red_{};
    WredProfile profile_;
    WredQueue queue_;
    std::uint64_t drawn_ = 0;
};

constexpr std::array<std::uint16_t, 5> weights{1, 3, 5, 7, 9};

// A walk between 1 and 1000 that stays near `level`.
std::uint16_t next_length(std::uint16_t length, std::uint16_t level, std::uint64_t n) {
    const auto step = static_cast<int>(draw({level, 1, 0, n}) % 41) - 20 + (level > length ? 2 : -2);
    return static_cast<std::uint16_t>(std::min(1000, std::max(1, int{length} + step)));
}

}  // namespace

TEST_GROUP(RedOracle){};

TEST(RedOracle, averagesAreEqualAndSoIsWhatIsCertain) {
    for (const std::uint16_t weight : weights) {
        Both both(weight);
        std::uint16_t length = 1;
        for (std::uint64_t n = 0; n < 40'000; ++n) {
            length = next_length(length, n / 10'000 % 2 == 0 ? 900 : 50, n);
            const auto verdicts = both.arrival(length, Time{n});
            LONGS_EQUAL(both.theirs_floor(), both.ours());
            if (both.ours() < least) CHECK_FALSE(verdicts.ours || verdicts.theirs);
            if (both.ours() >= most) CHECK_TRUE(verdicts.ours && verdicts.theirs);
        }
    }
}

TEST(RedOracle, marksAsOftenInBetween) {
    // rte_red keeps one random number from mark to mark, which makes its marks more even than ours, and rarer
    // than its own formula.
    for (const std::uint16_t level : {300, 400, 500}) {
        Both both(3);
        unsigned theirs = 0, ours = 0;
        constexpr unsigned packets = 400'000;
        for (unsigned n = 0; n < packets; ++n) {
            const auto verdicts = both.arrival(level, Time{n});
            theirs += verdicts.theirs ? 1 : 0;
            ours += verdicts.ours ? 1 : 0;
        }
        const double expected = packets * (level - 200.0) / 400.0 / inverse_probability;
        DOUBLES_EQUAL(1.0, ours / expected, 0.03);
        CHECK_TRUE(theirs > 0.5 * expected && theirs < 1.1 * expected);
    }
}

TEST(RedOracle, idleQueuesForgetAtTheSameRate) {
    // rte_red looks powers up in a table of sixteenths of a power of two.
    for (const std::uint16_t weight : weights) {
        // From half on: for less rte_red shifts by -1.
        for (unsigned packets = 1U << weight; packets < 5U << weight; packets += 1 + (1U << weight) / 8) {
            Both both(weight);
            for (unsigned n = 0; n < 30U << weight; ++n) both.arrival(1000, Time{n});
            both.became_empty(Time{0});
            both.arrival(0, Time{0} + idle_packet * packets);
            CHECK_TRUE(std::abs(both.theirs() - static_cast<double>(both.ours())) <=
                       0.07 * both.theirs() + 4);
        }
    }
}

}  // namespace sluice::red_oracle_test
