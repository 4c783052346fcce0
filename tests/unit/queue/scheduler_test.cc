#include "lib/queue/scheduler.hh"

#include <array>
#include <cstdint>
#include <cstdlib>

#include "tests/unit/queue/scheduler_link.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::scheduler_test {

using namespace sluice::scheduler_link;

namespace {

constexpr std::uint32_t longest = wire_bytes(9216);

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
        // Bytes sent from earlier credit are already deducted.
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

TEST(Scheduler, queuesThatAreEmptiedOneByOneLeaveAsTheyArePicked) {
    unsigned one_by_one = 0, others = 0;
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        std::uint64_t draws = 0;
        const auto random = [&](std::uint64_t below) { return draw({seed, 0, 1, ++draws}) % below; };
        PortSchedule settings;
        for (QueueSchedule& queue : settings.queue) {
            queue.strict = random(4) == 0;
            queue.weight = static_cast<std::uint8_t>(1 + random(seed % 2 != 0 ? 255 : 3));
        }
        Scheduler picked(settings);
        for (unsigned n = static_cast<unsigned>(random(20)); n > 0; --n) {  // what was before
            const int queue =
                picked.pick(static_cast<std::uint8_t>(1 + random(255)), Backlog{seed, {}}, origin);
            picked.sent(queue, Backlog{seed, {}}(static_cast<unsigned>(queue)), origin);
            if (random(8) != 0) picked.became_empty(queue);
        }
        std::array<std::vector<std::uint32_t>, 8> frames;
        std::array<std::uint32_t, 8> wire{};
        std::uint8_t ready = 0;
        for (unsigned q = 0; q < 8; ++q)
            for (std::uint64_t n = random(2) * random(12); n > 0; --n) {
                frames[q].push_back(wire_bytes(static_cast<std::uint32_t>(60 + random(2) * random(600))));
                wire[q] += frames[q].back();
                ready = static_cast<std::uint8_t>(ready | 1U << q);
            }
        Scheduler emptied = picked;
        std::vector<int> order, expected;
        if (!emptied.empties_by_queue(ready, wire)) {
            ++others;
            continue;
        }
        one_by_one += (ready & (ready - 1)) != 0;
        emptied.empty_by_queue(ready, [&](ClassId queue) {
            for (std::size_t n = 0; n < frames[queue].size(); ++n) order.push_back(queue);
        });
        std::array<std::size_t, 8> next{};
        const auto head = [&](unsigned queue) { return frames[queue][next[queue]]; };
        for (std::uint8_t left = ready; left != 0;) {
            const int queue = picked.pick(left, head, origin);
            const auto q = static_cast<unsigned>(queue);
            picked.sent(queue, head(q), origin);
            expected.push_back(queue);
            if (++next[q] < frames[q].size()) continue;
            picked.became_empty(queue);
            left = static_cast<std::uint8_t>(left & ~(1U << q));
        }
        CHECK(expected == order);
        for (unsigned n = 0; n < 50; ++n) {  // and all that comes after
            const int queue = picked.pick(0xFF, Backlog{seed, {}}, origin);
            CHECK_EQUAL(queue, emptied.pick(0xFF, Backlog{seed, {}}, origin));
            for (Scheduler* scheduler : {&picked, &emptied})
                scheduler->sent(queue, Backlog{seed, {}}(static_cast<unsigned>(queue)), origin);
        }
    }
    CHECK(one_by_one > 500);
    CHECK(others > 500);
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

}  // namespace sluice::scheduler_test
