// Rates of the scheduler: maximum, minimum and the shaper of a port.
#include "lib/scheduler.hh"

#include <cstdint>

#include "tests/unit/scheduler_link.hh"

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
            (shaper ? settings.shaper : settings.queue[5].max_rate) = Rate{rate};
            Link link(settings);
            Wide parts = 0;
            const Wide credit_bytes = shaper ? 0 : quantum_bytes_per_weight + wire_bytes(max_frame_bytes);
            const Wide credit = (settings.burst.ps + credit_bytes * ps_rate_per_byte / rate) * rate;
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

TEST(SchedulerRates, maximumHoldsBackOnlyItsQueueAndKeepsItsDeficit) {
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

TEST(SchedulerRates, minimumServesALowerStrictQueueFirst) {
    PortSchedule settings;
    settings.queue[7].strict = true;
    settings.queue[2] = {.strict = true, .min_rate = gigabits(1)};
    settings.queue[0].min_rate = gigabits(1);  // of the other kind: waits for the strict ones
    Link link(settings);
    while (link.total_bytes < 500'000'000) link.send_one(0b1000'0101);
    DOUBLES_EQUAL(0.1, share(link, 2), 0.0005);
    CHECK_EQUAL(0U, link.sent_bytes[0]);
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
    settings.shaper = gigabits(2);
    settings.burst = Duration{1};
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
    CHECK_EQUAL(microseconds(80).ps - 1, (now - origin).ps);
    CHECK_EQUAL(-1, scheduler.pick(0b01, head, now));
    CHECK_EQUAL(1, scheduler.pick(0b11, head, now));
    CHECK(!scheduler.next_eligible(0b11, now));
    CHECK(!scheduler.next_eligible(0b00, now));
    const Duration credit =
        Duration{8'000} * (quantum_bytes_per_weight + wire_bytes(max_frame_bytes)) + settings.burst;
    for (const Time when : {last_sent, now})  // while the port holds back too, and when it no longer does
        CHECK_EQUAL((microseconds(160) - credit).ps, (*scheduler.next_eligible(0b01, when) - origin).ps);
}

TEST(SchedulerRates, idleForMonthsIsNoDebtAndOneCredit) {
    for (const std::int64_t days : {1, 107, 150, 212, 214, 320}) {
        PortSchedule settings;
        settings.queue[0].max_rate = gigabits(1);
        Scheduler scheduler(settings);
        const auto head = [](unsigned) { return 625U; };  // 5 us at 1 Gb/s
        scheduler.sent(scheduler.pick(1, head, origin), 625, origin);
        Time now = origin;
        for (std::int64_t day = 0; day < days; ++day) now = now + seconds(86'400);
        int frames = 0;
        for (; scheduler.pick(1, head, now) == 0; ++frames) scheduler.sent(0, 625, now);
        // Credit: 10 us, a quantum and the longest frame, 88.192 us; a frame may go while any is left.
        CHECK_EQUAL(18, frames);
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
