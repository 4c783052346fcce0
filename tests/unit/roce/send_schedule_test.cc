#include "lib/roce/send_schedule.hh"

#include <numeric>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::send_schedule_test {
namespace {

using namespace sluice::roce;

constexpr Time origin{~std::uint64_t{0} - 20'000'000};  // Time wraps 20 us into every test
constexpr unsigned all = 0xFF;
constexpr std::uint32_t bytes = 1024;
Time us(std::int64_t n) { return origin + microseconds(n); }

// Looks at every queue pair.
struct Naive {
    std::vector<ClassId> of_class;
    std::vector<std::optional<Time>> ready;

    std::optional<QpIndex> first(unsigned allowed) const {
        std::optional<QpIndex> best;
        for (QpIndex qp = 0; qp < ready.size(); ++qp)
            if (ready[qp] && (allowed >> of_class[qp] & 1U) != 0 && (!best || *ready[qp] < *ready[*best]))
                best = qp;
        return best;
    }
};

// A host's link that is never idle while someone is ready.
struct Link {
    SendSchedule schedule;
    std::vector<Rate> rate;
    std::vector<std::uint64_t> sent;
    Rate speed = gigabits(40);
    Time now = origin;

    Link(const std::vector<ClassId>& of_class, const std::vector<Rate>& rates)
        : schedule(of_class), rate(rates), sent(rates.size()) {
        for (QpIndex qp = 0; qp < rates.size(); ++qp) schedule.set_ready(qp, origin);
    }
    std::optional<QpIndex> send_one(unsigned allowed = all) {
        const auto next = schedule.next_time(allowed);
        if (!next) return std::nullopt;
        now = max(now, *next);
        const QpIndex qp = *schedule.next(now, allowed);
        ++sent[qp];
        schedule.set_ready(qp, now + pace(bytes, rate[qp]));
        now = now + speed.byte_time() * bytes;
        return qp;
    }
    void run_for(Duration span, unsigned allowed = all) {
        for (const Time end = now + span; now < end;) send_one(allowed);
    }
};

}  // namespace

TEST_GROUP(SendSchedule){};

TEST(SendSchedule, nobodyIsReadyAtFirst) {
    const SendSchedule empty(std::span<const ClassId>{});
    CHECK_FALSE(empty.next(us(0), all).has_value());
    const std::vector<ClassId> of_class{3, 3, 7};
    const SendSchedule schedule(of_class);
    CHECK_FALSE(schedule.next(us(0), all).has_value());
    CHECK_FALSE(schedule.next_time(all).has_value());
}

TEST(SendSchedule, nobodySendsBeforeItsTimeNorWhileItsClassIsHeld) {
    const std::vector<ClassId> of_class{3, 3, 7};
    SendSchedule schedule(of_class);
    schedule.set_ready(1, us(10));
    schedule.set_ready(2, us(20));
    CHECK_FALSE(schedule.next(us(10) - Duration{1}, all).has_value());
    CHECK_TRUE(schedule.next(us(10), all) == 1U);
    CHECK_FALSE(schedule.next(us(15), all & ~8U).has_value());
    CHECK_TRUE(schedule.next(us(20), all & ~8U) == 2U);
    CHECK_TRUE(schedule.next_time(all & ~8U) == us(20));
    CHECK_FALSE(schedule.next(us(20), 0).has_value());
    CHECK_TRUE(schedule.next(us(20), all) == 1U);  // it has waited longer
    schedule.set_idle(1);
    CHECK_TRUE(schedule.next(us(20), all) == 2U);
    schedule.set_ready(2, us(30));  // put off
    CHECK_FALSE(schedule.next(us(20), all).has_value());
    CHECK_TRUE(schedule.next_time(all) == us(30));
}

TEST(SendSchedule, equalTimesGoByIndexWhateverTheOrderOfTheCalls) {
    const std::vector<ClassId> of_class{5, 2, 5, 2, 0};
    SendSchedule schedule(of_class);
    for (const QpIndex qp : {3U, 0U, 4U, 2U, 1U}) schedule.set_ready(qp, us(0));
    for (QpIndex qp = 0; qp < 5; ++qp) {
        CHECK_TRUE(schedule.next(us(0), all) == qp);
        schedule.set_idle(qp);
    }
}

TEST(SendSchedule, agreesWithLookingAtEveryQueuePair) {
    unsigned sent = 0;
    for (const unsigned queue_pairs : {1U, 2U, 3U, 7U, 64U, 200U}) {
        Naive naive;
        const auto random = [&](std::uint64_t n, std::uint32_t what) {
            return draw({queue_pairs, what, 0, n});
        };
        for (QpIndex qp = 0; qp < queue_pairs; ++qp)
            naive.of_class.push_back(static_cast<ClassId>(random(qp, 0) % (queue_pairs < 8 ? 2 : 8)));
        naive.ready.resize(queue_pairs);
        SendSchedule schedule(naive.of_class);
        Time now = origin;
        for (std::uint64_t n = 0; n < 20'000; ++n) {
            now = now + nanoseconds(static_cast<std::int64_t>(random(n, 1) % 4));
            const auto allowed = static_cast<unsigned>(random(n, 2) % 3 == 0 ? random(n, 3) & all : all);
            const auto qp = static_cast<QpIndex>(random(n, 4) % queue_pairs);
            if (random(n, 5) % 4 == 0) {
                naive.ready[qp].reset();
                schedule.set_idle(qp);
            } else {
                naive.ready[qp] = now + nanoseconds(static_cast<std::int64_t>(random(n, 6) % 16));
                schedule.set_ready(qp, *naive.ready[qp]);
            }
            const auto first = naive.first(allowed);
            CHECK_TRUE(schedule.next_time(allowed) == (first ? naive.ready[*first] : std::nullopt));
            const bool sends = first && *naive.ready[*first] <= now;
            CHECK_TRUE(schedule.next(now, allowed).has_value() == sends);
            if (!sends) continue;
            LONGS_EQUAL(*first, *schedule.next(now, allowed));
            ++sent;
        }
    }
    CHECK_TRUE(sent > 10'000);  // or it compared nothing
}

TEST(SendSchedule, paceIsNeverFasterThanTheRate) {
    LONGS_EQUAL(204'800, pace(1024, gigabits(40)).ps);
    LONGS_EQUAL(2'666'666'666'667, pace(1'000'000, {3'000'000}).ps);
    LONGS_EQUAL(1, pace(0, {1}).ps + 1);
    LONGS_EQUAL(16'777'216'000'000'000'000ULL / 800'000'000'000, pace(1U << 21, gigabits(800)).ps);
}

TEST(SendSchedule, thoseThatWantMoreThanTheLinkTakeTurns) {
    Link link(std::vector<ClassId>(10, 3), std::vector<Rate>(10, gigabits(40)));
    std::vector<QpIndex> order;
    for (int n = 0; n < 40; ++n) order.push_back(*link.send_one());
    for (unsigned n = 0; n < 40; ++n) LONGS_EQUAL(n % 10, order[n]);
}

TEST(SendSchedule, eachHasItsRateAndTheGreedyShareTheRest) {
    const std::vector<Rate> rates{gigabits(1),  gigabits(2),  gigabits(5),
                                  gigabits(40), gigabits(30), gigabits(40)};
    Link link({0, 1, 2, 3, 3, 7}, rates);
    link.run_for(milliseconds(1));
    const auto gbps = [&](QpIndex qp) { return static_cast<double>(link.sent[qp]) * bytes * 8 / 1e6; };
    // A wait for the wire, of up to five packets, delays the next packet, too.
    for (const QpIndex qp : {0U, 1U, 2U}) {
        const double rate = static_cast<double>(rates[qp].bits_per_second) / 1e9;
        CHECK_TRUE(gbps(qp) <= rate * 1.001 && gbps(qp) > 1 / (1 / rate + 5.0 / 40));
    }
    const double rest = (40 - gbps(0) - gbps(1) - gbps(2)) / 3;
    for (const QpIndex qp : {3U, 4U, 5U}) DOUBLES_EQUAL(rest, gbps(qp), 0.02);
}

TEST(SendSchedule, aHeldClassStopsNobodyElseAndThenTakesItsTurn) {
    Link link({3, 3, 4, 4}, std::vector<Rate>(4, gigabits(40)));
    link.run_for(microseconds(100), all & ~8U);
    LONGS_EQUAL(0, link.sent[0] + link.sent[1]);
    CHECK_TRUE(link.sent[2] + link.sent[3] >= 488);
    // A packet each for having waited, then turns again.
    std::vector<QpIndex> order;
    for (int n = 0; n < 6; ++n) order.push_back(*link.send_one());
    LONGS_EQUAL(0, order[0]);
    LONGS_EQUAL(1, order[1]);
    const std::vector<std::uint64_t> before = link.sent;
    link.run_for(microseconds(100));
    for (QpIndex qp = 0; qp < 4; ++qp)
        DOUBLES_EQUAL(122.5, static_cast<double>(link.sent[qp] - before[qp]), 1);
}

TEST(SendSchedule, queuePairsComeWithAnyClass) {
    SendSchedule schedule(std::vector<ClassId>{3});
    schedule.set_ready(0, us(5));
    schedule.resize(3);
    schedule.set_class(1, 3);
    schedule.set_class(2, 5);
    CHECK_TRUE(*schedule.next_time(all) == us(5));
    schedule.set_ready(1, us(4));
    schedule.set_ready(2, us(3));
    LONGS_EQUAL(2, *schedule.next(us(5), all));
    LONGS_EQUAL(1, *schedule.next(us(5), 1U << 3));
    schedule.set_idle(2);
    schedule.set_class(2, 3);
    schedule.set_ready(2, us(2));
    LONGS_EQUAL(2, *schedule.next(us(5), 1U << 3));
    CHECK_FALSE(schedule.next_time(1U << 5).has_value());
}

TEST(SendSchedule, tenThousandQueuePairsShareEvenly) {
    std::vector<ClassId> of_class(10'000);
    for (QpIndex qp = 0; qp < of_class.size(); ++qp) of_class[qp] = static_cast<ClassId>(qp % 8);
    Link link(of_class, std::vector<Rate>(of_class.size(), Rate{100'000'000}));
    for (unsigned n = 0; n < 50'000; ++n) link.send_one();
    for (const std::uint64_t packets : link.sent) LONGS_EQUAL(5, packets);
}

}  // namespace sluice::send_schedule_test
