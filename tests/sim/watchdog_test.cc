// Pause storms and their counterexamples under the virtual clock: each case that is none has a twin one step
// over the limit, which is one.
#include <fmt/format.h>

#include <functional>

#include "tests/sim/storm.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::watchdog_test {

using namespace sluice::sim;

namespace {

// The victim: class 3 from p0 to p1, a frame each ms, the first that is held at 6 ms. `prepare` brings what
// the peer of p1 does; the switch runs for `until`.
std::uint64_t storms(const std::function<void(SimSwitch&)>& prepare, Time until = at_ms(400),
                     bool victim = true) {
    SimSwitch sim(storm_config());
    if (victim) sim.add(0, flow_of(3, 1));
    prepare(sim);
    sim.run_until(until);
    const WatchdogCounters& counters = sim.device().port(1).watchdog.counters[3];
    const std::uint64_t detected = counters.detected.get();
    const std::uint64_t lost = counters.total_dropped.get();
    LONGS_EQUAL(lost, sim.dropped(DropReason::watchdog_drop));
    CHECK_EQUAL(detected != 0, lost != 0);
    drain(sim);
    LONGS_EQUAL(counters.detected.get(), counters.restored.get());
    return detected;
}

const Time first = at_us(5'500);  // XOFF
const Time held = at_ms(6);       // the first frame that it holds
const Time due = held + ms(100);  // detection
constexpr Duration tick{1};

}  // namespace

TEST_GROUP(Watchdog){};

TEST(Watchdog, detectsAndRestoresExactly) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    const Storm storm{first, at_ms(300)};
    storm.send(sim.port(1));
    sim.run_until(at_ms(500));
    LONGS_EQUAL(1, log.detected.size());
    LONGS_EQUAL(1, log.restored.size());
    CHECK(due == nth(log.detected, 0));
    CHECK(storm.last() + ms(100) == nth(log.restored, 0));
    // From the first frame that it held to the last that came before it was restored, at 395.5 ms.
    LONGS_EQUAL(390, log.counters().storm_dropped.get());
    LONGS_EQUAL(0, log.counters().storm_passed.get());
    drain(sim);
    LONGS_EQUAL(sim.port(0).started(0), sim.port(1).departed(0, 0) + 390);
    LONGS_EQUAL(390, sim.dropped());
    LONGS_EQUAL(390, sim.device().dropped_lossless(0, DropReason::watchdog_drop));
    LONGS_EQUAL(390, sim.device().port(1).counters.queue[3].dropped.get());
    // All of it was counted, and obeyed until it was a storm.
    const PfcHonor& honor = sim.device().port(1).honor;
    LONGS_EQUAL(30, honor.counters(3).rx_xoff.get());
    CHECK(due - first >= honor.paused_time(3, sim.now()));
    CHECK(honor.paused_time(3, sim.now()) >= due - first - microseconds(1));
}

TEST(Watchdog, honestPauseOneStepBelowTheLimitIsNoStorm) {
    const auto xon_at = [](Time xon) {
        return [xon](SimSwitch& sim) {
            Storm{first, due - ms(1)}.send(sim.port(1));
            sim.port(1).send_pause(xon, 3, 0);
        };
    };
    LONGS_EQUAL(0, storms(xon_at(due - tick)));
    LONGS_EQUAL(1, storms(xon_at(due + tick)));
}

TEST(Watchdog, idlePausedQueueIsNoStorm) {
    const auto frames = [](std::uint64_t count) {
        return [count](SimSwitch& sim) {
            Storm{first, at_ms(300)}.send(sim.port(1));
            Flow one = flow_of(3, 1, ms(1), at_ms(50));
            one.frames = count;
            sim.add(0, one);
        };
    };
    LONGS_EQUAL(0, storms(frames(0), at_ms(400), false));
    LONGS_EQUAL(1, storms(frames(1), at_ms(400), false));
}

TEST(Watchdog, halfTheDetectionTimeWithProgressBetweenIsNoStorm) {
    const auto with_gap = [](bool gap) {
        return [gap](SimSwitch& sim) {
            for (int i = 0; i < 8; ++i) {
                const Time from = at_us(500 + 52'000 * i);
                Storm{from, from + ms(50)}.send(sim.port(1));
                if (gap) sim.port(1).send_pause(from + ms(50), 3, 0);
            }
        };
    };
    LONGS_EQUAL(0, storms(with_gap(true), at_ms(500)));
    LONGS_EQUAL(1, storms(with_gap(false), at_ms(500)));
}

TEST(Watchdog, xonFramesAreNoStorm) {
    const auto quanta = [](std::uint16_t n) {
        return [n](SimSwitch& sim) {
            Storm{first, at_ms(300), 0xFF, n, microseconds(200)}.send(sim.port(1));
        };
    };
    LONGS_EQUAL(0, storms(quanta(0)));
    LONGS_EQUAL(1, storms(quanta(400)));
}

// Half of a flapping peer's time may be enough to send: that is slow, not stuck.
TEST(Watchdog, burstsOfPfcWithTrafficMovingAreNoStorm) {
    const auto quanta = [](std::uint16_t n) {
        return [n](SimSwitch& sim) { Storm{first, at_ms(300), 1U << 3, n, ms(2)}.send(sim.port(1)); };
    };
    LONGS_EQUAL(0, storms(quanta(3'000)));  // 1.5 of every 2 ms
    LONGS_EQUAL(1, storms(quanta(5'000)));
}

// Nor is a queue that could not have sent anyway: it was paused for a part of the time only.
TEST(Watchdog, heldQueueOfAFlappingPeerIsNoStorm) {
    const auto quanta = [](std::uint16_t n) {
        return [n](SimSwitch& sim) {
            sim.hold(1, 3, true);
            sim.at(at_ms(290), [&sim] { sim.hold(1, 3, false); });
            Storm{first, at_ms(280), 1U << 3, n, ms(2)}.send(sim.port(1));
        };
    };
    LONGS_EQUAL(0, storms(quanta(3'800)));  // 97.3 % of the time
    LONGS_EQUAL(1, storms(quanta(3'880)));  // 99.3 %
}

TEST(Watchdog, portThatGoesDownIsNoStorm) {
    const auto down_at = [](Time down) {
        return [down](SimSwitch& sim) {
            Storm{first, at_ms(300)}.send(sim.port(1));
            sim.at(down, [&sim] { sim.set_port(1, false); });
            sim.at(down + ms(80), [&sim] { sim.set_port(1, true); });
            sim.at(down + ms(160), [&sim] { sim.set_port(1, false); });
            sim.at(down + ms(170), [&sim] { sim.set_port(1, true); });
        };
    };
    LONGS_EQUAL(0, storms(down_at(due - tick)));
    LONGS_EQUAL(1, storms(down_at(due + tick)));
}

TEST(Watchdog, linkDownEndsAStormAtOnce) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    Storm{first, at_ms(140)}.send(sim.port(1));
    sim.at(at_us(150'500), [&] { sim.set_port(1, false); });
    sim.at(at_us(160'500), [&] { sim.set_port(1, true); });
    sim.run_until(at_ms(300));
    CHECK(at_us(150'500) == nth(log.restored, 0));
    CHECK(log.state() == WatchdogState::operational);
    LONGS_EQUAL(10, sim.dropped(DropReason::link_down));
    const std::uint64_t before = sim.port(1).departed(0, 0);
    sim.run_until(at_ms(310));
    LONGS_EQUAL(10, sim.port(1).departed(0, 0) - before);  // not held, not dropped
    drain(sim);
}

TEST(Watchdog, xoffStormThatTurnsIntoAnXonStormRestores) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    const Storm xoff{first, at_ms(200)};
    xoff.send(sim.port(1));
    Storm{at_ms(200), at_ms(600), 1U << 3, 0, ms(1)}.send(sim.port(1));
    sim.run_until(at_ms(600));
    CHECK(xoff.last() + ms(100) == nth(log.restored, 0));
    LONGS_EQUAL(1, log.detected.size());
    drain(sim);
}

TEST(Watchdog, stormOnEveryPortAndPriorityAtOnceDoesNotFlap) {
    SimSwitch sim(storm_config());
    std::vector<StormLog> logs;
    for (PortId id = 0; id < 4; ++id)
        for (const ClassId priority : {ClassId{3}, ClassId{4}}) {
            logs.emplace_back(sim, id, priority);
            sim.add(id, flow_of(priority, static_cast<PortId>((id + 1) % 4)));
        }
    sim.on_instant = [&] {
        for (StormLog& log : logs) log.look();
    };
    for (PortId id = 0; id < 4; ++id) Storm{first, at_ms(900), 0xFF}.send(sim.port(id));
    sim.run_until(at_ms(1100));
    for (const StormLog& log : logs) {
        LONGS_EQUAL(1, log.detected.size());
        LONGS_EQUAL(1, log.restored.size());
        // The frame of class 4 comes behind that of class 3.
        CHECK(due <= nth(log.detected, 0) && nth(log.detected, 0) - due < microseconds(15));
    }
    // A lossy class is never held, and not watched.
    for (PortId id = 0; id < 4; ++id)
        LONGS_EQUAL(0, sim.device().port(id).watchdog.counters[0].detected.get());
    drain(sim);
}

// Two priorities that pause one queue by turns are one pause.
TEST(Watchdog, prioritiesThatShareAQueueAddUp) {
    for (const bool shared : {true, false}) {
        Config config = storm_config();
        if (shared) config.maps["default"].pfc_priority_to_queue[4] = 3;
        SimSwitch sim(config);
        sim.add(0, flow_of(3, 1));
        for (int i = 0; i < 10; ++i) {
            Storm{at_us(500 + 40'000 * i), at_us(20'500 + 40'000 * i), 1U << 3}.send(sim.port(1));
            sim.port(1).send_pause(at_us(20'500 + 40'000 * i), 4, 0xFFFF);
            sim.port(1).send_pause(at_us(20'500 + 40'000 * i), 3, 0);
        }
        sim.run_until(at_ms(350));
        LONGS_EQUAL(shared ? 1 : 0, sim.device().port(1).watchdog.counters[3].detected.get());
        drain(sim);
    }
}

TEST(Watchdog, stoppedWatchdogSeesNothingAndStopClearsAStorm) {
    LONGS_EQUAL(0, storms([](SimSwitch& sim) {
                    sim.run_watchdog(1, false);
                    Storm{first, at_ms(300)}.send(sim.port(1));
                }));
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    Storm{first, at_ms(900)}.send(sim.port(1));
    sim.at(at_us(150'200), [&] { sim.run_watchdog(1, false); });
    sim.run_until(at_ms(300));
    CHECK(at_us(150'200) == nth(log.restored, 0));
    CHECK(log.state() == WatchdogState::off);
    LONGS_EQUAL(145, log.counters().total_dropped.get());
    sim.run_watchdog(1, true);
    sim.run_until(at_ms(399));
    LONGS_EQUAL(1, log.detected.size());
    sim.run_until(at_ms(401));
    LONGS_EQUAL(2, log.detected.size());  // a whole window after the start
    drain(sim);
}

TEST(Watchdog, changedThresholdsChangeNothingInARunningStorm) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    const Storm storm{first, at_ms(200)};
    storm.send(sim.port(1));
    sim.at(at_ms(150), [&] {
        Config config = storm_config();
        config.watchdog = {ms(300), seconds(60), {}, WatchdogAction::forward};
        CHECK(sim.apply(config));
    });
    sim.run_until(at_ms(400));
    CHECK(storm.last() + ms(100) == nth(log.restored, 0));
    LONGS_EQUAL(0, log.counters().total_passed.get());
    // The next one has them.
    Storm{at_us(400'500), at_ms(800)}.send(sim.port(1));
    sim.run_until(at_ms(701));
    CHECK(at_ms(401 + 300) == nth(log.detected, 1));
    sim.run_until(at_ms(800));
    LONGS_EQUAL(400, log.counters().storm_passed.get());
    drain(sim);
}

}  // namespace sluice::watchdog_test
