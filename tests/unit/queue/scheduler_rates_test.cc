// Rates of the scheduler: maximum, minimum and the shaper of a port.
#include "lib/queue/scheduler.hh"

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/unit/queue/scheduler_link.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::scheduler_rates_test {

using namespace sluice::scheduler_link;

namespace {

__extension__ using Wide = __int128;

constexpr Wide ps_rate_per_byte = 8'000'000'000'000;

}  // namespace

TEST_GROUP(SchedulerRates){};

// Each frame may go at ceil(t0 - credit + bytes before it x 8e12 / rate), to the picosecond, for a million
// frames.
TEST(SchedulerRates, maximumAndShaperAreExactOverALongRun) {
    for (const std::uint64_t rate :
         {1'000'000'000ULL, 999'999'937ULL, 2'718'281'829ULL, 64'001ULL, 7'999'999'999ULL}) {
        for (const bool shaper : {false, true}) {
            PortSchedule settings;
            settings.turn = microseconds(10);
            settings.queue[5].strict = true;
            (shaper ? settings.shaper : settings.queue[5].max_rate) = Rate{rate};
            Link link(settings);
            Wide parts = 0;
            // A strict queue waits for the worker, and for a frame under way.
            const Duration frame = link.speed.byte_time() * (shaper ? 0 : settings.longest_bytes);
            const Wide credit = (settings.turn + frame).ps * Wide{rate};
            Duration elapsed{};
            for (int n = 0; n < 100'000; ++n) {
                const Time before = link.now;
                const std::uint32_t bytes = link.head(5);
                link.send_one(1U << 5);
                const Time start = link.now - link.speed.byte_time() * bytes;
                elapsed = elapsed + (start - before);
                const Wide due = parts <= credit ? 0 : (parts - credit + rate - 1) / rate;
                if (elapsed.ps > due)
                    CHECK_EQUAL(before.ps, start.ps);  // the wire was busy
                else
                    CHECK(elapsed.ps == due);
                parts += bytes * ps_rate_per_byte;
                elapsed = elapsed + link.speed.byte_time() * bytes;
            }
        }
    }
}

TEST(SchedulerRates, maximumHoldsBackOnlyItsQueue) {
    PortSchedule settings = dwrr({50, 50});
    settings.queue[0].max_rate = gigabits(1);
    Link link(settings);
    while (link.total_bytes < 500'000'000) link.send_one(0b11);
    DOUBLES_EQUAL(0.1, share(link, 0), 0.0005);
    DOUBLES_EQUAL(0.9, share(link, 1), 0.0005);
}

TEST(SchedulerRates, maximumLetsLowerStrictQueuesThrough) {
    PortSchedule settings;
    settings.queue[7] = {.strict = true, .max_rate = gigabits(2)};
    settings.queue[6] = {.strict = true, .max_rate = gigabits(3)};
    Link link(settings);
    while (link.total_bytes < 500'000'000) link.send_one(0b1100'0001);
    DOUBLES_EQUAL(0.2, share(link, 7), 0.0005);
    DOUBLES_EQUAL(0.3, share(link, 6), 0.0005);
    DOUBLES_EQUAL(0.5, share(link, 0), 0.0005);
}

TEST(SchedulerRates, shapedPortKeepsTheWeights) {
    PortSchedule settings = dwrr({1, 2, 5});
    settings.shaper = gigabits(4);
    Link link(settings);
    while (link.total_bytes < 400'000'000) link.send_one(0b111);
    DOUBLES_EQUAL(0.8e12, static_cast<double>((link.now - origin).ps), 1e8);
    DOUBLES_EQUAL(0.125, share(link, 0), 0.0005);
    DOUBLES_EQUAL(0.25, share(link, 1), 0.0005);
}

TEST(SchedulerRates, minimumIsAFloorUnderTheShare) {
    PortSchedule settings = dwrr({1, 4, 4});
    settings.queue[0].min_rate = gigabits(4);
    Link link(settings);
    while (link.total_bytes < 500'000'000) link.send_one(0b111);
    DOUBLES_EQUAL(0.4, share(link, 0), 0.0005);
    DOUBLES_EQUAL(0.3, share(link, 1), 0.0005);
    CHECK(link.scheduler.deficit(0) >= 0);  // the floor is a gift, not a loan
}

TEST(SchedulerRates, minimumBelowTheShareChangesNothing) {
    PortSchedule settings = dwrr({50, 50});
    Link plain(settings);
    settings.queue[0].min_rate = gigabits(2);
    Link floored(settings);
    for (int n = 0; n < 1'000; ++n) plain.send_one(0b11);
    for (int n = 0; n < 1'000; ++n) floored.send_one(0b11);
    DOUBLES_EQUAL(share(plain, 0), share(floored, 0), 0.01);
    while (floored.total_bytes < 500'000'000) floored.send_one(0b11);
    DOUBLES_EQUAL(0.5, share(floored, 0), 0.0005);
}

// SAI: minimum not met first, whatever the kind of queue; then strict priority, then weight.
TEST(SchedulerRates, minimumsComeBeforeStrictQueues) {
    for (const std::uint64_t speed : {1U, 10U, 100U, 400U}) {
        const auto part = [&](std::uint64_t percent) {
            return Rate{gigabits(speed).bits_per_second / 100 * percent};
        };
        PortSchedule settings;
        settings.queue[7].strict = settings.queue[6].strict = true;
        settings.queue[4] = {.strict = true, .min_rate = part(10)};
        settings.queue[3].min_rate = part(40);
        settings.queue[2].weight = 200;
        settings.queue[0].min_rate = part(5);
        Link link(settings, gigabits(speed));
        while (link.total_bytes < 500'000'000) link.send_one(0b1101'1101);
        const std::array<double, 8> want{0.05, 0, 0, 0.4, 0.1, 0, 0, 0.45};
        for (unsigned q = 0; q < 8; ++q) DOUBLES_EQUAL(want[q], share(link, q), 0.0005);
        CHECK_EQUAL(0U, link.sent_bytes[6]);
    }
}

// A queue that was paused has credit for what it may have to wait, not for the time.
TEST(SchedulerRates, aPausedMinimumIsNotSavedUp) {
    PortSchedule settings;
    settings.queue[7].strict = true;
    settings.queue[1].min_rate = gigabits(5);
    Link link(settings);
    while (link.total_bytes < 50'000'000) link.send_one(0b1000'0000);
    const std::uint64_t before = link.total_bytes;
    while (link.send_one(0b1000'0010) == 1) {
    }
    CHECK(link.total_bytes - before <= 3 * wire_bytes(max_frame_bytes));
}

// Minimums of nearly the whole link, of queues that wait for each other.
TEST(SchedulerRates, minimumsUpToTheLinkAreKept) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        PortSchedule settings;
        settings.queue[7].strict = true;
        std::uint64_t sum = 0;
        for (unsigned q = 0; q < 7; ++q) sum += draw({seed, 0, q, 0}) % 100 + 1;
        for (unsigned q = 0; q < 7; ++q) {
            settings.queue[q].min_rate = Rate{9'900'000'000 / sum * (draw({seed, 0, q, 0}) % 100 + 1)};
            settings.queue[q].strict = q % 2 != 0;
        }
        Link link(settings);
        link.head.seed = seed;
        while (link.total_bytes < 300'000'000) link.send_one(0xFF);
        for (unsigned q = 0; q < 7; ++q)
            DOUBLES_EQUAL(static_cast<double>(settings.queue[q].min_rate.bits_per_second) / 10e9,
                          share(link, q), 0.0005);
    }
}

// The bound is not a guess: a queue that asks at the worst moment never waits longer, and nearly so long.
TEST(SchedulerRates, aStrictQueueWaitsForMinimumsAsLongAsIsTold) {
    constexpr std::uint32_t frame = wire_bytes(1500);
    double tightest = 0;
    for (const unsigned queues : {1U, 2U, 3U, 6U}) {
        for (const unsigned percent : {5U, 30U, 60U, 90U}) {
            for (const bool own : {false, true}) {
                PortSchedule settings;
                settings.longest_bytes = frame;
                settings.speed = gigabits(10);
                settings.queue[6] = {.strict = true, .min_rate = gigabits(own ? 1 : 0)};
                for (unsigned q = 0; q < queues; ++q)
                    settings.queue[q].min_rate = Rate{gigabits(10).bits_per_second / 100 * percent / queues};
                const auto told = delay_by_minimums(settings, 6);
                CHECK_TRUE(told.has_value());
                Scheduler scheduler(settings);
                const auto head = [](unsigned) { return frame; };
                Time now = origin + milliseconds(1);
                int picked;
                const std::uint8_t ready = static_cast<std::uint8_t>(0x40U | ((1U << queues) - 1));
                const Time asked = now;
                while ((picked = scheduler.pick(ready, head, now)) != 6) {
                    scheduler.sent(picked, frame, now);
                    now = now + settings.speed.byte_time() * frame;
                }
                CHECK(now - asked <= *told);
                tightest =
                    std::max(tightest, static_cast<double>((now - asked).ps) / static_cast<double>(told->ps));
            }
        }
    }
    CHECK(tightest > 0.9);
}

TEST(SchedulerRates, minimaBeyondTheLinkStarveNobody) {
    PortSchedule settings;
    for (auto& queue : settings.queue) queue.min_rate = gigabits(5);
    Link link(settings);
    while (link.total_bytes < 500'000'000) link.send_one(0xFF);
    for (unsigned q = 0; q < 8; ++q) DOUBLES_EQUAL(0.125, share(link, q), 0.005);
}

TEST(SchedulerRates, nextEligibleWaitsForQueueAndPort) {
    PortSchedule settings;
    settings.queue[0].max_rate = gigabits(1);
    settings.queue[0].strict = true;
    settings.queue[0].max_burst_bytes = 10'750;
    settings.shaper = gigabits(2);
    Scheduler scheduler(settings);
    const auto head = [](unsigned) { return 1000U; };  // 8 us of the queue's rate, 4 us of the port's
    Time now = origin;
    Time last_sent = origin;
    for (int n = 0; n < 20; ++n) {
        CHECK(!scheduler.next_eligible(0b01, now));
        CHECK_EQUAL(0, scheduler.pick(0b01, head, now));
        scheduler.sent(0, 1000, now);
        CHECK_EQUAL(-1, scheduler.pick(0b11, head, now));
        last_sent = now;
        now = *scheduler.next_eligible(0b11, now);
    }
    CHECK_EQUAL(microseconds(80).ps, (now - origin).ps);
    CHECK_EQUAL(-1, scheduler.pick(0b01, head, now));
    CHECK_EQUAL(1, scheduler.pick(0b11, head, now));
    CHECK(!scheduler.next_eligible(0b11, now));
    CHECK(!scheduler.next_eligible(0b00, now));
    const Duration credit = Duration{8'000} * (10'750 - 1'000);  // the burst, its first frame aside
    for (const Time when : {last_sent, now})  // while the port holds back too, and when it no longer does
        CHECK_EQUAL((microseconds(160) - credit).ps, (*scheduler.next_eligible(0b01, when) - origin).ps);
}

TEST(SchedulerRates, idleForMonthsIsNoDebtAndOneCredit) {
    for (const std::int64_t days : {1, 107, 150, 212, 214, 320}) {
        PortSchedule settings;
        settings.queue[0].max_rate = gigabits(1);
        settings.queue[0].max_burst_bytes = 10'000;
        Scheduler scheduler(settings);
        const auto head = [](unsigned) { return 625U; };  // 5 us at 1 Gb/s
        scheduler.sent(scheduler.pick(1, head, origin), 625, origin);
        Time now = origin;
        for (std::int64_t day = 0; day < days; ++day) now = now + seconds(86'400);
        int frames = 0;
        for (; scheduler.pick(1, head, now) == 0; ++frames) scheduler.sent(0, 625, now);
        CHECK_EQUAL(16, frames);
    }
}

namespace {

// Bytes that leave at line rate after a pause, of frames of one size.
std::uint64_t burst_of(const PortSchedule& settings, std::uint32_t frame) {
    Scheduler scheduler(settings);
    const auto head = [frame](unsigned) { return frame; };
    Time now = origin;
    std::uint64_t bytes = 0;
    while (scheduler.pick(1, head, now) == 0) {
        scheduler.sent(0, frame, now);
        bytes += frame;
        now = now + settings.speed.byte_time() * frame;
    }
    return bytes;
}

}  // namespace

// The weight does not matter, nor does the time of the pause: the burst, and what the rate brings meanwhile.
TEST(SchedulerRates, aBurstIsWhatItsKeySaysAtAnySpeedWeightAndMtu) {
    for (const bool shaper : {false, true}) {
        for (const std::uint64_t kilobits : {64ULL, 1'000ULL, 100'000ULL, 1'000'000ULL, 10'000'000ULL}) {
            for (const std::uint8_t weight : {std::uint8_t{1}, std::uint8_t{100}, std::uint8_t{255}}) {
                for (const std::uint32_t longest : {wire_bytes(1514), wire_bytes(9114)}) {
                    for (const std::uint32_t burst : {0U, 2 * longest, 100'000U}) {
                        PortSchedule settings = dwrr({weight, 1});
                        settings.longest_bytes = longest;
                        const Rate rate{kilobits * 1000};
                        (shaper ? settings.shaper : settings.queue[0].max_rate) = rate;
                        (shaper ? settings.shaper_burst_bytes : settings.queue[0].max_burst_bytes) = burst;
                        const std::uint64_t told =
                            shaper ? burst_bytes_of_shaper(settings) : burst_bytes_of_queue(settings, 0);
                        CHECK(told >= burst &&
                              told <= std::max<std::uint64_t>(burst, longest + 1 + kilobits * 15 / 10'000));
                        for (const std::uint32_t frame : {88U, longest / 2, longest}) {
                            const double part = static_cast<double>(kilobits) / 100e6;
                            const std::uint64_t sent = burst_of(settings, frame);
                            CHECK(static_cast<double>(sent) <=
                                  std::max<double>(static_cast<double>(told), frame) / (1 - part) + 1);
                            CHECK(sent + frame > burst);
                        }
                    }
                }
            }
        }
    }
}

// A maximum is a rate that the queue gets, however it has to wait for the turns of the others.
TEST(SchedulerRates, aQueueByWeightReachesItsMaximumBesideSevenOfWeight100) {
    for (const std::uint8_t weight :
         {std::uint8_t{1}, std::uint8_t{3}, std::uint8_t{20}, std::uint8_t{100}, std::uint8_t{255}}) {
        for (const std::uint32_t frame : {88U, 1538U, 9138U}) {
            for (const unsigned percent : {10U, 50U, 90U, 97U}) {  // of its share
                for (const std::uint32_t burst : {0U, 2 * frame}) {
                    PortSchedule settings = dwrr({weight, 100, 100, 100, 100, 100, 100, 100});
                    const std::uint64_t share_bits = gigabits(100).bits_per_second * weight / (700U + weight);
                    settings.queue[0].max_rate = Rate{share_bits / 100 * percent};
                    settings.queue[0].max_burst_bytes = burst;
                    Scheduler scheduler(settings);
                    const auto head = [&](unsigned queue) { return queue == 0 ? frame : 9138U; };
                    std::uint64_t bytes = 0;
                    Time now = origin;
                    const Time end = origin + milliseconds(weight < 20 ? 100 : 20);
                    while (now < end) {
                        const int queue = scheduler.pick(0xFF, head, now);
                        const std::uint32_t sent = head(static_cast<unsigned>(queue));
                        scheduler.sent(queue, sent, now);
                        bytes += queue == 0 ? sent : 0;
                        now = now + settings.speed.byte_time() * sent;
                    }
                    const double rate =
                        static_cast<double>(bytes) * 8e12 / static_cast<double>((now - origin).ps);
                    const auto want = static_cast<double>(settings.queue[0].max_rate.bits_per_second);
                    const double one = frame * 8e12 / static_cast<double>((now - origin).ps);
                    if (rate < (burst == 0 ? 0.98 : 0.99) * want - one ||
                        rate > 1.01 * want + static_cast<double>(burst) / frame * one + 2 * one)
                        FAIL(StringFromFormat("weight %u, frames of %u, %u %% of the share, burst %u: %.4f",
                                              weight, frame, percent, burst, rate / want)
                                 .asCharString());
                }
            }
        }
    }
}

TEST(SchedulerRates, changedRateStartsAfresh) {
    PortSchedule settings;
    settings.queue[0].max_rate = Rate{1'000};
    Scheduler scheduler(settings);
    const auto head = [](unsigned) { return 1000U; };
    while (scheduler.pick(1, head, origin) == 0) scheduler.sent(0, 1000, origin);
    CHECK_EQUAL(-1, scheduler.pick(1, head, origin + seconds(1)));
    scheduler.configure(settings);  // nothing changed: still in debt
    CHECK_EQUAL(-1, scheduler.pick(1, head, origin + seconds(1)));
    settings.queue[0].max_rate = gigabits(1);
    scheduler.configure(settings);
    CHECK_EQUAL(0, scheduler.pick(1, head, origin + Duration{1}));
}

}  // namespace sluice::scheduler_rates_test
