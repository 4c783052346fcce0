#include "lib/route/port_load.hh"

#include <algorithm>
#include <cmath>

#include "CppUTest/TestHarness.h"

namespace sluice::port_load_test {
namespace {

constexpr LoadScale scale{microseconds(20), microseconds(1)};
const Duration byte_time = gigabits(100).byte_time();  // 80 ps
constexpr ClassId lossless = 3;

Time at(std::int64_t us) { return Time{} + microseconds(us); }

// What an owner says of its port.
struct Figures {
    std::uint64_t sent_bytes = 0;
    std::uint64_t queued_bytes = 0;  // in the lossless queue
    std::uint8_t stopped = 0, paused = 0;
    Time paused_until{};
};
void publish(PortLoad& load, const Figures& figures, Time now) {
    load.set_sent(figures.sent_bytes, now, byte_time, scale);
    load.set_queued(lossless, figures.queued_bytes);
    load.set_stopped(figures.stopped, figures.paused);
    load.set_paused_until(lossless, figures.paused_until);
    UNSIGNED_LONGS_EQUAL(figures.queued_bytes != 0 ? 1U << lossless : 0U, load.filled());
}

Figures sent(std::uint64_t bytes) {
    Figures figures;
    figures.sent_bytes = bytes;
    return figures;
}

std::uint8_t load_band(const PortLoad& load, Time now) {
    return load.quality(lossless, now, byte_time, scale).load;
}

}  // namespace

TEST_GROUP(PortLoad){};

// A model in steps: an eighth goes at the end of each interval.
TEST(PortLoad, aSumLosesAnEighthInEachInterval) {
    PortLoad load;
    double expected = 0;
    std::uint64_t total = 0;
    for (int n = 0; n < 200; ++n) {
        total += 1000 * static_cast<unsigned>(n % 7);
        publish(load, sent(total), at(20 * n));
        expected = expected * 7 / 8 + 1000 * (n % 7);
        DOUBLES_EQUAL(expected, static_cast<double>(load.sent_bytes(at(20 * n), scale)), 30);
    }
    for (const int intervals : {1, 2, 8, 40, 127}) {
        const double left = expected * std::pow(7.0 / 8, intervals);
        DOUBLES_EQUAL(left, static_cast<double>(load.sent_bytes(at(20 * (199 + intervals)), scale)),
                      2 + left / 1000);
    }
    UNSIGNED_LONGS_EQUAL(0, load.sent_bytes(at(20 * (199 + 128)), scale));
    UNSIGNED_LONGS_EQUAL(0, load.sent_bytes(at(1'000'000'000), scale));
}

// 250 000 bytes take an interval of 20 us on a link of 100 Gb/s.
TEST(PortLoad, theBandIsTheEighthOfTheSpeedThatIsInUse) {
    for (unsigned band = 0; band < 8; ++band) {
        PortLoad load;
        std::uint64_t total = 0;
        for (int n = 0; n < 300; ++n) publish(load, sent(total += 250'000 * (2 * band + 1) / 16), at(20 * n));
        UNSIGNED_LONGS_EQUAL(band, load_band(load, at(20 * 299)));
        UNSIGNED_LONGS_EQUAL(0, load_band(load, at(20 * (299 + 30))));
    }
    PortLoad full;
    std::uint64_t total = 0;
    for (int n = 0; n < 300; ++n) publish(full, sent(total += 500'000), at(20 * n));
    UNSIGNED_LONGS_EQUAL(7, load_band(full, at(20 * 299)));
    // No more than full: after 20 intervals 7 % are left. Nobody had published before.
    PortLoad late;
    publish(late, sent(1'000'000'000'000), at(0));
    UNSIGNED_LONGS_EQUAL(7, load_band(late, at(0)));
    UNSIGNED_LONGS_EQUAL(0, load_band(late, at(20 * 20)));
}

// Its time is 64 ps more than 64 bits hold.
TEST(PortLoad, aSumWhoseTimeOverflowsIsThatOfAFullLink) {
    PortLoad load;
    publish(load, sent(230'584'300'921'369'396), at(0));
    UNSIGNED_LONGS_EQUAL(8 * 250'000, load.sent_bytes(at(0), scale));
}

TEST(PortLoad, aQueueCountsAsTheTimeThatItTakes) {
    PortLoad load;
    struct Case {
        std::uint64_t bytes;
        std::uint8_t band;
    };
    for (const Case each : {Case{0, 0},
                            {12'499, 0},
                            {12'500, 1},
                            {24'999, 1},
                            {25'000, 2},
                            {50'000, 3},
                            {100'000, 4},
                            {200'000, 5},
                            {400'000, 6},
                            {800'000, 7},
                            {800'000'000, 7}}) {
        Figures figures;
        figures.queued_bytes = each.bytes;
        publish(load, figures, at(0));
        UNSIGNED_LONGS_EQUAL(each.band, load.quality(lossless, at(0), byte_time, scale).queue);
        UNSIGNED_LONGS_EQUAL(0, load.quality(0, at(0), byte_time, scale).queue);
        // At half the speed it takes twice as long.
        const auto slow = load.quality(lossless, at(0), gigabits(50).byte_time(), scale).queue;
        UNSIGNED_LONGS_EQUAL(each.bytes < 6'250 ? 0 : std::min(7, each.band + 1), slow);
    }
}

TEST(PortLoad, whatIsStoppedIsWorseThanAnythingElse) {
    PortLoad load;
    Figures figures = sent(1'000'000'000);
    figures.queued_bytes = 1'000'000'000;
    publish(load, figures, at(0));
    const std::uint8_t worst = load.quality(lossless, at(0), byte_time, scale).band();
    UNSIGNED_LONGS_EQUAL(14, worst);
    figures.stopped = 1U << lossless;
    publish(load, figures, at(0));
    UNSIGNED_LONGS_EQUAL(15, load.quality(lossless, at(0), byte_time, scale).band());
    CHECK_FALSE(load.is_stopped(0, at(0)));
}

// The owner sleeps meanwhile: nobody publishes the end of a pause.
TEST(PortLoad, aPauseEndsByItself) {
    PortLoad load;
    Figures figures;
    figures.paused = 1U << lossless;
    figures.paused_until = at(10);
    publish(load, figures, at(0));
    CHECK_TRUE(load.is_stopped(lossless, at(9)));
    CHECK_FALSE(load.is_stopped(lossless, at(10)));
    figures.paused = 0;
    publish(load, figures, at(5));
    CHECK_FALSE(load.is_stopped(lossless, at(5)));
}

}  // namespace sluice::port_load_test
