#include "lib/scheduler.hh"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/rng.hh"

#include "CppUTest/TestHarness.h"

using namespace sluice;

namespace {

using Weights = std::vector<std::uint8_t>;
__extension__ using Wide = __int128;

constexpr std::uint32_t longest = wire_bytes(9216);
constexpr Wide ps_rate_per_byte = 8'000'000'000'000;
constexpr Time origin{~std::uint64_t{0} - 1'000'000};  // Time wraps early in every run

PortSchedule dwrr(const Weights& weights) {
    PortSchedule settings;
    for (unsigned q = 0; q < weights.size(); ++q) settings.queue[q].weight = weights[q];
    return settings;
}

// Endless queues of 64, 1500 and 9216 B frames in a random order of their own.
struct Backlog {
    std::uint64_t seed = 1;
    std::array<std::uint64_t, 8> index{};
    std::uint32_t operator()(unsigned queue) const {
        constexpr std::array<std::uint32_t, 3> frame_bytes{64, 1500, 9216};
        return wire_bytes(frame_bytes[draw({seed, 0, queue, index[queue]}) % 3]);
    }
};

// Deficit round robin as the textbook has it, one visit after the other.
struct LoopedRounds {
    std::array<std::int64_t, 8> deficit{};
    std::array<std::int64_t, 8> quantum{};
    unsigned turn = 0;

    template <class Head>
    int pick(unsigned ready, Head head) {
        if ((ready >> turn & 1U) != 0 && deficit[turn] >= head(turn)) return static_cast<int>(turn);
        while (true) {
            turn = (turn + 1) % 8;
            if ((ready >> turn & 1U) == 0) continue;
            if (deficit[turn] < head(turn)) deficit[turn] += quantum[turn];
            if (deficit[turn] >= head(turn)) return static_cast<int>(turn);
        }
    }
};

// A link that sends what the scheduler picks; time passes as the frames take it, or jumps when a rate holds
// back.
struct Link {
    explicit Link(const PortSchedule& settings) : scheduler(settings) {}

    Scheduler scheduler;
    Rate speed = gigabits(10);
    Time now = origin;
    Backlog head{};
    std::array<std::uint64_t, 8> sent_bytes{};
    std::uint64_t total_bytes = 0;

    int send_one(std::uint8_t ready) {
        int queue = scheduler.pick(ready, head, now);
        while (queue < 0) {
            const auto when = scheduler.next_eligible(ready, now);
            CHECK(when.has_value());
            CHECK(now < *when);
            CHECK_EQUAL(-1, scheduler.pick(ready, head, *when - Duration{1}));
            now = *when;
            queue = scheduler.pick(ready, head, now);
        }
        const auto q = static_cast<unsigned>(queue);
        const std::uint32_t bytes = head(q);
        scheduler.sent(queue, bytes, now);
        now = now + speed.byte_time() * bytes;
        ++head.index[q];
        sent_bytes[q] += bytes;
        total_bytes += bytes;
        return queue;
    }
};

double share(const Link& link, unsigned queue) {
    return static_cast<double>(link.sent_bytes[queue]) / static_cast<double>(link.total_bytes);
}

std::uint8_t all_of(const Weights& weights) { return static_cast<std::uint8_t>((1U << weights.size()) - 1); }

}  // namespace

TEST_GROUP(Scheduler){};

TEST(Scheduler, servesNothingWhenNothingIsReady) {
    Scheduler scheduler;
    CHECK_EQUAL(-1, scheduler.pick(0, Backlog{}, origin));
    CHECK(!scheduler.next_eligible(0, origin));
}

TEST(Scheduler, neverServesAQueueThatIsNotReady) {
    Link link(dwrr({1, 2, 3, 4, 5, 6, 7, 8}));
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        const auto ready = static_cast<std::uint8_t>(draw({3, 0, 0, n}) % 255 + 1);
        CHECK((ready >> link.send_one(ready) & 1) != 0);
    }
}

TEST(Scheduler, strictBeatsDeficitAndTheHigherIndexWins) {
    PortSchedule settings = dwrr({50, 1, 1, 50, 1, 1, 1, 1});
    settings.queue[6].strict = settings.queue[1].strict = true;
    Link link(settings);
    for (int n = 0; n < 100; ++n) CHECK_EQUAL(6, link.send_one(0b0100'1011));
    for (int n = 0; n < 100; ++n) CHECK_EQUAL(1, link.send_one(0b0000'1011));
    CHECK_EQUAL(0, link.scheduler.deficit(6));
    CHECK_EQUAL(7, link.send_one(0b1000'0000));
}

TEST(Scheduler, sharesAreWithinOnePerCentOfTheWeights) {
    const std::uint64_t run_bytes = 1000 * 8 * 255 * std::uint64_t{quantum_bytes_per_weight};
    for (const Weights& weights :
         {Weights{50, 50}, Weights{1, 2, 3, 4, 5, 6, 7, 8}, Weights{14, 14, 14, 15, 15, 14, 14},
          Weights{1, 1, 1, 1, 1, 1, 1, 1}, Weights{255, 255, 255, 255, 255, 255, 255, 255}, Weights{255, 1},
          Weights{10, 100, 20}}) {
        Link link(dwrr(weights));
        while (link.total_bytes < run_bytes) link.send_one(all_of(weights));
        unsigned sum = 0;
        for (const unsigned weight : weights) sum += weight;
        for (unsigned q = 0; q < weights.size(); ++q) {
            const double due = static_cast<double>(weights[q]) / sum;
            DOUBLES_EQUAL(due, share(link, q), due / 100);
        }
    }
}

// Sharper than the law: L_max counts over the weight of the queue that lags, not whole.
TEST(Scheduler, lagStaysWithinItsBoundAtEveryPacket) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        PortSchedule settings;
        for (unsigned q = 0; q < 8; ++q)
            settings.queue[q].weight =
                static_cast<std::uint8_t>(draw({seed, 0, q, 0}) % (seed % 2 != 0 ? 255 : 4) + 1);
        Link link(settings);
        link.head.seed = seed;
        for (int n = 0; n < 2'000; ++n) {
            link.send_one(0xFF);
            for (unsigned i = 0; i < 8; ++i) {
                for (unsigned j = 0; j < i; ++j) {
                    const auto wi = settings.queue[i].weight;
                    const auto wj = settings.queue[j].weight;
                    const auto lag = static_cast<std::int64_t>(link.sent_bytes[i]) * wj -
                                     static_cast<std::int64_t>(link.sent_bytes[j]) * wi;
                    CHECK(std::abs(lag) <=
                          quantum_bytes_per_weight * wi * wj + std::int64_t{longest} * std::max(wi, wj));
                }
            }
        }
    }
}

TEST(Scheduler, sevenQueuesRunDryTogether) {
    const Weights weights{14, 14, 14, 15, 15, 14, 14};
    constexpr std::array<std::uint32_t, 3> frame_bytes{1476, 1500, 1524};
    for (unsigned sizes = 0; sizes < 6; ++sizes) {
        for (unsigned offset = 0; offset < 200; ++offset) {
            Scheduler scheduler(dwrr(weights));
            std::array<unsigned, 7> index{};
            // All queues alike, each queue a size of its own, or mixed within each queue.
            const auto head = [&](unsigned q) {
                const unsigned which = sizes < 3 ? sizes : sizes == 3 ? q : sizes == 4 ? q + index[q] : q / 3;
                return wire_bytes(frame_bytes[which % 3]);
            };
            const auto serve = [&] {
                const int queue = scheduler.pick(0x7F, head, origin);
                scheduler.sent(queue, head(static_cast<unsigned>(queue)), origin);
                ++index[static_cast<unsigned>(queue)];
                return static_cast<unsigned>(queue);
            };
            for (unsigned n = 0; n < offset; ++n) serve();
            std::array<unsigned, 7> left{};
            for (unsigned q = 0; q < 7; ++q) left[q] = weights[q] * 10U;
            while (--left[serve()] != 0) continue;
            unsigned others = 0;
            for (const unsigned packets : left) others += packets;
            CHECK(others <= 80);
        }
    }
}

TEST(Scheduler, pausedQueueKeepsItsDeficitAndGetsNoQuantum) {
    Link link(dwrr({20, 30, 40}));
    for (int n = 0; n < 1000; ++n) {
        const int paused = link.send_one(0b111);  // in the middle of its turn, mostly
        const std::int32_t before = link.scheduler.deficit(paused);
        for (int m = 0; m < n % 50; ++m) link.send_one(static_cast<std::uint8_t>(0b111 & ~(1 << paused)));
        CHECK_EQUAL(before, link.scheduler.deficit(paused));
    }
}

TEST(Scheduler, interruptedTurnIsFinishedWithoutANewQuantum) {
    Scheduler scheduler(dwrr({10, 10}));
    const auto head = [](unsigned) { return 1000U; };
    const int first = scheduler.pick(0b11, head, origin);
    scheduler.sent(first, 1000, origin);
    CHECK_EQUAL(5120 - 1000, scheduler.deficit(first));
    const auto other = static_cast<std::uint8_t>(0b11 & ~(1 << first));
    for (int n = 0; n < 7; ++n) scheduler.sent(scheduler.pick(other, head, origin), 1000, origin);
    CHECK_EQUAL(5120 - 1000, scheduler.deficit(first));
    while (scheduler.pick(0b11, head, origin) != first) scheduler.sent(1 - first, 1000, origin);
    CHECK_EQUAL(5120 - 1000, scheduler.deficit(first));
}

TEST(Scheduler, emptyQueueLosesItsDeficit) {
    Link link(dwrr({20, 30}));
    for (int n = 0; n < 100; ++n) {
        const int queue = link.send_one(0b11);
        link.scheduler.became_empty(queue);
        CHECK_EQUAL(0, link.scheduler.deficit(queue));
    }
}

TEST(Scheduler, pickIsRepeatable) {
    Link link(dwrr({1, 5, 9}));
    for (int n = 0; n < 1000; ++n) {
        const int queue = link.scheduler.pick(0b111, link.head, link.now);
        const std::int32_t deficit = link.scheduler.deficit(queue);
        CHECK_EQUAL(queue, link.scheduler.pick(0b111, link.head, link.now));
        CHECK_EQUAL(deficit, link.scheduler.deficit(queue));
        link.send_one(0b111);
    }
}

TEST(Scheduler, creditSaysWhatPickWouldSay) {
    PortSchedule settings = dwrr({1, 5, 9, 40});
    settings.queue[7].strict = true;
    Link link(settings);
    unsigned yes = 0;
    for (std::uint64_t n = 0; n < 10'000; ++n) {
        const std::uint8_t ready = n % 100 < 10 ? 0b1000'1111 : 0b1111;
        const int queue = link.send_one(ready);
        // What has been sent of the credit before is taken off it already.
        const auto head = static_cast<std::int32_t>(link.head(static_cast<unsigned>(queue)));
        if (link.scheduler.credit(queue) < head) continue;
        ++yes;
        CHECK_EQUAL(queue, link.scheduler.pick(ready, link.head, link.now));
    }
    CHECK(yes > 5'000);
    settings.shaper = gigabits(5);
    link.scheduler.configure(settings);
    CHECK_EQUAL(0, link.scheduler.credit(link.send_one(0xFF)));
}

TEST(Scheduler, theOnlyFrameOfTheOnlyQueueLeavesAsIfItHadBeenChosen) {
    PortSchedule settings = dwrr({1, 3, 1, 9, 2, 1, 40});
    settings.queue[7].strict = true;
    Scheduler chosen(settings);
    Scheduler only(settings);
    const Backlog head{5};
    unsigned alone = 0;
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        const std::uint64_t drawn = draw({9, 0, 0, n});
        const auto one = static_cast<unsigned>(drawn >> 8 & 7);
        const bool is_alone = drawn % 3 == 0;
        const auto ready = static_cast<std::uint8_t>(is_alone ? 1U << one : drawn >> 16 & 0xFF);
        const int queue = chosen.pick(ready, head, origin);
        if (queue < 0) continue;
        chosen.sent(queue, head(static_cast<unsigned>(queue)), origin);
        if (is_alone) {
            chosen.became_empty(queue);
            CHECK(only.send_only(queue));
            ++alone;
        } else {
            CHECK_EQUAL(queue, only.pick(ready, head, origin));
            only.sent(queue, head(static_cast<unsigned>(queue)), origin);
        }
        for (int q = 0; q < 8; ++q) CHECK_EQUAL(chosen.deficit(q), only.deficit(q));
    }
    CHECK(alone > 5000);
    settings.queue[2].max_rate = gigabits(1);
    only.configure(settings);
    CHECK_FALSE(only.send_only(2));  // rates have a say
}

TEST(Scheduler, weightsChangeLive) {
    Link link(dwrr({1, 9}));
    while (link.total_bytes < 100'000'000) link.send_one(0b11);
    DOUBLES_EQUAL(0.1, share(link, 0), 0.001);
    const std::array before{link.scheduler.deficit(0), link.scheduler.deficit(1)};
    link.scheduler.configure(dwrr({30, 10}));
    CHECK_EQUAL(before[0], link.scheduler.deficit(0));
    CHECK_EQUAL(before[1], link.scheduler.deficit(1));
    link.sent_bytes = {};
    link.total_bytes = 0;
    while (link.total_bytes < 100'000'000) link.send_one(0b11);
    DOUBLES_EQUAL(0.75, share(link, 0), 0.0075);
}

TEST(Scheduler, cutWeightCutsTheTurnThatRuns) {
    Scheduler scheduler(dwrr({255, 255}));
    const auto head = [](unsigned) { return 84U; };
    const int queue = scheduler.pick(0b11, head, origin);
    CHECK_EQUAL(255 * 512, scheduler.deficit(queue));
    scheduler.configure(dwrr({1, 1}));
    CHECK(scheduler.deficit(queue) < 512 + static_cast<int>(wire_bytes(max_frame_bytes)));
    PortSchedule strict = dwrr({1, 1});
    strict.queue[static_cast<unsigned>(queue)].strict = true;
    scheduler.configure(strict);
    CHECK_EQUAL(0, scheduler.deficit(queue));
}

TEST(Scheduler, frameAboveTheQuantumTakesTheRoundsItNeeds) {
    Scheduler scheduler(dwrr({1, 1}));
    const auto head = [](unsigned queue) { return queue == 0 ? 9240U : 84U; };
    unsigned small = 0;
    for (int queue = scheduler.pick(0b11, head, origin); queue != 0;
         queue = scheduler.pick(0b11, head, origin)) {
        scheduler.sent(queue, 84, origin);
        ++small;
    }
    CHECK_EQUAL(19 * 512, scheduler.deficit(0));  // 18 x 512 = 9216 < 9240
    CHECK_EQUAL(19 * 512 / 84, small);            // queue 1 comes first in each of the 19 rounds
}

TEST(Scheduler, computedRoundsEqualLoopedRounds) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        LoopedRounds reference;
        Scheduler scheduler;
        std::uint64_t draws = 0;
        const auto random = [&](std::uint64_t below) { return draw({seed, 0, 0, ++draws}) % below; };
        Backlog head{seed, {}};
        for (int n = 0; n < 2'000; ++n) {
            if (n % 500 == 0) {
                for (auto& deficit : reference.deficit) deficit = 0;
                PortSchedule settings;
                for (unsigned q = 0; q < 8; ++q) {
                    settings.queue[q].weight = static_cast<std::uint8_t>(1 + random(seed % 3 == 0 ? 255 : 3));
                    reference.quantum[q] = settings.queue[q].weight * 512;
                    scheduler.became_empty(static_cast<int>(q));
                }
                scheduler.configure(settings);
            }
            const auto ready = static_cast<std::uint8_t>(seed % 4 == 0 ? 1 + random(255) : 0xFF);
            const int queue = scheduler.pick(ready, head, origin);
            CHECK_EQUAL(reference.pick(ready, head), queue);
            const auto q = static_cast<unsigned>(queue);
            if (random(10) != 0) {  // now and then the operator discards instead
                scheduler.sent(queue, head(q), origin);
                reference.deficit[q] -= head(q);
            }
            ++head.index[q];
            if (random(20) == 0) {
                scheduler.became_empty(queue);
                reference.deficit[q] = 0;
            }
            for (unsigned i = 0; i < 8; ++i)
                CHECK_EQUAL(reference.deficit[i], scheduler.deficit(static_cast<int>(i)));
        }
    }
}

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
