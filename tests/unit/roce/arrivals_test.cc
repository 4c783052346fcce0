#include "lib/roce/messages.hh"

#include <cmath>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::arrivals_test {
namespace {

using namespace sluice::roce;

constexpr Time origin{~std::uint64_t{0} - 20'000'000};  // Time wraps 20 us into every test

ArrivalParameters of(ArrivalKind kind) {
    ArrivalParameters parameters;
    parameters.kind = kind;
    parameters.start = origin;
    parameters.mean_gap = microseconds(10);
    parameters.on = microseconds(100);
    parameters.off = microseconds(300);
    return parameters;
}

std::vector<Time> times(const ArrivalParameters& parameters, std::uint64_t queue_pair, unsigned count,
                        std::uint64_t seed = 1) {
    Arrivals arrivals(parameters, {seed, queue_pair});
    std::vector<Time> result;
    for (unsigned n = 0; n < count; ++n, arrivals.begin_message()) result.push_back(*arrivals.next());
    return result;
}

double in_us(Duration span) { return static_cast<double>(span.ps) / 1e6; }

}  // namespace

TEST_GROUP(Arrivals){};

TEST(Arrivals, theExponentialIsMinusTheLogarithm) {
    LONGS_EQUAL(0, exponential(~std::uint64_t{0}));
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        const std::uint64_t drawn = draw({1, 0, 0, n}) >> n % 64;
        const long double exact =
            std::log(18'446'744'073'709'551'616.0L) - std::log(static_cast<long double>(drawn) + 1);
        const long double ours = static_cast<long double>(exponential(drawn)) / 4'294'967'296.0L;
        CHECK_TRUE(std::fabs(ours - exact) < 1.0L / (1U << 28));
    }
    // The same bits on every machine.
    UNSIGNED_LONGS_EQUAL(190'530'846'196ULL, exponential(0));
    UNSIGNED_LONGS_EQUAL(2'977'044'471ULL, exponential((1ULL << 63) - 1));
}

TEST(Arrivals, aClosedLoopHasNoMoreThanItsDepth) {
    ArrivalParameters parameters = of(ArrivalKind::closed_loop);
    parameters.depth = 3;
    Arrivals arrivals(parameters, {});
    for (unsigned n = 0; n < 3; ++n) {
        CHECK_TRUE(arrivals.next() == origin);
        LONGS_EQUAL(n, arrivals.message());
        arrivals.begin_message();
    }
    CHECK_FALSE(arrivals.next().has_value());
    arrivals.completed(origin + microseconds(30));
    CHECK_TRUE(arrivals.next() == origin + microseconds(30));
    arrivals.begin_message();
    CHECK_FALSE(arrivals.next().has_value());
}

TEST(Arrivals, atATimeAreItsMessagesAndNoMore) {
    ArrivalParameters parameters = of(ArrivalKind::at_time);
    parameters.depth = 2;
    Arrivals arrivals(parameters, {});
    arrivals.begin_message();
    CHECK_TRUE(arrivals.next() == origin);
    arrivals.begin_message();
    arrivals.completed(origin + microseconds(1));
    CHECK_FALSE(arrivals.next().has_value());
}

TEST(Arrivals, poissonHasItsRateAndItsSpread) {
    constexpr unsigned count = 100'000;
    const std::vector<Time> at = times(of(ArrivalKind::poisson), 5, count);
    CHECK_TRUE(at.front() > origin);
    double squares = 0;
    unsigned beyond_mean = 0;
    for (unsigned n = 1; n < count; ++n) {
        const double gap = in_us(at[n] - at[n - 1]);
        CHECK_TRUE(gap >= 0);
        squares += gap * gap;
        beyond_mean += gap > 10 ? 1 : 0;
    }
    const double mean = in_us(at.back() - at.front()) / (count - 1);
    DOUBLES_EQUAL(10, mean, 0.1);
    DOUBLES_EQUAL(10, std::sqrt(squares / (count - 1) - mean * mean), 0.2);
    DOUBLES_EQUAL(std::exp(-1.0), static_cast<double>(beyond_mean) / (count - 1), 0.005);
}

TEST(Arrivals, aLoadIsItsShareOfTheRate) {
    // 1 MB at half of 40 Gb/s: one in 400 us.
    CHECK_TRUE(mean_gap(1'000'000'000, gigabits(40), 500'000) == microseconds(400));
    CHECK_TRUE(mean_gap(1'500, gigabits(100), 1'000'000) == Duration{120});
    CHECK_TRUE(mean_gap(1ULL << 41, gigabits(1), 1) ==
               seconds(1'000));  // not 200 days, which Time does not hold
}

TEST(Arrivals, burstsComeWithinTheirTimeOnly) {
    const std::vector<Time> at = times(of(ArrivalKind::on_off), 5, 40'000);
    for (const Time each : at) CHECK_TRUE((each - origin).ps % microseconds(400).ps < microseconds(100).ps);
    // A tenth of a microsecond within a burst, a quarter of that over all.
    DOUBLES_EQUAL(40, in_us(at.back() - at.front()) / 39'999, 1);
}

TEST(Arrivals, aSilenceThatTimeDoesNotHoldIsLong) {
    ArrivalParameters parameters = of(ArrivalKind::on_off);
    parameters.on = nanoseconds(1);
    parameters.off = seconds(1'000);
    for (const Time each : times(parameters, 1, 100)) CHECK_TRUE(each - origin > seconds(10'000));
}

TEST(Arrivals, startsSpreadWithinTheSpread) {
    for (const ArrivalKind kind : {ArrivalKind::closed_loop, ArrivalKind::at_time}) {
        ArrivalParameters parameters = of(kind);
        parameters.spread = microseconds(50);
        double sum = 0;
        for (std::uint64_t queue_pair = 0; queue_pair < 1'000; ++queue_pair) {
            const Duration phase = *Arrivals(parameters, {1, queue_pair}).next() - origin;
            CHECK_TRUE(phase.ps >= 0 && phase < microseconds(50));
            sum += in_us(phase);
        }
        DOUBLES_EQUAL(25, sum / 1'000, 2);
    }
}

TEST(Arrivals, aQueuePairsDrawsAreItsOwn) {
    for (const ArrivalKind kind : {ArrivalKind::poisson, ArrivalKind::on_off}) {
        const ArrivalParameters parameters = of(kind);
        const std::vector<Time> alone = times(parameters, 77, 1'000);
        times(parameters, 78, 500);  // another one between
        CHECK_TRUE(alone == times(parameters, 77, 1'000));
        CHECK_TRUE(alone != times(parameters, 78, 1'000));
        CHECK_TRUE(alone != times(parameters, 77, 1'000, 2));
    }
    // Purposes do not share draws, nor do neighbors whose numbers lie side by side.
    const MessageDraws draws{1, 77};
    CHECK_TRUE(draws(MessageDraw::size, 0) != draws(MessageDraw::gap, 0));
    const MessageDraws next{1, 78};
    CHECK_TRUE(draws(MessageDraw::size, 1) != next(MessageDraw::size, 0));
}

}  // namespace sluice::arrivals_test
