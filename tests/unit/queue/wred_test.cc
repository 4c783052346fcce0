#include "lib/queue/wred.hh"

#include <array>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::wred_test {
namespace {

constexpr std::uint64_t half = certainty / 2;

EcnBits packet(Ecn ecn, Color color = Color::green, bool exempt = false) {
    return EcnBits::of(ecn, color, exempt);
}

WredProfile profile_of(const WredCurve& curve) {
    WredProfile profile;
    profile.color.fill(curve);
    return profile;
}

// A queue's verdicts with a fixed draw.
struct Queue {
    WredProfile profile;
    bool lossless = true;
    std::uint32_t drawn = 0;
    WredQueue queue{};
    unsigned draws = 0;

    WredVerdict arrival(EcnBits bits, std::uint64_t length) {
        return queue
            .arrival(profile, bits, lossless, length, Time{}, nanoseconds(7),
                     [&] {
                         ++draws;
                         return drawn;
                     })
            .verdict;
    }
    WredVerdict departure(EcnBits bits, std::uint64_t behind, Duration sojourn = {}) {
        return queue
            .departure(profile, bits, behind, sojourn,
                       [&] {
                           ++draws;
                           return drawn;
                       })
            .verdict;
    }
};

}  // namespace

TEST_GROUP(Wred){};

TEST(Wred, colorsAreTheDropPrecedenceOfAssuredForwarding) {
    // RFC 2597, section 6: AF11 is 10, AF12 12, AF13 14; AF43 is 38.
    const std::array<std::uint8_t, 4> first{10, 18, 26, 34};
    for (const std::uint8_t dscp : first) {
        CHECK_TRUE(color_of(dscp) == Color::green);
        CHECK_TRUE(color_of(static_cast<std::uint8_t>(dscp + 2)) == Color::yellow);
        CHECK_TRUE(color_of(static_cast<std::uint8_t>(dscp + 4)) == Color::red);
    }
    unsigned others = 0;
    for (std::uint8_t dscp = 0; dscp < 64; ++dscp) others += color_of(dscp) != Color::green ? 1 : 0;
    LONGS_EQUAL(8, others);  // 2 of each of the four
}

TEST(Wred, aCurveIsZeroThenLinearThenOne) {
    const WredCurve curve(1000, 3000, half);
    LONGS_EQUAL(0, curve.probability(0));
    LONGS_EQUAL(0, curve.probability(999));
    LONGS_EQUAL(0, curve.probability(1000));
    LONGS_EQUAL(half / 2, curve.probability(2000));
    CHECK_TRUE(curve.probability(2999) < half);
    CHECK_TRUE(curve.probability(2999) > half - half / 1000);
    CHECK_TRUE(curve.probability(3000) == certainty);
    CHECK_TRUE(curve.probability(UINT64_MAX) == certainty);
}

TEST(Wred, equalEndsAreAStep) {
    const WredCurve curve(1000, 1000, half);
    LONGS_EQUAL(0, curve.probability(999));
    CHECK_TRUE(curve.probability(1000) == certainty);
    LONGS_EQUAL(0, WredCurve{}.probability(1ULL << 50));
}

TEST(Wred, hugeCurvesDoNotWrap) {
    const WredCurve curve(0, (1ULL << 48) - 1, certainty);
    std::uint64_t before = 0;
    for (unsigned bit = 0; bit < 48; ++bit) {
        const std::uint64_t now = curve.probability((1ULL << bit) - 1);
        CHECK_TRUE(now >= before);
        before = now;
    }
    CHECK_TRUE(before > half - half / 100 && before < half + half / 100);
}

TEST(Wred, marksEctAtDequeueByWhatStaysBehind) {
    Queue queue{profile_of({1000, 1000, certainty})};
    CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 5000) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 1000) == WredVerdict::mark);
    CHECK_TRUE(queue.departure(packet(Ecn::ect1), 1000) == WredVerdict::mark);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 999) == WredVerdict::pass);
    LONGS_EQUAL(0, queue.draws);  // nothing was left to chance
}

TEST(Wred, marksEctAtEnqueueByWhatLiesBefore) {
    Queue queue{profile_of({1000, 1000, certainty})};
    queue.profile.mark_at = MarkAt::enqueue;
    CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 1000) == WredVerdict::mark);
    CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 999) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 5000) == WredVerdict::pass);
}

TEST(Wred, marksByTheTimeInTheQueue) {
    Queue queue{profile_of({0, 0, certainty})};
    queue.profile.mark_at = MarkAt::sojourn;
    queue.profile.sojourn = {static_cast<std::uint64_t>(microseconds(10).ps),
                             static_cast<std::uint64_t>(microseconds(30).ps), certainty};
    queue.drawn = static_cast<std::uint32_t>(half);
    CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 1 << 20) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 1 << 20, microseconds(9)) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 0, microseconds(19)) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 0, microseconds(21)) == WredVerdict::mark);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 0, microseconds(30)) == WredVerdict::mark);
}

TEST(Wred, neverMarksNotEctNorCeNorACnp) {
    for (const MarkAt where : {MarkAt::dequeue, MarkAt::enqueue, MarkAt::sojourn}) {
        Queue queue{profile_of({0, 0, certainty})};
        queue.profile.mark_at = where;
        queue.profile.sojourn = {0, 0, certainty};
        for (const EcnBits bits :
             {packet(Ecn::not_ect), packet(Ecn::ce), packet(Ecn::ect0, Color::green, true)}) {
            CHECK_TRUE(queue.arrival(bits, 1 << 20) == WredVerdict::pass);
            CHECK_TRUE(queue.departure(bits, 1 << 20, seconds(1)) == WredVerdict::pass);
        }
    }
}

TEST(Wred, dropsNotEctOfALossyQueueAndOfALosslessOneWhenToldTo) {
    Queue queue{profile_of({1000, 1000, certainty})};
    queue.lossless = false;
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect), 1000) == WredVerdict::drop);
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect), 999) == WredVerdict::pass);
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect, Color::green, true), 1000) == WredVerdict::pass);  // a CNP
    queue.lossless = true;
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect), 1000) == WredVerdict::pass);
    queue.profile.drop_non_ect = true;
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect), 1000) == WredVerdict::drop);
}

TEST(Wred, marksWithoutDropsWhenNotEctIsNotToBeDropped) {
    for (const bool lossless : {false, true})
        for (const bool ecn : {true, false}) {
            Queue queue{profile_of({1000, 1000, certainty})};
            queue.lossless = lossless;
            queue.profile.mark_at = MarkAt::enqueue;
            queue.profile.ecn = ecn;
            queue.profile.drop_non_ect = false;
            CHECK_FALSE(WredQueue::looks_at_arrival(queue.profile, packet(Ecn::not_ect), lossless));
            for (const Ecn other : {Ecn::not_ect, Ecn::ce})
                CHECK_TRUE(queue.arrival(packet(other), 1 << 20) == WredVerdict::pass);
            CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 1000) ==
                       (ecn ? WredVerdict::mark : WredVerdict::pass));
        }
}

TEST(Wred, plainRedMarksNothingAndDropsEctOfALossyQueueAsOthers) {
    for (const MarkAt where : {MarkAt::dequeue, MarkAt::enqueue, MarkAt::sojourn}) {
        Queue queue{profile_of({1000, 1000, certainty})};
        queue.profile.mark_at = where;
        queue.profile.sojourn = {0, 0, certainty};
        queue.profile.ecn = false;
        for (const Ecn ecn : {Ecn::not_ect, Ecn::ect0, Ecn::ect1, Ecn::ce}) {
            queue.lossless = false;
            CHECK_TRUE(queue.arrival(packet(ecn), 999) == WredVerdict::pass);
            CHECK_TRUE(queue.arrival(packet(ecn), 1000) == WredVerdict::drop);
            CHECK_TRUE(queue.arrival(packet(ecn, Color::green, true), 1000) == WredVerdict::pass);  // a CNP
            queue.lossless = true;
            CHECK_TRUE(queue.arrival(packet(ecn), 1000) == WredVerdict::pass);
            CHECK_TRUE(queue.departure(packet(ecn), 1000, seconds(1)) == WredVerdict::pass);
        }
        queue.profile.drop_non_ect = true;  // still means those alone
        CHECK_TRUE(queue.arrival(packet(Ecn::not_ect), 1000) == WredVerdict::drop);
        CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 1000) == WredVerdict::pass);
    }
}

TEST(Wred, everyColorHasItsCurveAndEctMayHaveOne) {
    Queue queue{profile_of({4000, 4000, certainty})};
    queue.profile.color[1] = {2000, 2000, certainty};
    queue.profile.color[2] = {1000, 1000, certainty};
    CHECK_TRUE(queue.departure(packet(Ecn::ect0, Color::green), 3000) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0, Color::yellow), 1500) == WredVerdict::pass);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0, Color::yellow), 3000) == WredVerdict::mark);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0, Color::red), 1500) == WredVerdict::mark);
    queue.profile.has_ect = true;
    queue.profile.ect = {500, 500, certainty};
    queue.lossless = false;
    CHECK_TRUE(queue.departure(packet(Ecn::ect0, Color::green), 600) == WredVerdict::mark);
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect, Color::red), 600) == WredVerdict::pass);
    CHECK_TRUE(queue.arrival(packet(Ecn::not_ect, Color::red), 1000) == WredVerdict::drop);
}

TEST(Wred, cePacketsAskTheCurveOfEct) {
    Queue queue{profile_of({4000, 4000, certainty})};
    queue.profile.has_ect = true;
    queue.profile.ect = {500, 500, certainty};
    queue.profile.ecn = false;
    queue.lossless = false;
    CHECK_TRUE(queue.arrival(packet(Ecn::ce), 499) == WredVerdict::pass);
    CHECK_TRUE(queue.arrival(packet(Ecn::ce), 500) == WredVerdict::drop);
}

TEST(Wred, aDrawBelowTheProbabilityMarks) {
    Queue queue{profile_of({0, 2000, half})};
    const auto probability = static_cast<std::uint32_t>(half / 2);  // at 1000
    queue.drawn = probability - 1;
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 1000) == WredVerdict::mark);
    queue.drawn = probability;
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 1000) == WredVerdict::pass);
    LONGS_EQUAL(2, queue.draws);
}

TEST(Wred, theAverageOfASteadyQueueIsItsLength) {
    for (const std::uint8_t weight : {1, 5, 9, 15}) {
        AverageLength average;
        for (unsigned i = 0; i < 20U << weight; ++i) average.arrival(100'000, weight, Time{}, nanoseconds(7));
        CHECK_TRUE(average.bytes() >= 99'999 && average.bytes() <= 100'000);
    }
}

TEST(Wred, marksAtDequeueByTheAverage) {
    Queue queue{profile_of({1000, 1000, certainty})};
    LONGS_EQUAL(1000, queue.profile.unmarked_below_bytes(packet(Ecn::ect0)));
    queue.profile.weight = 9;
    LONGS_EQUAL(0, queue.profile.unmarked_below_bytes(packet(Ecn::ect0)));
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 100'000) == WredVerdict::pass);
    for (unsigned i = 0; i < 10'000; ++i) queue.arrival(packet(Ecn::ect0), 100'000);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 256) == WredVerdict::mark);
    CHECK_TRUE(queue.departure(packet(Ecn::ect0), 0) == WredVerdict::pass);
}

TEST(Wred, anAverageLivesThroughAChangeOfItsWeight) {
    AverageLength average;
    for (unsigned i = 0; i < 10'000; ++i) average.arrival(100'000, 5, Time{}, nanoseconds(7));
    average.arrival(100'000, 9, Time{}, nanoseconds(7));
    CHECK_TRUE(average.bytes() >= 99'990 && average.bytes() <= 100'000);
    average.arrival(100'000, 2, Time{}, nanoseconds(7));
    CHECK_TRUE(average.bytes() >= 99'990 && average.bytes() <= 100'000);
}

TEST(Wred, anEmptyQueueDropsAndMarksNothingWhateverItsAverage) {
    Queue queue{profile_of({1000, 1000, certainty})};
    queue.profile.weight = 9;
    queue.profile.mark_at = MarkAt::enqueue;
    for (unsigned i = 0; i < 10'000; ++i) queue.arrival(packet(Ecn::ect0), 100'000);
    CHECK_TRUE(queue.queue.average_bytes() > 90'000);
    CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 0) == WredVerdict::pass);
    CHECK_TRUE(queue.arrival(packet(Ecn::ect0), 256) == WredVerdict::mark);  // the average is still high
}

}  // namespace sluice::wred_test
