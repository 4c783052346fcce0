// Pauses from a peer, at every speed: no frame of the class starts before the deadline, the next starts at
// once after.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pause_deadline_test {

using namespace sluice::sim;

namespace {

constexpr std::uint32_t pfc_wire_bytes = wire_bytes(pfc_frame_bytes);

// From when class 3 may start frames, as the pauses up to `now` say.
Time free_from(const std::vector<SentPause>& pauses, Duration byte, Time now) {
    const SentPause* last = nullptr;
    for (const SentPause& pause : pauses)
        if (pause.at <= now) last = &pause;
    if (last == nullptr) return Time{};
    const std::int64_t quanta = last->map.quanta[lossless];
    return quanta == 0 ? last->at : last->at + byte * (pfc_wire_bytes + quanta * quantum_bytes);
}

// Class 3 is backlogged, class 0 beside it if `other`; the peer of p1 pauses class 3 again and again.
void run_at(Rate speed, bool other, std::uint64_t seed) {
    Config config = sim_config(3, speed, 5, 1500);
    config.buffer_size_bytes = 8'000'000;
    SimSwitch sim(config, fmt::format("seed {}, {} Gb/s", seed, speed.bits_per_second / 1'000'000'000));
    Flow flow;
    flow.size = [seed, draws = std::uint64_t{0}](Time) mutable {
        return 60 + static_cast<std::uint32_t>(scramble(seed << 20 | ++draws) % 1455);
    };
    sim.add(0, flow);
    if (other) {
        flow.dscp = 0;
        flow.priority = 0;
        sim.add(2, flow);
    }
    const Duration byte = speed.byte_time();
    std::vector<SentPause> pauses;
    Time at = Time{} + byte * 20'000;
    for (unsigned i = 0; i < 12; ++i) {
        const auto quanta = static_cast<std::uint16_t>(i % 4 == 3 ? 0 : 1 + scramble(seed + i) % 300);
        pauses.push_back({at, {}});
        pauses.back().map.quanta[lossless] = quanta;
        sim.port(1).send_pause(at, lossless, quanta);
        // Half of them before the one ahead has ended: a new time replaces the old one.
        at = at + byte * static_cast<std::int64_t>(pfc_wire_bytes +
                                                   scramble(seed * 3 + i) % (quanta * 128ULL + 4000));
    }
    const Time end = at + byte * 40'000;
    Time wire_free{};
    unsigned resumed = 0;
    sim.port(1).on_departure = [&](const Departure& departure) {
        const Time free = free_from(pauses, byte, departure.at);
        if (departure.from == 0) {
            if (departure.at < free) sim.fail("a frame starts before the deadline");
            // The wire was idle at that moment: the class was held, and has a backlog.
            if (wire_free < free) {
                if (departure.at != free) sim.fail("the next frame does not start at once");
                ++resumed;
            }
        }
        wire_free = departure.at + byte * wire_bytes(departure.bytes);
    };
    sim.run_until(end);
    if (!other) CHECK(resumed >= 3);
    CHECK(sim.device().port(1).honor.counters(lossless).expired.get() > 0);
    LONGS_EQUAL(3, sim.device().port(1).honor.counters(lossless).rx_xon.get());
    // The other class had the wire to itself meanwhile.
    if (other) CHECK(sim.port(1).departed(2, 0) > sim.port(1).departed(0, 0));
    sim.port(0).stop_flows();
    sim.port(2).stop_flows();
    sim.drain(end + byte * 20'000'000);
    LONGS_EQUAL(0, sim.dropped(DropReason::headroom_overrun));
}

}  // namespace

TEST_GROUP(PauseDeadline){};

TEST(PauseDeadline, isExactAtEverySpeed) {
    for (const std::uint64_t gigabit : {1, 2, 5, 10, 20, 25, 40, 50, 80, 100, 200, 400, 500, 800})
        for (std::uint64_t seed = 1; seed <= (is_long() ? 50U : 2U); ++seed) {
            if (!gigabits(gigabit).valid_port_speed()) continue;
            run_at(gigabits(gigabit), false, seed);
            run_at(gigabits(gigabit), true, seed);
        }
}

// In either order.
TEST(PauseDeadline, ofTwoPrioritiesOfAQueueTheLongerCountsAsItsLoad) {
    for (const bool longer_first : {false, true}) {
        Config config = sim_config(2, gigabits(1));
        config.load_balance.mode = LoadBalance::flowlet;
        config.maps["default"].pfc_priority_to_queue[4] = 3;
        for (auto& [name, port] : config.ports) port.pfc = {3, 4};
        SimSwitch sim(config);
        PauseMap map{1U << 3 | 1U << 4, {}};
        map.quanta[longer_first ? 3 : 4] = 2000;
        map.quanta[longer_first ? 4 : 3] = 1000;
        sim.port(1).send_pause(Time{} + microseconds(1), map);
        sim.run_until(Time{} + microseconds(10));
        CHECK(sim.device().load(1).paused_until(3) ==
              sim.device().port(1).honor.deadline(longer_first ? 3 : 4));
    }
}

}  // namespace sluice::pause_deadline_test
