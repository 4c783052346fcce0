#include "lib/pfc/pfc_generator.hh"

#include <array>
#include <cstdint>
#include <optional>

#include "lib/pfc/pfc_honor.hh"
#include "lib/pfc/pfc_mode.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pfc_generator_test {
namespace {

constexpr Time before_wrap{~std::uint64_t{0} - 1'000'000};
constexpr Duration tick{1};
constexpr std::uint8_t lossless = 0b0001'1000;
constexpr Duration half_pause{0xFFFF * 5'120 / 2};  // at 100G

}  // namespace

TEST_GROUP(PfcGenerator) {
    PfcGenerator generator;

    void setup() override { generator.configure({.lossless = lossless, .may_send = lossless}); }
    std::optional<PauseMap> decide(std::uint8_t xoff, std::uint8_t xon, Duration at) {
        return generator.decide(xoff, xon, before_wrap + at);
    }
};

TEST(PfcGenerator, saysNothingWithoutCause) {
    CHECK(!decide(0, 0, {}));
    CHECK(!decide(0, 0xFF, {}));  // XON for priorities that were never off
    CHECK(!generator.next_refresh());
    CHECK(!generator.decide(0, generator.asserted(), before_wrap));
}

TEST(PfcGenerator, sendsNothingInAModeThatDoesNotSend) {
    for (const PfcMode mode : {PfcMode::semi_lossless, PfcMode::off}) {
        generator.configure({.lossless = lossless, .may_send = pfc_masks(mode, lossless).may_send});
        CHECK(!decide(lossless, 0, {}));
        CHECK_EQUAL(0, generator.asserted());
    }
}

TEST(PfcGenerator, oneFrameCarriesAllThatChanged) {
    CHECK((*decide(0b1'1000, 0, {}) == PauseMap{0b1'1000, {0, 0, 0, 0xFFFF, 0xFFFF}}));
    CHECK((*decide(0, 0b1'0000, tick) == PauseMap{0b1'0000, {}}));
    CHECK((*decide(0b1'0000, 0b0'1000, tick * 2) == PauseMap{0b1'1000, {0, 0, 0, 0, 0xFFFF}}));
}

TEST(PfcGenerator, repeatedWantIsSaidOnce) {
    CHECK(decide(0b1000, 0, {}).has_value());
    for (int n = 1; n < 100; ++n) CHECK(!decide(0b1000, 0, tick * n));
    CHECK(decide(0, 0b1000, tick * 100).has_value());
    for (int n = 101; n < 200; ++n) CHECK(!decide(0, 0b1000, tick * n));
    CHECK_EQUAL(1U, generator.counters(3).tx_xoff.get());
    CHECK_EQUAL(1U, generator.counters(3).tx_xon.get());
}

TEST(PfcGenerator, refreshesAtHalfThePauseTimeWhileOff) {
    for (const std::uint64_t speed : {1, 10, 25, 40, 50, 100, 200, 400, 800}) {
        for (const std::uint16_t quanta :
             {PfcSendSettings::min_quanta, std::uint16_t{1000}, std::uint16_t{0xFFFF}}) {
            PfcGenerator port;
            port.configure({.lossless = 1, .may_send = 1, .quanta = quanta, .rate = gigabits(speed)});
            const Duration half{static_cast<std::int64_t>(quanta * (512'000 / speed) / 2)};
            Time sent = before_wrap;
            CHECK(port.decide(1, 0, sent).has_value());
            for (int n = 0; n < 3; ++n) {
                CHECK((sent + half) == *port.next_refresh());
                CHECK(!port.decide(0, 0, sent + half - tick));
                sent = sent + half + tick * n;  // the timer runs from when it was sent
                CHECK((*port.decide(0, 0, sent) == PauseMap{1, {quanta}}));
            }
            CHECK_EQUAL(3U, port.counters(0).tx_refresh.get());
            CHECK_EQUAL(4U, port.counters(0).tx_xoff.get());
            CHECK_EQUAL(1U, port.counters(0).transitions.get());
            CHECK((*port.decide(0, 1, sent + half) == PauseMap{1, {}}));  // XON and not a last refresh
            CHECK(!port.next_refresh());
            CHECK(!port.decide(0, 0, sent + seconds(1)));
        }
    }
}

TEST(PfcGenerator, eachClassHasItsOwnRefresh) {
    decide(0b0'1000, 0, {});
    decide(0b1'0000, 0, half_pause / 2);
    CHECK_EQUAL(0b0'1000, decide(0, 0, half_pause)->class_enable);
    CHECK_EQUAL(0b1'0000, decide(0, 0, half_pause / 2 + half_pause)->class_enable);
    CHECK_EQUAL(0b1'1000,
                decide(0, 0b1'0000, half_pause * 2)->class_enable);  // a change and a refresh together
}

// A peer that honors our frames stays paused from XOFF to XON: no pause lapses between two refreshes.
TEST(PfcGenerator, peerNeverResumesBeforeXon) {
    PfcHonor peer;
    const Duration cable = nanoseconds(500);
    Time now = before_wrap;
    std::optional<PauseMap> map = generator.decide(0b1000, 0, now);
    for (int n = 0; n < 1'000; ++n) {
        peer.receive(*map, now + cable, now + cable, gigabits(100), 0xFF);
        now = *generator.next_refresh();
        CHECK_EQUAL(0b1000, peer.paused(now + cable));
        map = generator.decide(0, 0, now);
    }
    CHECK_EQUAL(0U, peer.counters(3).expired.get());
    peer.receive(*generator.decide(0, generator.asserted(), now), now + cable, now + cable, gigabits(100),
                 0xFF);
    CHECK_EQUAL(0, peer.paused(now + cable));
    CHECK_EQUAL(peer.counters(3).rx_xoff.get() + 1,
                generator.counters(3).tx_xoff.get());  // the last one is on the cable
}

TEST(PfcGenerator, releasesAllThatIsHeld) {
    decide(0b1'1000, 0, {});
    CHECK((*generator.decide(0, generator.asserted(), before_wrap + tick) == PauseMap{0b1'1000, {}}));
    CHECK_EQUAL(0, generator.asserted());
    CHECK(!generator.decide(0, generator.asserted(), before_wrap + tick * 2));
}

TEST(PfcGenerator, classThatLosesItsProfileIsReleased) {
    decide(0b1'1000, 0, {});
    generator.configure({.lossless = 0b1'0000, .may_send = 0b1'0000});
    CHECK((*decide(0, 0, tick) == PauseMap{0b0'1000, {}}));
    CHECK_EQUAL(0b1'0000, generator.asserted());
    generator.configure({.lossless = 0b1'0000, .may_send = 0});
    CHECK((*decide(0b1'0000, 0, tick * 2) == PauseMap{0b1'0000, {}}));
    CHECK_EQUAL(0, generator.asserted());
}

TEST(PfcGenerator, forgetsWithoutAWordWhenTheLinkGoesDown) {
    decide(0b1'1000, 0, {});
    generator.reset(before_wrap + nanoseconds(5));
    CHECK_EQUAL(0, generator.asserted());
    CHECK_EQUAL(0U, generator.counters(3).tx_xon.get());
    CHECK_EQUAL(5'000U, generator.counters(3).asserted_ps.get());
    CHECK(!decide(0, 0, half_pause * 3));
    CHECK_EQUAL(0b0'1000, decide(0b0'1000, 0, half_pause * 3)->class_enable);  // wanted again: said again
}

TEST(PfcGenerator, forgetsSomePrioritiesAndRefreshesTheOthers) {
    decide(0b1'1000, 0, {});
    generator.reset(before_wrap, 0b1000);
    CHECK_EQUAL(0b1'0000, generator.asserted());
    CHECK_EQUAL(0b1'0000, decide(0, 0, half_pause)->class_enable);
    CHECK_EQUAL(0U, generator.counters(3).tx_refresh.get());
}

TEST(PfcGenerator, runningPauseCountsWhileItRuns) {
    decide(0b1000, 0, {});
    CHECK_EQUAL(7'000, generator.asserted_time(3, before_wrap + nanoseconds(7)).ps);
    CHECK_EQUAL(0U, generator.counters(3).asserted_ps.get());
    generator.settle(before_wrap + nanoseconds(7));
    CHECK_EQUAL(7'000U, generator.counters(3).asserted_ps.get());
    CHECK_EQUAL(9'000, generator.asserted_time(3, before_wrap + nanoseconds(9)).ps);
    decide(0, 0b1000, nanoseconds(11));
    CHECK_EQUAL(11'000U, generator.counters(3).asserted_ps.get());
    CHECK_EQUAL(11'000, generator.asserted_time(3, before_wrap + seconds(9)).ps);
}

TEST(PfcGenerator, refreshesAfterTheEndOfThePauseAreLate) {
    decide(0b1000, 0, {});
    decide(0, 0, half_pause * 2);  // at its very end
    CHECK_EQUAL(0U, generator.counters(3).tx_late.get());
    decide(0, 0, half_pause * 4 + nanoseconds(3));
    decide(0, 0, half_pause * 6 + nanoseconds(8));
    CHECK_EQUAL(3U, generator.counters(3).tx_refresh.get());
    CHECK_EQUAL(2U, generator.counters(3).tx_late.get());
    CHECK_EQUAL(8'000U, generator.counters(3).unheld_ps.get());
    decide(0, 0b1000, half_pause * 20);  // an XON is not a refresh
    CHECK_EQUAL(2U, generator.counters(3).tx_late.get());
}

TEST(PfcGenerator, everyPairOfStateAndEvent) {
    struct Row {
        AssertState from;
        AssertEvent event;
        AssertState to;
        AssertAction action;
        std::uint64_t xoff, xon, refresh, transitions;
    };
    const Row rows[] = {
        {AssertState::on, AssertEvent::want_xoff, AssertState::off, AssertAction::send_xoff, 1, 0, 0, 1},
        {AssertState::on, AssertEvent::want_xon, AssertState::on, AssertAction::none, 0, 0, 0, 0},
        {AssertState::on, AssertEvent::refresh_due, AssertState::on, AssertAction::none, 0, 0, 0, 0},
        {AssertState::on, AssertEvent::link_down, AssertState::on, AssertAction::none, 0, 0, 0, 0},
        {AssertState::off, AssertEvent::want_xoff, AssertState::off, AssertAction::none, 1, 0, 0, 1},
        {AssertState::off, AssertEvent::want_xon, AssertState::on, AssertAction::send_xon, 1, 1, 0, 1},
        {AssertState::off, AssertEvent::refresh_due, AssertState::off, AssertAction::send_refresh, 2, 0, 1,
         1},
        {AssertState::off, AssertEvent::link_down, AssertState::on, AssertAction::none, 1, 0, 0, 1},
    };
    for (const Row& row : rows) {
        PfcGenerator port;
        port.configure({.lossless = 1, .may_send = 1});
        if (row.from == AssertState::off) port.step(0, AssertEvent::want_xoff, before_wrap);
        CHECK(port.step(0, row.event, before_wrap + tick) == row.action);
        CHECK(port.state(0) == row.to);
        CHECK_EQUAL(row.xoff, port.counters(0).tx_xoff.get());
        CHECK_EQUAL(row.xon, port.counters(0).tx_xon.get());
        CHECK_EQUAL(row.refresh, port.counters(0).tx_refresh.get());
        CHECK_EQUAL(row.transitions, port.counters(0).transitions.get());
        CHECK(port.next_refresh().has_value() == (row.to == AssertState::off));
        CHECK_EQUAL(row.from == AssertState::off ? 1 : 0, port.asserted_time(0, before_wrap + tick).ps);
    }
}

TEST(PfcGenerator, randomSequencesAgreeWithTheSlowReference) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        PfcGenerator port;
        std::uint64_t draws = 0;
        const auto random = [&](std::uint64_t below) { return draw({seed, 0, 0, ++draws}) % below; };
        std::array<std::optional<std::uint64_t>, 8> sent_at{};  // of classes that are off
        std::array<std::uint64_t, 8> asserted{};
        std::uint64_t now = 0;
        std::uint8_t may_send = 0xFF;
        port.configure({.lossless = 0xFF, .may_send = may_send, .quanta = 100});
        for (int n = 0; n < 2'000; ++n) {
            const std::uint64_t step = random(100'000);
            now += step;
            for (unsigned c = 0; c < 8; ++c) asserted[c] += sent_at[c] ? step : 0;
            if (random(100) == 0) {
                may_send = static_cast<std::uint8_t>(random(256) | random(256));
                port.configure({.lossless = 0xFF, .may_send = may_send, .quanta = 100});
            }
            const Time at = before_wrap + Duration{static_cast<std::int64_t>(now)};
            if (random(200) == 0) {
                port.reset(at);
                sent_at = {};
            }
            const auto xoff = static_cast<std::uint8_t>(random(256) & random(256));
            const auto xon = static_cast<std::uint8_t>(random(256) & random(256) & ~xoff);
            PauseMap expected;
            for (unsigned c = 0; c < 8; ++c) {
                const unsigned bit = 1U << c;
                const bool forbidden = (may_send & bit) == 0;
                bool said = false;
                if (sent_at[c] && (forbidden || (xon & bit) != 0)) {
                    sent_at[c].reset();
                    said = true;
                } else if ((!sent_at[c] && !forbidden && (xoff & bit) != 0) ||
                           (sent_at[c] && now - *sent_at[c] >= 256'000)) {
                    sent_at[c] = now;
                    expected.quanta[c] = 100;
                    said = true;
                }
                if (said) expected.class_enable = static_cast<std::uint8_t>(expected.class_enable | bit);
            }
            CHECK(port.decide(xoff, xon, at).value_or(PauseMap{}) == expected);
            std::optional<std::uint64_t> oldest;
            for (ClassId c = 0; c < 8; ++c) {
                CHECK((port.state(c) == AssertState::off) == sent_at[c].has_value());
                CHECK_EQUAL(asserted[c], static_cast<std::uint64_t>(port.asserted_time(c, at).ps));
                if (sent_at[c] && (!oldest || *sent_at[c] < *oldest)) oldest = sent_at[c];
            }
            CHECK(port.next_refresh().has_value() == oldest.has_value());
            if (oldest)
                CHECK((before_wrap + Duration{static_cast<std::int64_t>(*oldest + 256'000)}) ==
                      *port.next_refresh());
        }
    }
}

}  // namespace sluice::pfc_generator_test
