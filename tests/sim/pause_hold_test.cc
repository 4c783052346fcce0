// Check against run: whether pauses hold a sender that obeys. Random configurations in which lint finds
// nothing wrong with pause times lose nothing, whatever the other direction does; those that it refuses lose
// in a traffic that makes every refresh as late as it can be; and a warning says that it is a bound.
// SLUICE_LONG=1 takes more seeds, SLUICE_SEED=N that one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "control/config/lint/judge.hh"
#include "tests/sim/random.hh"
#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pause_hold_test {

using namespace sluice::sim;

namespace {

constexpr PortId from = 0, to = 1, other = 2;

struct Drawn {
    Config config;
    Headroom loop;
    std::string text;
};

// Quanta around what holds; every neighbor has a tag, so that our frames are as long as headroom has them.
Drawn draw(std::uint64_t seed) {
    Random random(seed);
    const std::uint64_t gigabit = random.among(std::array{10U, 25U, 40U, 100U, 200U, 400U});
    const std::uint32_t cable = random.among(std::array{1U, 5U, 40U, 300U, 2000U});
    const std::uint32_t mtu = random.among(std::array{1500U, 4096U, 9100U});
    Drawn drawn{sim_config(3, gigabits(gigabit), cable, mtu), {}, {}};
    Config& config = drawn.config;
    config.cell_bytes = random.among(std::array{144U, 208U, 256U});
    if (random.one_in(3))
        config.virtual_turn = random.among(std::array{nanoseconds(200), microseconds(1), microseconds(4)});
    NeighborSet tagged;
    for (NeighborConfig each : *config.neighbors) {
        each.vlan = 5;
        tagged.insert(each);
    }
    config.neighbors.change() = tagged;
    const bool two_classes = random.one_in(3), own_reaction = random.one_in(3);
    const int threshold = static_cast<int>(random.below(5)) - 3;
    for (auto& [name, port] : config.ports) {
        if (two_classes) port.pfc = {3, 4};
        if (own_reaction) port.reaction = nanoseconds(static_cast<std::int64_t>(100 + gigabit * 10));
        port.priority_group[lossless].dynamic_th = threshold;
    }
    config.buffer_size_bytes = 1'000'000'000;
    drawn.loop = effective_qos(config).ports.begin()->second.headroom;
    config.buffer_size_bytes = (8 * drawn.loop.xoff_bytes + 1'000'000) / 3 * 4;
    const std::uint64_t per_cent = 30 + random.below(100);
    const std::uint64_t quanta = quanta_to_hold(drawn.loop.wire_bytes * per_cent / 100);
    for (auto& [name, port] : config.ports)
        port.pfc_quanta = static_cast<std::uint16_t>(
            std::clamp<std::uint64_t>(quanta, PfcSendSettings::min_quanta, UINT16_MAX));
    drawn.text = fmt::format("SLUICE_SEED={}: {}G {} m mtu {}, {} quanta, turn {} ps", seed, gigabit, cable,
                             mtu, config.ports.begin()->second.pfc_quanta, config.virtual_turn.ps);
    return drawn;
}

// The finding about the pauses of the ports: "", "error", or "warning".
std::string judged(const Drawn& drawn) {
    std::string worst;
    for (const Finding& each : lint_qos(drawn.config, effective_qos(drawn.config))) {
        if (each.severity == Severity::error && each.id != "pause-time")
            FAIL((drawn.text + each.message).c_str());
        if (each.id != "pause-time") continue;
        const bool error = each.severity == Severity::error;
        worst = error ? "error" : "warning";
        CHECK_TEXT(error || each.message.find("a bound") != std::string::npos, each.message.c_str());
    }
    return worst;
}

// Packets that are lost while the queue is held that the sender fills. `against`: what goes the other way:
// nothing, frames of this size without end, or, when XOFF is known to fire at `fired`, a large one just
// before every refresh.
class Held {
  public:
    explicit Held(const Drawn& drawn) : drawn_(drawn), sim_(drawn.config, drawn.text) {
        sim_.hold(to, lossless, true);
        Flow flow;
        flow.size = [size = largest()](Time) { return size; };
        sim_.add(from, flow);
    }
    void endless(std::uint32_t size) {
        Flow flow = lossy();
        flow.size = [size](Time) { return size; };
        sim_.add(other, flow);
    }
    void before_every_refresh(Time fired) {
        const PortConfig& port = drawn_.config.ports.begin()->second;
        const Duration late =
            port.speed.byte_time() * static_cast<std::int64_t>(drawn_.loop.own_frame_bytes) - Duration{1};
        for (std::int64_t n = 0; n < pauses; ++n)
            sim_.port(other).inject(fired + half() + (half() + late) * n - Duration{1}, lossy(), {largest()});
    }
    std::uint64_t run() {
        const Time end = Time{} + half() * (2 * pauses) + microseconds(500);
        while (sim_.step(end) && sim_.dropped(DropReason::headroom_overrun) == 0)
            if (fired_ == Time{} && sim_.group(from, lossless).in_xoff()) fired_ = sim_.now();
        const std::uint64_t lost = sim_.dropped(DropReason::headroom_overrun);
        sim_.port(from).stop_flows();
        sim_.port(other).stop_flows();
        sim_.hold(to, lossless, false);
        sim_.drain(sim_.now() + milliseconds(200));
        CHECK_TEXT(fired_ != Time{}, drawn_.text.c_str());
        return lost;
    }
    Time fired() const { return fired_; }

  private:
    static constexpr std::int64_t pauses = 150;

    std::uint32_t largest() const { return drawn_.config.ports.begin()->second.mtu + 14; }
    Duration half() const {
        const PortConfig& port = drawn_.config.ports.begin()->second;
        return port.speed.byte_time() * static_cast<std::int64_t>(half_pause_bytes(port.pfc_quanta));
    }
    static Flow lossy() {
        Flow flow;
        flow.dscp = flow.priority = 0;
        flow.to = from;
        return flow;
    }

    const Drawn& drawn_;
    SimSwitch sim_;
    Time fired_{};
};

// In the worst of some traffics.
std::uint64_t lost(const Drawn& drawn) {
    Held alone(drawn);
    if (const std::uint64_t found = alone.run(); found != 0) return found;
    Held late(drawn);
    late.before_every_refresh(alone.fired());
    if (const std::uint64_t found = late.run(); found != 0) return found;
    for (const std::uint32_t part : {1, 2, 3}) {
        Held full(drawn);
        full.endless(std::max(60U, (drawn.config.ports.begin()->second.mtu + 14) / part));
        if (const std::uint64_t found = full.run(); found != 0) return found;
    }
    return 0;
}

}  // namespace

TEST_GROUP(PauseHold){};

TEST(PauseHold, checkPassesWhatLosesNothingAndRefusesWhatLoses) {
    std::uint64_t passed = 0, refused = 0, bounds = 0;
    const char* one = std::getenv("SLUICE_SEED");
    const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
    const std::uint64_t seeds = one != nullptr ? 1 : tries({.in_long = 300, .usual = 40, .sanitized = 8});
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        const Drawn drawn = draw(seed);
        const std::string found = judged(drawn);
        ++(found.empty() ? passed : found == "error" ? refused : bounds);
        if (found == "warning") continue;
        const bool loses = lost(drawn) != 0;
        // On a grid of turns no frame of ours begins just before a refresh.
        const bool is_surely =
            drawn.config.virtual_turn.ps == 0 ||
            half_pause_bytes(drawn.config.ports.begin()->second.pfc_quanta) < drawn.loop.obeying_bytes();
        if (found.empty() || is_surely)
            STRCMP_EQUAL_TEXT(found.c_str(), loses ? "error" : "", drawn.text.c_str());
    }
    if (one == nullptr && !is_sanitized) CHECK_TRUE(passed > 2 && refused > 2 && bounds > 0);
}

}  // namespace sluice::pause_hold_test
