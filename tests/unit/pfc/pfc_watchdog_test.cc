#include "lib/pfc/pfc_watchdog.hh"

#include <array>
#include <cstdint>
#include <optional>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pfc_watchdog_test {
namespace {

using State = WatchdogState;
using Event = WatchdogEvent;
using Change = WatchdogChange;

constexpr Time begin{~std::uint64_t{0} - 50'000'000'000};  // wraps after 50 ms
constexpr Duration tick{1};
constexpr ClassId queue = 3;

// A queue under the watchdog, and its state as seen.
struct Watched {
    PfcWatchdog watchdog;
    QueueSample sample;
    Time now = begin;

    explicit Watched(const WatchdogSettings& settings = {}) {
        watchdog.configure(settings);
        watchdog.step(queue, Event::start, begin);
        sample.holds_packets = true;
    }
    Change at(Duration since_begin) {
        now = begin + since_begin;
        return watchdog.check_queue(queue, sample, now);
    }
    Change pause(Duration from, Duration to) {
        sample.paused_until = begin + to;
        return at(from);
    }
    Change xoff(Duration from, Duration to) {
        ++sample.xoffs;
        return pause(from, to);
    }
    Change resume(Duration from) {
        sample.paused_until.reset();
        return at(from);
    }
    State state() const { return watchdog.state(queue); }
    bool is_stormed() const { return state() == State::stormed; }
};

constexpr Duration ms(std::int64_t n) { return milliseconds(n); }

}  // namespace

TEST_GROUP(PfcWatchdog){};

// ---- No storm, each with a twin one step over the limit.

TEST(PfcWatchdog, pauseThatEndsOneStepBeforeTheDetectionTimeIsNone) {
    Watched none;
    none.pause({}, ms(200) - tick);
    none.sample.sent = 1;
    none.resume(ms(200) - tick);
    none.at(ms(200));
    CHECK(none.state() == State::operational);
    CHECK(!none.watchdog.next_event());

    Watched storm;
    storm.pause({}, ms(200));
    CHECK(begin + ms(200) == *storm.watchdog.next_event());
    CHECK(storm.at(ms(200) - tick) == Change::none);
    CHECK(storm.at(ms(200)) == Change::begins);
    CHECK(storm.is_stormed());
}

TEST(PfcWatchdog, idleQueueIsNone) {
    Watched none;
    none.sample.holds_packets = false;
    none.pause({}, ms(900));
    none.at(ms(899));
    CHECK(none.state() == State::operational);
    // The window starts with its first packet.
    none.sample.holds_packets = true;
    none.pause(ms(899), ms(2000));
    CHECK(begin + ms(1099) == *none.watchdog.next_event());
    CHECK(none.at(ms(1099)) == Change::begins);
}

TEST(PfcWatchdog, queueThatEmptiesIsNone) {
    Watched none;
    none.pause({}, ms(900));
    none.sample.holds_packets = false;
    none.at(ms(200) - tick);
    CHECK(none.state() == State::operational);
    none.sample.holds_packets = true;
    none.at(ms(200) - tick);
    CHECK(begin + ms(400) - tick == *none.watchdog.next_event());
}

TEST(PfcWatchdog, progressStartsTheWindowAnew) {
    Watched none;
    for (int i = 0; i < 20; ++i) {
        none.pause(ms(100 * i), ms(100 * i + 100));
        ++none.sample.sent;
        CHECK(none.at(ms(100 * i + 99)) == Change::none);
    }
    CHECK(none.state() == State::suspected);  // paused, and from the last packet on
    CHECK(none.pause(ms(2000), ms(2200)) == Change::none);
    CHECK(begin + ms(1999 + 200) == *none.watchdog.next_event());
    CHECK(none.at(ms(2199)) == Change::begins);
}

// Unpaused for exactly 1 % is neither: nothing starts anew, and it is not a storm until it is less again.
TEST(PfcWatchdog, onePerCentUnpausedIsTheLimit) {
    const Duration gap = ms(2);
    for (const std::int64_t over : {-1, 0, 1}) {
        Watched port;
        port.pause({}, ms(198));
        port.resume(ms(198));
        const Duration unpaused = gap + Duration{over};
        port.pause(ms(198) + unpaused, ms(900));
        CHECK(port.state() == State::suspected);
        const Time due = *port.watchdog.next_event();
        if (over < 0) {
            CHECK(begin + ms(200) == due);
        } else if (over == 0) {
            CHECK(begin + ms(200) + tick == due);
            CHECK(port.at(ms(200)) == Change::none);
        } else {
            CHECK(begin + ms(198) + unpaused + ms(200) == due);  // a new window
        }
        CHECK(port.at(due - tick - begin) == Change::none);
        CHECK(port.at(due - begin) == Change::begins);
    }
}

// The last of the window may do without a pause, when it could send nothing all the same (a queue that is
// held).
TEST(PfcWatchdog, pauseThatEndsWithinTheLastOnePerCentIsAStormIfNothingLeaves) {
    Watched storm;
    storm.pause({}, ms(198) + tick);
    CHECK(begin + ms(200) == *storm.watchdog.next_event());
    CHECK(storm.at(ms(200)) == Change::begins);
    Watched none;
    none.pause({}, ms(198));
    CHECK(!none.watchdog.next_event());
    CHECK(none.at(ms(200)) == Change::none);
    none.at(ms(200) + tick);
    CHECK(none.state() == State::operational);
}

// XOFF and XON by turns, fast: paused half of the time, though the queue never gets to send.
TEST(PfcWatchdog, flappingPeerIsNoneHoweverManyFrames) {
    for (const std::int64_t off_us : {50, 98, 100}) {
        Watched port;
        bool stormed = false;
        for (std::int64_t period = 0; period < 20'000; ++period) {
            stormed |=
                port.xoff(microseconds(100 * period), microseconds(100 * period + off_us)) != Change::none;
            if (off_us < 100) stormed |= port.resume(microseconds(100 * period + off_us)) != Change::none;
        }
        CHECK_EQUAL(off_us == 100, stormed);
    }
}

TEST(PfcWatchdog, lateLookJudgesByTheMeasuredTime) {
    Watched none;
    none.pause({}, ms(100));
    CHECK(none.at(ms(1000)) == Change::none);  // nothing looked while the pause ended
    CHECK(none.state() == State::operational);
    Watched storm;
    storm.pause({}, ms(999));
    CHECK(storm.at(ms(1000)) == Change::begins);
}

// A turn that comes late finds the next XOFF only then: the peer was not silent, we were.
TEST(PfcWatchdog, polledWindowOutlivesTurnsThatAreLongerThanAPause) {
    const WatchdogSettings polled{ms(200), ms(400), ms(50), WatchdogAction::drop};
    for (const std::int64_t open_us : {0, 90, 110}) {  // of every 10 ms, seen unpaused
        Watched port(polled);
        bool stormed = false;
        for (int at = 0; at < 1'000; at += 10) {
            stormed |= port.xoff(ms(at), ms(at) + microseconds(335)) == Change::begins;
            if (open_us != 0) stormed |= port.resume(ms(at + 10) - microseconds(open_us)) == Change::begins;
        }
        CHECK_EQUAL(open_us < 100, stormed);
    }
}

TEST(PfcWatchdog, linkDownAndStopEndAWindow) {
    for (const Event event : {Event::link_down, Event::stop}) {
        Watched port;
        port.pause({}, ms(900));
        port.at(ms(100));
        CHECK(port.watchdog.step(queue, event, begin + ms(100)) == Change::none);
        port.watchdog.step(queue, Event::start, begin + ms(100));
        port.at(ms(100));
        CHECK(port.at(ms(299)) == Change::none);
        CHECK(port.at(ms(300)) == Change::begins);
    }
}

// ---- The end of a storm.

TEST(PfcWatchdog, doesNotRestoreWhileXoffKeepsArriving) {
    Watched port;
    port.pause({}, ms(900));
    CHECK(port.at(ms(200)) == Change::begins);
    for (int at = 599; at < 5'000; at += 399) {
        CHECK(begin + Duration{} < *port.watchdog.next_event());
        CHECK(port.xoff(ms(at), ms(at + 30)) == Change::none);
        CHECK(begin + ms(at + 400) == *port.watchdog.next_event());
    }
    CHECK(port.is_stormed());
}

TEST(PfcWatchdog, restoresWhenNoXoffHasComeForTheRestorationTime) {
    Watched port;
    port.pause({}, ms(900));
    port.at(ms(200));
    CHECK(port.xoff(ms(300), ms(330)) == Change::none);
    port.resume(ms(310));  // XON frames do not count
    CHECK(port.at(ms(700) - tick) == Change::none);
    CHECK(port.at(ms(700)) == Change::ends);
    CHECK(port.state() == State::operational);
    CHECK_EQUAL(0, port.watchdog.awake());
}

TEST(PfcWatchdog, stormKeepsTheThresholdsItBeganWith) {
    Watched port;
    port.pause({}, ms(900));
    port.at(ms(200));
    port.watchdog.configure({ms(5000), ms(60'000), {}, WatchdogAction::alert});
    CHECK(port.watchdog.action(queue) == WatchdogAction::drop);
    port.resume(ms(201));
    CHECK(begin + ms(600) == *port.watchdog.next_event());
    CHECK(port.at(ms(600)) == Change::ends);
    port.pause(ms(600), ms(9000));  // the next window has the new ones
    CHECK(begin + ms(5600) == *port.watchdog.next_event());
    CHECK(port.at(ms(5600)) == Change::begins);
    CHECK(port.watchdog.action(queue) == WatchdogAction::alert);
}

TEST(PfcWatchdog, windowThatRunsIsJudgedByTheNewThreshold) {
    Watched port;
    port.pause({}, ms(900));
    port.at(ms(150));
    port.watchdog.configure({ms(100), ms(400), {}, WatchdogAction::drop});
    CHECK(port.at(ms(150)) == Change::begins);
}

TEST(PfcWatchdog, pollFindsItWithinOnePollAfterTheThreshold) {
    Watched port({ms(200), ms(400), ms(30), WatchdogAction::drop});
    port.pause({}, ms(5000));
    CHECK(begin + ms(210) == *port.watchdog.next_event());
    for (int at = 1; at < 210; ++at) CHECK(port.at(ms(at)) == Change::none);
    CHECK(port.at(ms(210)) == Change::begins);
    for (int at = 211; at < 630; ++at) CHECK(port.at(ms(at)) == Change::none);
    CHECK(port.at(ms(630)) == Change::ends);  // 14 polls after it began
}

TEST(PfcWatchdog, pollThatComesLateGoesOnFromThere) {
    Watched port({ms(200), ms(400), ms(30), WatchdogAction::drop});
    port.pause({}, ms(5000));
    CHECK(port.at(ms(199)) == Change::none);
    CHECK(port.at(ms(228)) == Change::none);
    CHECK(port.at(ms(229)) == Change::begins);
}

// ---- Every queue for itself, and every pair.

TEST(PfcWatchdog, queuesDoNotDisturbEachOther) {
    PfcWatchdog port;
    for (ClassId n = 0; n < classes; ++n) port.step(n, Event::start, begin);
    QueueSample sample{true, begin + ms(900), 0, 0};
    for (ClassId n = 0; n < classes; ++n) port.check_queue(n, sample, begin + ms(n));
    CHECK(begin + ms(200) == *port.next_event());
    sample.sent = 1;
    port.check_queue(2, sample, begin + ms(100));
    for (ClassId n = 0; n < classes; ++n)
        CHECK((port.check_queue(n, sample, begin + ms(207)) == Change::begins) == false);  // all have sent
    sample.sent = 1;
    CHECK_EQUAL(0xFF, port.awake());
    for (ClassId n = 0; n < classes; ++n)
        CHECK(port.check_queue(n, sample, begin + ms(407)) == Change::begins);
}

TEST(PfcWatchdog, everyPairOfStateAndEvent) {
    constexpr std::array states{State::off, State::operational, State::suspected, State::stormed, State::cut};
    struct Row {
        Event event;
        std::array<State, 5> to;
        std::array<Change, 5> change;
    };
    constexpr Change none = Change::none;
    constexpr Change on = Change::begins;
    constexpr Change off = Change::ends;
    // By state before: off, operational, suspected, stormed, cut.
    const Row rows[] = {
        {Event::start,
         {State::operational, State::operational, State::suspected, State::stormed, State::cut},
         {none, none, none, none, none}},
        {Event::stop,
         {State::off, State::off, State::off, State::off, State::cut},
         {none, none, none, off, none}},
        {Event::pause,
         {State::off, State::suspected, State::suspected, State::stormed, State::cut},
         {none, none, none, none, none}},
        {Event::progress,
         {State::off, State::operational, State::operational, State::stormed, State::cut},
         {none, none, none, none, none}},
        {Event::detection,
         {State::off, State::operational, State::stormed, State::stormed, State::cut},
         {none, none, on, none, none}},
        {Event::xoff,
         {State::off, State::operational, State::suspected, State::stormed, State::cut},
         {none, none, none, none, none}},
        {Event::restoration,
         {State::off, State::operational, State::suspected, State::operational, State::cut},
         {none, none, none, off, none}},
        {Event::link_down,
         {State::off, State::operational, State::operational, State::operational, State::cut},
         {none, none, none, off, none}},
        {Event::cut, {State::cut, State::cut, State::cut, State::cut, State::cut}, {on, on, on, on, none}},
        {Event::release,
         {State::off, State::operational, State::suspected, State::stormed, State::operational},
         {none, none, none, none, off}},
    };
    const auto reach = [](PfcWatchdog& port, State state) {
        if (state != State::off) port.step(queue, Event::start, begin);
        if (state == State::suspected || state == State::stormed) port.step(queue, Event::pause, begin);
        if (state == State::stormed) port.step(queue, Event::detection, begin);
        if (state == State::cut) port.step(queue, Event::cut, begin);
        CHECK(port.state(queue) == state);
    };
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < states.size(); ++i) {
            PfcWatchdog port;
            reach(port, states[i]);
            const Change change = port.step(queue, row.event, begin + ms(1));
            CHECK(port.state(queue) == row.to[i]);
            CHECK(change == row.change[i]);
            const bool awake = row.to[i] != State::off && row.to[i] != State::operational;
            CHECK_EQUAL(awake ? 1 << queue : 0, port.awake());
            // Only an XOFF moves the end of a storm.
            if (states[i] == State::stormed && row.to[i] == State::stormed)
                CHECK(begin + ms(row.event == Event::xoff ? 401 : 400) == *port.next_event());
            if (row.to[i] == State::cut) CHECK(!port.next_event());
        }
    }
}

// ---- The law, slowly: a window is a list of intervals, in steps of 10 us.

namespace {

struct SlowWatchdog {
    bool open = false;
    std::int64_t start = 0;
    std::int64_t unpaused = 0;

    // A step of 1 has passed in which the queue was paused or not; the others describe it now.
    bool step(std::int64_t now, bool was_paused, bool holds, bool sent, bool paused) {
        if (open) {
            if (!was_paused) ++unpaused;
            if (sent || !holds || 100 * unpaused > now - start)
                open = false;
            else if (now - start >= 10'000 && 100 * unpaused < now - start)
                return true;
        }
        if (!open && holds && paused) {
            open = true;
            start = now;
            unpaused = 0;
        }
        return false;
    }
};

}  // namespace

TEST(PfcWatchdog, randomPausesAgreeWithTheSlowReference) {
    unsigned storms = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Watched port({ms(100), ms(400), {}, WatchdogAction::drop});
        SlowWatchdog slow;
        std::uint64_t draws = 0;
        const auto random = [&](std::uint64_t below) { return draw({seed, 0, 0, ++draws}) % below; };
        const std::uint64_t gap = 1 + random(300);  // of 10 us steps, at most, between pauses
        bool was_paused = false;
        std::int64_t change_at = 0;
        for (std::int64_t step = 0; step < 100'000; ++step) {
            bool sent = false;
            if (step == change_at) {
                const bool pause = !port.sample.paused_until.has_value();
                const auto length = static_cast<std::int64_t>(1 + random(pause ? 12'000 : gap));
                change_at = step + length;
                if (pause)
                    port.sample.paused_until = begin + microseconds(10 * change_at);
                else
                    port.sample.paused_until.reset();
            }
            if (!port.sample.paused_until && random(4'000) == 0) sent = true, ++port.sample.sent;
            if (random(60'000) == 0) port.sample.holds_packets = !port.sample.holds_packets;
            const bool paused = port.sample.paused_until.has_value();
            const auto due = port.watchdog.next_event();
            const bool found = port.at(microseconds(10 * step)) == Change::begins;
            CHECK_EQUAL(slow.step(step, was_paused, port.sample.holds_packets, sent, paused), found);
            CHECK_EQUAL(slow.open && !found, port.state() == State::suspected);
            if (found) {
                // It had been foretold, in the look before.
                CHECK(due && *due <= port.now && port.now - *due < microseconds(10));
                ++storms;
                break;
            }
            was_paused = paused;
        }
    }
    CHECK(storms > 10 && storms < 60);
}

}  // namespace sluice::pfc_watchdog_test
