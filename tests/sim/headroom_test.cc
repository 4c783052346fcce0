// The computed headroom is safe and tight: an adversary that chooses phases, frame sizes and the frames just
// started on either side never needs more, comes within 5 % of it, and loses packets when it is 10 % smaller.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lib/values/rng.hh"
#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::headroom_test {

using namespace sluice::sim;

namespace {

struct Case {
    std::uint64_t gigabit;
    std::uint32_t cable_m;
    std::uint32_t mtu;
    std::uint32_t cell;
    std::optional<Duration> reaction{};
    std::string text() const {
        return fmt::format("{}G {} m mtu {} cell {}{}", gigabit, cable_m, mtu, cell,
                           reaction ? ", own reaction" : "");
    }
};

// p0's peer sends class 3 to p1, whose queue is held; p2 sends large frames to p0, so that the PFC frame has
// to wait.
class Attack {
  public:
    // `shift`: how much later p2 starts, see `best_shift`.
    Attack(const Case& c, std::uint64_t seed, unsigned per_cent, Duration shift = {})
        : case_(c),
          shift_(shift),
          seed_(seed),
          sim_(make(c, per_cent), fmt::format("seed {}, {}, {} %", seed, c.text(), per_cent)) {
        largest_ = case_.mtu + 14;
        const EffectivePort& port = sim_.qos().ports.begin()->second;
        worst_ = static_cast<std::uint32_t>(port.headroom.worst_frame_bytes);
        computed_ = static_cast<std::uint32_t>(port.headroom.xoff_cells);
    }

    // The most headroom cells in use, or more than the headroom when packets were lost.
    std::uint32_t run() {
        sim_.hold(1, lossless, true);
        sim_.port(0).deliver_at_end(true);  // as a NIC does: the frame that fires is wholly on our side
        Flow flow;
        flow.size = [this](Time now) { return next_size(now); };
        flow.start =
            Time{} +
            Duration{static_cast<std::int64_t>(
                draw() % static_cast<std::uint64_t>(gigabits(case_.gigabit).byte_time().ps * 20'000))};
        sim_.add(0, flow);
        Flow other;
        other.dscp = 0;
        other.priority = 0;
        other.to = 0;
        other.size = [this](Time) { return largest_; };
        other.start = Time{} + shift_;
        sim_.add(2, other);
        while (sim_.step(Time{} + milliseconds(20))) {
            if (fired_ == Time{} && sim_.group(0, lossless).in_xoff()) {
                fired_ = sim_.now();
                waits_ = sim_.device().port(0).link.busy_until() - fired_;
            }
            // The pause has taken effect, and what was on the wire has come.
            if (sim_.port(0).sender().is_paused(lossless) && sim_.now() > sim_.port(0).sender().free_at())
                break;
        }
        const auto lost = sim_.dropped(DropReason::headroom_overrun);
        const std::uint32_t used = sim_.group(0, lossless).headroom_watermark.persistent.get();
        sim_.port(0).stop_flows();
        sim_.port(2).stop_flows();
        sim_.hold(1, lossless, false);
        sim_.drain(sim_.now() + milliseconds(50));
        return lost == 0 ? used : UINT32_MAX;
    }
    std::uint32_t computed() const { return computed_; }
    // With this shift the same attack finds p0's transmitter with a large frame just begun.
    Duration best_shift() const {
        const Duration frame = gigabits(case_.gigabit).byte_time() * wire_bytes(largest_);
        return waits_.ps <= 0 ? Duration{} : frame - waits_ - Duration{1};
    }

  private:
    static Config make(const Case& c, unsigned per_cent) {
        Config config = sim_config(3, gigabits(c.gigabit), c.cable_m, c.mtu);
        config.cell_bytes = c.cell;
        config.buffer_size_bytes = 1'000'000'000;
        for (auto& [name, port] : config.ports) port.reaction = c.reaction;
        const std::uint64_t headroom = effective_qos(config).ports.begin()->second.headroom.xoff_cells;
        for (auto& [name, port] : config.ports) {
            port.small_xoff = true;
            port.priority_group[lossless].xoff_bytes = headroom * per_cent / 100 * c.cell;
            port.priority_group[lossless].static_bytes = 40'000;
        }
        config.buffer_size_bytes = (4 * headroom * c.cell + 800'000) / 3 * 4;
        return config;
    }

    std::uint64_t draw() { return scramble(scramble(seed_) + ++draws_); }

    // Until XOFF anything, with a large frame where it would fire; then the size that fills most cells; then,
    // when the next frame is the last before the pause, a large one.
    std::uint32_t next_size(Time now) {
        const bool paused_soon = sim_.port(0).sender().next_change().has_value();
        if (fired_ == Time{}) return below_limit();
        const Duration small = gigabits(case_.gigabit).byte_time() * wire_bytes(worst_);
        if (paused_soon && now + small >= *sim_.port(0).sender().next_change()) return largest_;
        return worst_;
    }
    std::uint32_t below_limit() {
        const std::uint32_t used = sim_.group(0, lossless).used_cells();
        const GroupLimits& limits = sim_.limits(0, lossless);
        const auto limit =
            limits.reserved_cells + static_cast<std::uint32_t>(limits.threshold.limit_cells(0, 0));
        const std::uint32_t most = sim_.policy().cell.cells(largest_);
        if (used + 3 * most < limit) return 60 + static_cast<std::uint32_t>(draw() % (largest_ - 59));
        return draw() % 2 == 0 ? largest_ : worst_;
    }

    Case case_;
    Duration shift_;
    Duration waits_{};
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;
    SimSwitch sim_;
    std::uint32_t largest_;
    std::uint32_t worst_;
    std::uint32_t computed_;
    Time fired_{};
};

}  // namespace

TEST_GROUP(HeadroomOfTheSystem){};

TEST(HeadroomOfTheSystem, isSafeAndTight) {
    const std::vector<Case> cases{{10, 5, 1500, 256},    {100, 40, 4200, 256, microseconds(12)},
                                  {25, 40, 9100, 144},   {100, 5, 9100, 256},
                                  {100, 300, 1500, 208}, {400, 40, 4096, 254}};
    const std::uint64_t tries = is_long() ? 400 : 8;
    for (const Case& c : cases) {
        std::uint32_t most = 0;
        std::uint32_t computed = 0;
        for (std::uint64_t seed = 1; seed <= tries; ++seed) {
            Attack attack(c, seed, 100);
            const std::uint32_t used = attack.run();
            computed = attack.computed();
            if (used > computed) FAIL(fmt::format("seed {}: {}: not safe", seed, c.text()).c_str());
            Attack sharper(c, seed, 100, attack.best_shift());
            const std::uint32_t more = sharper.run();
            if (more > computed) FAIL(fmt::format("seed {}: {}: not safe", seed, c.text()).c_str());
            most = std::max({most, used, more});
        }
        if (most * 100ULL < computed * 95ULL)
            FAIL(fmt::format("{}: at most {} of {} cells: not tight", c.text(), most, computed).c_str());
        bool lost = false;
        for (std::uint64_t seed = 1; seed <= tries && !lost; ++seed) {
            Attack attack(c, seed, 90);
            lost = attack.run() == UINT32_MAX || Attack(c, seed, 90, attack.best_shift()).run() == UINT32_MAX;
        }
        CHECK_TEXT(lost, c.text().c_str());
    }
}

}  // namespace sluice::headroom_test
