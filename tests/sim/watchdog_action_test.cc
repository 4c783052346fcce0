// The watchdog's action on a queue in a storm, and on no other queue.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "tests/sim/storm.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::watchdog_action_test {

using namespace sluice::sim;

namespace {

const Time first = at_us(5'500);
const Time due = at_ms(106);  // detection: the first frame that is held comes at 6 ms

// Departure times by flow, and whose they are.
using Departures = std::map<std::tuple<PortId, PortId, std::uint8_t, std::uint64_t>, Time>;

void record(SimSwitch& sim, PortId port, Departures& out) {
    sim.port(port).on_departure = [&out, port](const Departure& d) {
        out[{port, d.from, d.flow, d.sequence}] = d.at;
    };
}

}  // namespace

TEST_GROUP(WatchdogAction){};

// Beside a backlogged victim: other priorities of the stormed port, the same priority of other ports, and the
// class that comes in on the stormed port.
TEST(WatchdogAction, neighborsLoseNothingAndAreAsFastAsWithoutTheStorm) {
    std::array<Departures, 2> departures;
    for (const bool with_storm : {false, true}) {
        Config config = storm_config();
        config.buffer_size_bytes = 4'000'000;
        SimSwitch sim(config);
        StormLog log(sim, 1, 3);
        sim.on_instant = [&] { log.look(); };
        for (PortId id = 0; id < 4; ++id) record(sim, id, departures[with_storm]);
        sim.add(0, flow_of(3, 1, microseconds(40)));  // the victim, at a third of the rate
        sim.add(2, flow_of(4, 1, microseconds(100)));
        sim.add(3, flow_of(0, 1, microseconds(100)));
        sim.add(2, flow_of(3, 3, microseconds(50)));
        sim.add(1, flow_of(3, 2, microseconds(50)));
        if (with_storm) Storm{first, at_ms(250)}.send(sim.port(1));
        sim.run_until(at_ms(400));
        LONGS_EQUAL(with_storm ? 1 : 0, log.detected.size());
        LONGS_EQUAL(with_storm ? 1 : 0, log.restored.size());
        stop_flows(sim);
        sim.drain(at_ms(600));
        LONGS_EQUAL(log.counters().total_dropped.get(), sim.dropped());
        LONGS_EQUAL(sim.dropped(), sim.device().dropped_lossless(0, DropReason::watchdog_drop));
    }
    const Duration frame = gigabits(1).byte_time() * wire_bytes(1514);
    std::uint64_t neighbors = 0;
    for (const auto& [key, calm] : departures[0]) {
        const auto& [port, from, flow, sequence] = key;
        if (port == 1 && from == 0) continue;
        const auto found = departures[1].find(key);
        CHECK(found != departures[1].end());
        // Another frame of the port may lie ahead at another moment; elsewhere nothing moves but for the
        // 84 bytes of each PFC frame that the storm's sender puts between its own.
        const Duration slack = port == 1 ? frame * 2 : gigabits(1).byte_time() * 84;
        CHECK(found->second <= calm + slack);
        ++neighbors;
    }
    CHECK(neighbors > 4 * 3'900);
}

TEST(WatchdogAction, afterRestorationTheQueueIsLosslessAgain) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    Storm{first, at_ms(150)}.send(sim.port(1));
    sim.run_until(at_ms(260));
    LONGS_EQUAL(1, log.restored.size());
    const std::uint64_t lost = sim.dropped();
    // An incast, and a peer that pauses for less than a storm: held, then delivered.
    sim.add(0, flow_of(3, 1, Duration{}));
    sim.add(2, flow_of(3, 1, Duration{}));
    Storm{sim.now(), sim.now() + ms(50)}.send(sim.port(1));
    sim.run_until(at_ms(300));
    CHECK(sim.device().port(1).queue[3].packets.packets() > 1'000);
    sim.run_until(at_ms(450));
    CHECK(sim.device().port(0).counters.group[3].xoff.get() > 0);
    drain(sim);
    LONGS_EQUAL(lost, sim.dropped());
    LONGS_EQUAL(sim.port(0).started() + sim.port(2).started(), sim.port(1).departed() + lost);
    LONGS_EQUAL(1, log.detected.size());
}

TEST(WatchdogAction, countersOfThisStormAndOfAllAgreeWithThePackets) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    Storm{first, at_ms(150)}.send(sim.port(1));
    sim.run_until(at_ms(300));
    const std::uint64_t in_first = log.counters().storm_dropped.get();
    LONGS_EQUAL(in_first, sim.port(0).started(0) - sim.port(1).departed(0, 0));
    Storm{at_us(300'500), at_ms(600)}.send(sim.port(1));
    sim.run_until(at_ms(500));
    const std::uint64_t so_far = log.counters().storm_dropped.get();
    LONGS_EQUAL(500 - 301 + 1, so_far);  // in the middle of a storm, too
    sim.run_until(at_ms(800));
    const std::uint64_t in_second = log.counters().storm_dropped.get();
    LONGS_EQUAL(in_first + in_second, log.counters().total_dropped.get());
    LONGS_EQUAL(2, log.detected.size());
    drain(sim);
    LONGS_EQUAL(sim.port(0).started(0) - sim.port(1).departed(0, 0), log.counters().total_dropped.get());
    LONGS_EQUAL(0, log.counters().total_passed.get());
}

// The stormed port has its own peer paused when the storm begins, and its group overruns meanwhile.
TEST(WatchdogAction, duringDropNoPfcLeavesForTheClassAndItsOverrunsAreTheWatchdogs) {
    Config config = storm_config();
    for (auto& [name, port] : config.ports)
        for (const unsigned n : {3U, 4U}) port.priority_group[n].static_bytes = 20'000;
    SimSwitch sim(config);
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    sim.add(1, flow_of(3, 2, microseconds(200)));  // what the stormed port's peer sends, to a blocked queue
    sim.add(1, flow_of(4, 2, microseconds(200)));
    sim.hold(2, 3, true);
    sim.hold(2, 4, true);
    const Storm storm{first, at_ms(300)};
    storm.send(sim.port(1));
    sim.run_until(due - Duration{1});
    CHECK(sim.device().port(1).generator.state(3) == AssertState::off);
    const std::size_t before = sim.port(1).pauses().size();
    sim.run_until(at_ms(390));
    unsigned others = 0;
    for (std::size_t i = before; i < sim.port(1).pauses().size(); ++i) {
        LONGS_EQUAL(1U << 4, sim.port(1).pauses()[i].map.class_enable);
        ++others;
    }
    CHECK(others > 10);  // class 4 stays paused, and is refreshed
    const WatchdogCounters& counters = log.counters();
    CHECK(sim.device().dropped(1, DropReason::watchdog_drop) > 100);
    LONGS_EQUAL(sim.device().dropped(1, DropReason::watchdog_drop),
                sim.device().port(1).counters.group[3].dropped.get());
    LONGS_EQUAL(0, sim.dropped(DropReason::headroom_overrun));
    LONGS_EQUAL(0, sim.device().port(1).counters.group[3].headroom_overruns.get());
    LONGS_EQUAL(0, sim.device().port(1).counters.group[4].dropped.get());
    LONGS_EQUAL(sim.dropped(DropReason::watchdog_drop), counters.storm_dropped.get());
    // Restored: the group is in XOFF and says so at once, once.
    const Time restored = storm.last() + ms(100);
    sim.run_until(restored + microseconds(20));
    CHECK(restored == nth(log.restored, 0));
    const SentPause& told = sim.port(1).pauses().back();
    CHECK((told.map.class_enable & 1U << 3) != 0 && told.map.quanta[3] == 0xFFFF);
    CHECK(told.at >= restored && told.at - restored < microseconds(15));
    sim.run_until(restored + ms(1));
    const std::uint64_t lost = sim.dropped();
    sim.run_until(restored + ms(100));
    LONGS_EQUAL(lost, sim.dropped());
    sim.hold(2, 3, false);
    sim.hold(2, 4, false);
    drain(sim);
    LONGS_EQUAL(lost, sim.dropped());
}

TEST(WatchdogAction, whatComesInOnTheStormedPortIsForwarded) {
    SimSwitch sim(storm_config());
    sim.add(0, flow_of(3, 1));
    sim.add(1, flow_of(3, 2));
    Storm{first, at_ms(300)}.send(sim.port(1));
    sim.run_until(at_ms(500));
    drain(sim);
    LONGS_EQUAL(sim.port(1).started(0), sim.port(2).departed(1, 0));
    LONGS_EQUAL(0, sim.device().dropped(1, DropReason::watchdog_drop));
    CHECK(sim.device().dropped(0, DropReason::watchdog_drop) > 0);
}

TEST(WatchdogAction, forwardSendsAgainstThePauseAndLosesNothing) {
    Config config = storm_config();
    config.watchdog.action = WatchdogAction::forward;
    SimSwitch sim(config);
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    const Storm storm{first, at_ms(300)};
    storm.send(sim.port(1));
    sim.run_until(due - Duration{1});
    const std::uint64_t before = sim.port(1).departed();
    sim.run_until(storm.last() + ms(100));
    LONGS_EQUAL(sim.port(1).departed() - before, log.counters().storm_passed.get());
    LONGS_EQUAL(390, log.counters().storm_passed.get());
    LONGS_EQUAL(390, log.counters().against_pause.get());
    drain(sim);
    LONGS_EQUAL(0, sim.dropped());
    LONGS_EQUAL(sim.port(0).started(0), sim.port(1).departed());
    LONGS_EQUAL(1, log.restored.size());
}

TEST(WatchdogAction, alertOnlySaysSo) {
    std::array<std::uint64_t, 2> departed{};
    for (const WatchdogAction action : {WatchdogAction::alert, WatchdogAction::off}) {
        Config config = storm_config();
        config.watchdog.action = action;
        SimSwitch sim(config);
        sim.add(0, flow_of(3, 1));
        Storm{first, at_ms(300)}.send(sim.port(1));
        sim.run_until(at_ms(320));
        departed[action == WatchdogAction::off] = sim.port(1).departed();
        sim.run_until(at_ms(450));
        const WatchdogCounters& counters = sim.device().port(1).watchdog.counters[3];
        LONGS_EQUAL(action == WatchdogAction::alert ? 1 : 0, counters.detected.get());
        LONGS_EQUAL(counters.detected.get(), counters.restored.get());
        drain(sim);
        LONGS_EQUAL(0, sim.dropped());
        LONGS_EQUAL(sim.port(0).started(0), sim.port(1).departed());
    }
    LONGS_EQUAL(departed[1], departed[0]);  // held until the pause ended by itself
    LONGS_EQUAL(6, departed[0]);
}

TEST(WatchdogAction, bigRedSwitchCutsEveryLosslessQueueAtOnceAndGivesThemBack) {
    SimSwitch sim(storm_config());
    for (PortId id = 0; id < 4; ++id)
        for (const ClassId priority : {ClassId{0}, ClassId{3}, ClassId{4}})
            sim.add(id, flow_of(priority, static_cast<PortId>((id + 1) % 4)));
    const Time on = at_us(50'500);
    const Time off = at_us(150'500);
    bool is_cut = false;
    std::array<std::uint64_t, classes> departed{};
    for (PortId id = 0; id < 4; ++id)
        sim.port(id).on_departure = [&](const Departure& d) {
            if (is_cut) ++departed[d.flow == 0 ? 0 : d.flow + 2];
        };
    sim.at(on, [&] { sim.big_red_switch(is_cut = true); });
    sim.at(off, [&] { sim.big_red_switch(is_cut = false); });
    // A storm that runs on does not matter to a cut; the pause that runs when it ends is obeyed.
    Storm{at_us(1'500), at_ms(140)}.send(sim.port(1));
    sim.run_until(at_us(140'000));
    for (PortId id = 0; id < 4; ++id)
        for (unsigned n = 0; n < classes; ++n)
            CHECK_EQUAL(n == 3 || n == 4, sim.device().port(id).watchdog.machine.state(
                                              static_cast<ClassId>(n)) == WatchdogState::cut);
    sim.run_until(off);
    LONGS_EQUAL(0, departed[3] + departed[4]);
    LONGS_EQUAL(4 * 100, departed[0]);  // lossy ones do not notice
    // From 51 to 150 ms, and what was held by the pause before: 49 frames of class 3.
    LONGS_EQUAL(4 * 2 * 100 + 49, sim.dropped(DropReason::watchdog_drop));
    const std::uint64_t given_back = sim.port(1).departed(0, 1);
    const Time free = at_us(131'500) + gigabits(1).byte_time() * (84 + 65'535 * 64);
    sim.run_until(free - Duration{1});
    LONGS_EQUAL(given_back, sim.port(1).departed(0, 1));
    sim.run_until(free + ms(1));
    CHECK(sim.port(1).departed(0, 1) > given_back + 10);
    LONGS_EQUAL(4 * 2 * 100 + 49, sim.dropped());
    for (PortId id = 0; id < 4; ++id)
        LONGS_EQUAL(0, sim.device().port(id).watchdog.counters[3].detected.get());
    drain(sim);
    LONGS_EQUAL(4 * 2 * 100 + 49, sim.dropped());
}

TEST(WatchdogAction, bigRedSwitchTakesOverAStorm) {
    SimSwitch sim(storm_config());
    StormLog log(sim, 1, 3);
    sim.on_instant = [&] { log.look(); };
    sim.add(0, flow_of(3, 1));
    Storm{first, at_ms(150)}.send(sim.port(1));
    sim.at(at_us(150'500), [&] { sim.big_red_switch(true); });
    sim.at(at_us(500'500), [&] { sim.big_red_switch(false); });
    sim.run_until(at_ms(400));
    CHECK(log.state() == WatchdogState::cut);
    sim.run_until(at_ms(600));
    CHECK(log.state() == WatchdogState::operational);
    LONGS_EQUAL(1, log.restored.size());
    LONGS_EQUAL(495, log.counters().total_dropped.get());  // 6 to 500 ms, all in one
    LONGS_EQUAL(495, log.counters().storm_dropped.get());
    drain(sim);
    LONGS_EQUAL(495, sim.dropped());
}

TEST(WatchdogAction, sameOutcomeForEveryNumberOfWorkersAndOnAGrid) {
    for (const Duration turn : {Duration{}, microseconds(5)}) {
        std::array<std::uint64_t, 3> digest{};
        for (unsigned i = 0; i < digest.size(); ++i) {
            Config config = storm_config();
            config.workers = std::array{1U, 2U, 4U}.at(i);
            config.virtual_turn = turn;
            SimSwitch sim(config);
            for (PortId id = 0; id < 4; ++id)
                for (const ClassId priority : {ClassId{0}, ClassId{3}, ClassId{4}})
                    for (PortId hop = 1; hop < 4; ++hop)
                        sim.add(id,
                                flow_of(priority, static_cast<PortId>((id + hop) % 4), microseconds(700)));
            for (PortId id = 1; id < 4; ++id)
                Storm{first + ms(id), at_ms(150 + 50 * id), static_cast<std::uint8_t>(id << 3)}.send(
                    sim.port(id));
            sim.at(at_us(420'000), [&] { sim.big_red_switch(true); });
            sim.at(at_us(430'000), [&] { sim.big_red_switch(false); });
            sim.run_until(at_ms(450));
            std::uint64_t detected = 0;
            for (PortId id = 0; id < 4; ++id)
                for (const WatchdogCounters& counters : sim.device().port(id).watchdog.counters)
                    detected += counters.detected.get();
            LONGS_EQUAL(4, detected);
            drain(sim);
            digest.at(i) = sim.digest();
        }
        CHECK(digest[0] == digest[1]);
        CHECK(digest[0] == digest[2]);
    }
}

}  // namespace sluice::watchdog_action_test
