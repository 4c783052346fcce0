#include "lib/pfc/pfc_honor.hh"
#include "lib/values/class_mask.hh"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pfc_honor_test {
namespace {

constexpr Time before_wrap{~std::uint64_t{0} - 1'000'000};
constexpr Duration tick{1};

PauseMap pause(ClassId priority, std::uint16_t quanta) {
    PauseMap map{static_cast<std::uint8_t>(1U << priority), {}};
    map.quanta[priority] = quanta;
    return map;
}

// The law, slowly: intervals on a scale that does not wrap. A frame counts from its start, time from its end.
struct SlowHonor {
    struct Class {
        std::optional<std::uint64_t> deadline;  // of the obeyed pause
        std::optional<std::uint64_t> ignored;
        bool suspended = false;
        std::uint64_t xoff = 0, xon = 0, unexpected = 0, expired = 0, transitions = 0;
        std::uint64_t from = 0, closed_ps = 0;

        std::uint64_t paused_ps(std::uint64_t at) const {
            const std::uint64_t to = deadline ? std::min(at, *deadline) : from;
            return closed_ps + (to > from ? to - from : 0);
        }
        void close(std::uint64_t at) {
            closed_ps = paused_ps(at);
            deadline.reset();
        }
        void open(std::uint64_t at, std::uint64_t until) {
            if (!deadline) ++transitions, from = at;
            deadline = until;
        }
    };
    std::array<Class, 8> of{};
    std::uint64_t now = 0;

    void advance(std::uint64_t to) {
        now = to;
        for (Class& c : of) {
            if (c.ignored && *c.ignored <= now) c.ignored.reset();
            if (!c.deadline || *c.deadline > now) continue;
            ++c.expired;
            c.close(now);
        }
    }
    void receive(const PauseMap& map, std::uint64_t end, std::uint64_t quantum_ps, unsigned enabled) {
        for (unsigned n = 0; n < 8; ++n) {
            if ((map.class_enable >> n & 1U) == 0) continue;
            Class& c = of[n];
            if ((enabled >> n & 1U) == 0) {
                ++c.unexpected;
                continue;
            }
            ++(map.quanta[n] != 0 ? c.xoff : c.xon);
            if (c.suspended) {
                c.ignored.reset();
                if (map.quanta[n] != 0) c.ignored = end + map.quanta[n] * quantum_ps;
            } else if (map.quanta[n] == 0) {
                c.close(end);
            } else {
                c.open(end, end + map.quanta[n] * quantum_ps);
            }
        }
    }
    void suspend(unsigned mask) {
        for (unsigned n = 0; n < 8; ++n) {
            Class& c = of[n];
            if ((mask >> n & 1U) == 0) continue;
            c.suspended = true;
            if (!c.deadline) continue;
            c.ignored = c.deadline;
            c.close(now);
        }
    }
    void obey(unsigned mask) {
        for (unsigned n = 0; n < 8; ++n) {
            Class& c = of[n];
            if ((mask >> n & 1U) == 0) continue;
            c.suspended = false;
            if (c.ignored) c.open(now, *std::exchange(c.ignored, std::nullopt));
        }
    }
};

}  // namespace

static_assert(map_classes({0, 1, 2, 3, 3, 5, 6, 7}, 0b1001'1010) == 0b1000'1010);
static_assert(classes_that_map_to({0, 1, 2, 3, 3, 5, 6, 7}, 3) == 0b0001'1000);

TEST_GROUP(PfcHonor) {
    PfcHonor honor;

    void xoff(ClassId priority, std::uint16_t quanta, Time end) {
        honor.receive(pause(priority, quanta), end, end, gigabits(100), 0xFF);
    }
};

TEST(PfcHonor, ignoresAndCountsClassesThatAreNotEnabled) {
    const PauseMap all{0xFF, {9, 9, 9, 9, 0, 9, 9, 9}};
    honor.receive(all, before_wrap, before_wrap, gigabits(100), 0b0000'1000);
    CHECK_EQUAL(0b0000'1000, honor.paused(before_wrap));
    for (ClassId n = 0; n < 8; ++n) {
        CHECK_EQUAL(n == 3 ? 0U : 1U, honor.counters(n).rx_unexpected.get());
        CHECK_EQUAL(n == 3 ? 1U : 0U, honor.counters(n).rx_xoff.get());
        CHECK_EQUAL(0U, honor.counters(n).rx_xon.get());
    }
}

TEST(PfcHonor, suspendedClassIsCountedAndNotObeyed) {
    honor.suspend(before_wrap, 0b1000);
    honor.receive(pause(3, 100), before_wrap, before_wrap, gigabits(100), 0b1000);
    CHECK_EQUAL(0, honor.paused(before_wrap));
    CHECK(!honor.next_expiry());
    CHECK_EQUAL(1U, honor.counters(3).rx_xoff.get());
    CHECK_EQUAL(0U, honor.counters(3).transitions.get());
    CHECK_EQUAL(0U, honor.counters(3).rx_unexpected.get());
}

TEST(PfcHonor, suspensionEndsARunningPauseAndObeyTakesUpItsRest) {
    xoff(3, 100, before_wrap);
    xoff(4, 10, before_wrap);
    honor.suspend(before_wrap + nanoseconds(2), 0b1000);
    CHECK_EQUAL(0b1'0000, honor.paused(before_wrap + nanoseconds(2)));
    CHECK_EQUAL(2'000U, honor.counters(3).paused_ps.get());
    CHECK_EQUAL(0U, honor.counters(3).rx_xon.get());
    CHECK((before_wrap + Duration{51'200}) == *honor.next_expiry());
    honor.obey(before_wrap + nanoseconds(200), 0b1000);
    CHECK_EQUAL(0b1000, honor.paused(before_wrap + nanoseconds(200)));
    CHECK((before_wrap + Duration{512'000}) == honor.deadline(3));
    CHECK_EQUAL(2U, honor.counters(3).transitions.get());
}

TEST(PfcHonor, obeyTakesUpNothingThatHasEndedMeanwhile) {
    xoff(2, 100, before_wrap);
    xoff(3, 100, before_wrap);
    xoff(4, 100, before_wrap);
    honor.suspend(before_wrap, 0xFF);
    xoff(2, 0, before_wrap + tick);
    honor.forget(before_wrap + tick, 0b1'0000);
    honor.obey(before_wrap + nanoseconds(512), 0xFF);
    CHECK_EQUAL(0, honor.paused(before_wrap + nanoseconds(512)));
    xoff(3, 1, before_wrap + nanoseconds(600));  // and obeys again from then on
    CHECK_EQUAL(0b1000, honor.paused(before_wrap + nanoseconds(600)));
}

TEST(PfcHonor, ignoredPauseIsForgottenBeforeTimeWraps) {
    honor.suspend(before_wrap, 0b1000);
    xoff(3, 1, before_wrap);
    Time now = before_wrap;
    for (int day = 0; day < 430; ++day) {
        now = now + seconds(86'400);
        honor.expire_ignored(now);
    }
    honor.obey(now, 0b1000);
    CHECK_EQUAL(0, honor.paused(now));
}

// A quantum is 512 bit times: 51.2 ns at 10G, 5.12 ns at 100G, 1.28 ns at 400G.
TEST(PfcHonor, deadlineIsExactAtEverySpeed) {
    for (const std::uint64_t speed : {1, 10, 25, 40, 50, 100, 200, 400, 800}) {
        CHECK(gigabits(speed).valid_port_speed());
        for (const std::uint16_t quanta : {1, 2, 3, 0x7FFF, 0xFFFF}) {
            PfcHonor port;
            port.receive(pause(5, quanta), before_wrap, before_wrap, gigabits(speed), 0xFF);
            const Time end = before_wrap + Duration{static_cast<std::int64_t>(quanta * (512'000 / speed))};
            CHECK(end == *port.next_expiry());
            CHECK_EQUAL(1 << 5, port.paused(end - tick));
            CHECK_EQUAL(0, port.paused(end));
            port.expire(end - tick);
            CHECK(port.state(5) == PauseState::paused);
            port.expire(end);
            CHECK(port.state(5) == PauseState::running);
            CHECK(!port.next_expiry());
            CHECK_EQUAL(static_cast<std::uint64_t>((end - before_wrap).ps), port.counters(5).paused_ps.get());
        }
    }
}

TEST(PfcHonor, newPauseReplacesTheOldOne) {
    xoff(3, 1000, before_wrap);
    xoff(3, 10, before_wrap + nanoseconds(100));  // neither added nor the later of the two
    CHECK((before_wrap + nanoseconds(100) + Duration{51'200}) == *honor.next_expiry());
    xoff(3, 500, before_wrap + nanoseconds(120));
    CHECK((before_wrap + nanoseconds(120) + Duration{500 * 5'120}) == *honor.next_expiry());
    CHECK_EQUAL(1U, honor.counters(3).transitions.get());
    CHECK_EQUAL(3U, honor.counters(3).rx_xoff.get());
}

TEST(PfcHonor, zeroResumesNow) {
    xoff(3, 0xFFFF, before_wrap);
    xoff(3, 0, before_wrap + nanoseconds(7));
    CHECK_EQUAL(0, honor.paused(before_wrap + nanoseconds(7)));
    CHECK_EQUAL(1U, honor.counters(3).rx_xon.get());
    CHECK_EQUAL(0U, honor.counters(3).expired.get());
    CHECK_EQUAL(7'000U, honor.counters(3).paused_ps.get());
    xoff(3, 0, before_wrap + nanoseconds(8));  // a second one is counted and changes nothing
    CHECK_EQUAL(2U, honor.counters(3).rx_xon.get());
    CHECK_EQUAL(1U, honor.counters(3).transitions.get());
}

TEST(PfcHonor, clearedBitLeavesItsClassAlone) {
    xoff(3, 100, before_wrap);
    PauseMap map = pause(4, 50);
    map.quanta[3] = 0;
    honor.receive(map, before_wrap + tick, before_wrap + tick, gigabits(100), 0xFF);
    CHECK_EQUAL(0b0001'1000, honor.paused(before_wrap + tick));
    CHECK((before_wrap + tick + Duration{50 * 5'120}) == *honor.next_expiry());
    honor.expire(*honor.next_expiry());
    CHECK((before_wrap + Duration{100 * 5'120}) == *honor.next_expiry());
    CHECK_EQUAL(0U, honor.counters(3).rx_xon.get());
}

TEST(PfcHonor, expiredPauseIsForgottenBeforeTimeWraps) {
    xoff(3, 1, before_wrap);
    honor.expire(before_wrap + nanoseconds(10));
    Time now = before_wrap;
    for (int day = 0; day < 430; ++day) {  // twice round
        now = now + seconds(86'400);
        CHECK_EQUAL(0, honor.paused(now));
        CHECK(!honor.next_expiry());
    }
    CHECK_EQUAL(5'120, honor.paused_time(3, now).ps);
    CHECK_EQUAL(1U, honor.counters(3).expired.get());
}

// 10 quanta at 10G, in a frame of 67.2 ns: until 579.2 ns, with any other frames before.
TEST(PfcHonor, anotherFrameDoesNotCutAPauseShort) {
    const Time start = before_wrap, end = start + Duration{67'200}, until = start + Duration{579'200};
    const Time second = start + nanoseconds(520);
    const PauseMap nothing{}, other = pause(3, 5), resumes_other = pause(3, 0), itself = pause(6, 10);
    for (const PauseMap& map : {nothing, other, resumes_other}) {
        PfcHonor port;
        port.receive(pause(6, 10), start, end, gigabits(10), 0xFF);
        port.receive(map, second, second + Duration{67'200}, gigabits(10), 0xFF);
        CHECK_EQUAL(1 << 6, port.paused(until - tick) & 1 << 6);
        CHECK_EQUAL(0, port.paused(until) & 1 << 6);
        port.expire(until);
        CHECK_EQUAL(512'000U, port.counters(6).paused_ps.get());
        CHECK_EQUAL(1U, port.counters(6).expired.get());
    }
    honor.receive(pause(6, 10), start, end, gigabits(10), 0xFF);
    honor.receive(itself, second, second + Duration{67'200}, gigabits(10), 0xFF);
    CHECK_EQUAL(1 << 6, honor.paused(until));  // renewed before it ended: one pause
    CHECK_EQUAL(1U, honor.counters(6).transitions.get());
}

// A turn may come late: a pause that ended before the next frame came has ended by itself.
TEST(PfcHonor, pauseAfterAnUnnoticedExpiryIsANewOne) {
    xoff(3, 1, before_wrap);
    xoff(3, 1, before_wrap + nanoseconds(100));
    CHECK_EQUAL(1U, honor.counters(3).expired.get());
    CHECK_EQUAL(2U, honor.counters(3).transitions.get());
    CHECK_EQUAL(5'120U, honor.counters(3).paused_ps.get());
}

TEST(PfcHonor, runningPauseCountsWhileItRuns) {
    xoff(3, 1000, before_wrap);
    CHECK_EQUAL(0, honor.paused_time(3, before_wrap).ps);
    CHECK_EQUAL(5'000, honor.paused_time(3, before_wrap + nanoseconds(5)).ps);
    CHECK_EQUAL(5'120'000, honor.paused_time(3, before_wrap + seconds(1)).ps);  // never beyond its deadline
    CHECK_EQUAL(0U, honor.counters(3).paused_ps.get());
    honor.settle(before_wrap + nanoseconds(5));
    CHECK_EQUAL(5'000U, honor.counters(3).paused_ps.get());
    honor.settle(before_wrap + nanoseconds(5));
    CHECK_EQUAL(5'000U, honor.counters(3).paused_ps.get());
    CHECK_EQUAL(9'000, honor.paused_time(3, before_wrap + nanoseconds(9)).ps);
    honor.settle(before_wrap + seconds(1));
    honor.expire(before_wrap + seconds(1));
    CHECK_EQUAL(5'120'000U, honor.counters(3).paused_ps.get());
}

TEST(PfcHonor, forgetsWhenTheLinkGoesDown) {
    xoff(3, 1000, before_wrap);
    xoff(4, 1000, before_wrap);
    honor.forget(before_wrap + nanoseconds(3), 0b1000);
    CHECK_EQUAL(0b0001'0000, honor.paused(before_wrap + nanoseconds(3)));
    honor.forget(before_wrap + nanoseconds(4));
    CHECK_EQUAL(0, honor.paused(before_wrap + nanoseconds(4)));
    CHECK_EQUAL(3'000U, honor.counters(3).paused_ps.get());
    CHECK_EQUAL(4'000U, honor.counters(4).paused_ps.get());
    CHECK_EQUAL(0U, honor.counters(3).expired.get());
}

TEST(PfcHonor, everyPairOfStateAndEvent) {
    struct Row {
        PauseState from;
        PauseEvent event;
        PauseState to;
        std::uint64_t transitions, expired;
        std::int64_t paused_ns;
    };
    // Held since 0 ns until 10 ns; the event comes at 4 ns.
    const Row rows[] = {
        {PauseState::running, PauseEvent::xoff, PauseState::paused, 1, 0, 0},
        {PauseState::running, PauseEvent::xon, PauseState::running, 0, 0, 0},
        {PauseState::running, PauseEvent::expiry, PauseState::running, 0, 0, 0},
        {PauseState::running, PauseEvent::link_down, PauseState::running, 0, 0, 0},
        {PauseState::paused, PauseEvent::xoff, PauseState::paused, 1, 0, 4},
        {PauseState::paused, PauseEvent::xon, PauseState::running, 1, 0, 4},
        {PauseState::paused, PauseEvent::expiry, PauseState::running, 1, 1, 10},
        {PauseState::paused, PauseEvent::link_down, PauseState::running, 1, 0, 4},
    };
    for (const Row& row : rows) {
        PfcHonor port;
        const Time at = before_wrap + nanoseconds(4);
        if (row.from == PauseState::paused)
            port.step(2, PauseEvent::xoff, before_wrap, before_wrap + nanoseconds(10));
        port.step(2, row.event, at, at + nanoseconds(20));
        CHECK(port.state(2) == row.to);
        CHECK_EQUAL(row.transitions, port.counters(2).transitions.get());
        CHECK_EQUAL(row.expired, port.counters(2).expired.get());
        CHECK_EQUAL(row.paused_ns * 1'000, port.paused_time(2, at).ps);
        CHECK(port.next_expiry().has_value() == (row.to == PauseState::paused));
        if (row.event == PauseEvent::xoff) CHECK((at + nanoseconds(20)) == *port.next_expiry());
    }
}

TEST(PfcHonor, randomSequencesAgreeWithTheSlowReference) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        PfcHonor port;
        SlowHonor slow;
        std::uint64_t draws = 0;
        const auto random = [&](std::uint64_t below) { return draw({seed, 0, 0, ++draws}) % below; };
        const std::uint64_t speed = std::array{1, 10, 25, 40, 50, 100, 200, 400, 800}[random(9)];
        const std::uint64_t quantum_ps = 512'000 / speed;
        for (int n = 0; n < 1'000; ++n) {
            slow.advance(slow.now + random(4) * random(300 * quantum_ps));
            const Time now = before_wrap + Duration{static_cast<std::int64_t>(slow.now)};
            unsigned held = 0;
            for (unsigned c = 0; c < 8; ++c) held |= slow.of[c].deadline ? 1U << c : 0U;
            CHECK_EQUAL(held, port.paused(now));
            if (random(2) == 0) {
                PauseMap map{static_cast<std::uint8_t>(random(256)), {}};
                for (auto& quanta : map.quanta) quanta = static_cast<std::uint16_t>(random(3) * random(400));
                const auto enabled = static_cast<std::uint8_t>(random(4) == 0 ? random(256) : 0xFF);
                const std::uint64_t frame_ps = random(2) * random(3 * quantum_ps);
                port.receive(map, now, now + Duration{static_cast<std::int64_t>(frame_ps)}, gigabits(speed),
                             enabled);
                slow.receive(map, slow.now + frame_ps, quantum_ps, enabled);
            } else if (random(8) == 0) {
                const auto taken = static_cast<std::uint8_t>(random(256));
                port.suspend(now, taken);
                slow.suspend(taken);
            } else if (random(4) == 0) {
                const auto given = static_cast<std::uint8_t>(random(256));
                port.obey(now, given);
                slow.obey(given);
            } else if (random(2) == 0) {
                port.expire(now);
            } else if (random(2) == 0) {
                port.settle(now);
            } else if (random(20) == 0) {
                port.forget(now);
                for (auto& c : slow.of) c.close(slow.now), c.ignored.reset();
            }
            for (ClassId c = 0; c < 8; ++c)
                CHECK_EQUAL(slow.of[c].paused_ps(slow.now),
                            static_cast<std::uint64_t>(port.paused_time(c, now).ps));
        }
        const Time end = before_wrap + Duration{static_cast<std::int64_t>(slow.now)} + seconds(1);
        slow.advance(slow.now + 1'000'000'000'000);
        port.expire(end);
        for (ClassId c = 0; c < 8; ++c) {
            CHECK_EQUAL(slow.of[c].xoff, port.counters(c).rx_xoff.get());
            CHECK_EQUAL(slow.of[c].xon, port.counters(c).rx_xon.get());
            CHECK_EQUAL(slow.of[c].unexpected, port.counters(c).rx_unexpected.get());
            CHECK_EQUAL(slow.of[c].expired, port.counters(c).expired.get());
            CHECK_EQUAL(slow.of[c].transitions, port.counters(c).transitions.get());
            CHECK_EQUAL(slow.of[c].closed_ps, port.counters(c).paused_ps.get());
        }
    }
}

}  // namespace sluice::pfc_honor_test
