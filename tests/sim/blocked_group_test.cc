// A blocked lossless group through the whole switch, in exact sequence: XOFF, headroom to the last cell,
// drop; refreshes while off; XON at its limit; nothing after.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::blocked_group_test {

using namespace sluice::sim;

namespace {

constexpr std::int64_t static_limit = 64;  // in "alpha exponents": a static threshold

struct Case {
    int n;  // alpha = 2^n, or `static_limit`
    std::uint32_t frame;
    std::uint32_t cell;
    std::string text() const { return fmt::format("n {} frame {} cell {}", n, frame, cell); }
};

Config config_of(const Case& c) {
    const std::uint32_t k = CellSize(c.cell).cells(c.frame);
    Config config = sim_config(2, gigabits(100), 5, 9216);
    config.cell_bytes = c.cell;
    const std::uint64_t reserved = 2 * k + 3;
    const std::uint64_t headroom = 3 * k + k / 2;
    const std::uint64_t shared = 9 * k + 150;
    config.pools["in"] = {PoolDirection::ingress, (reserved + headroom + shared) * c.cell, 0};
    config.pools["other"] = {PoolDirection::ingress, 2000ULL * c.cell, 0};
    config.buffer_size_bytes = config.pools["in"].size_bytes + config.pools["other"].size_bytes;
    config.pools["out"] = {PoolDirection::egress, config.buffer_size_bytes, 0};
    for (unsigned id = 0; id < 2; ++id) {
        PortConfig& port = port_of(config, id);
        port.small_xoff = true;
        port.peer = PeerKind::ignore;
        port.pfc_quanta = 200;
        for (unsigned n = 0; n < classes; ++n) {
            port.priority_group[n].pool = "other";
            port.queue[n].pool = "out";
            port.queue[n].size_bytes = 0;
            port.priority_group[n].size_bytes = 0;
        }
        PriorityGroupConfig& group = port.priority_group[lossless];
        group.xoff_bytes = headroom * c.cell;
        group.xon_offset_bytes = (2 * k + 1) * c.cell;
        if (id == 1) continue;  // sends nothing
        group.pool = "in";
        group.size_bytes = reserved * c.cell;
        if (c.n == static_limit)
            group.static_bytes = (shared / 2) * c.cell;
        else
            group.dynamic_th = c.n;
    }
    return config;
}

// floor(alpha x / (1 + alpha)), alpha = 2^n.
std::int64_t share(std::int64_t x, int n) {
    return n >= 0 ? (x << n) / ((1LL << n) + 1) : x / ((1LL << -n) + 1);
}
// The largest u with u + offset <= alpha (size - u); 0 when there is none.
std::int64_t resume_level(std::int64_t size, int n, std::int64_t offset) {
    const std::int64_t room = n >= 0 ? (size << n) - offset : size - (offset << -n);
    return room <= 0 ? 0 : room / ((n >= 0 ? 1LL << n : 1LL << -n) + 1);
}

class Blocked {
  public:
    explicit Blocked(const Case& c)
        : case_(c),
          sim_(config_of(c), c.text()),
          k_(sim_.policy().cell.cells(c.frame)),
          limits_(sim_.limits(0, lossless)) {
        const std::int64_t size = sim_.pool_of(0, lossless).shared_cells;
        if (c.n == static_limit) {
            const std::int64_t limit = limits_.threshold.limit_cells(0, 0);
            most_ = std::min(limit, size);
            resume_ = std::max<std::int64_t>(0, limit - limits_.xon_offset_cells);
        } else {
            most_ = share(size, c.n);
            resume_ = resume_level(size, c.n, limits_.xon_offset_cells);
        }
        flow_.size = [bytes = c.frame](Time) { return bytes; };
    }

    void run() {
        sim_.hold(1, lossless, true);
        const std::int64_t free = limits_.reserved_cells / k_ + most_ / k_;
        for (std::int64_t i = 0; i < free; ++i) {
            one();
            expect(sim_.port(0).pauses().empty(), "PFC too soon");
        }
        LONGS_EQUAL(most_ / k_ * k_, sim_.group(0, lossless).shared_cells());
        const std::int64_t headroom = limits_.headroom_cells / k_;
        for (std::int64_t i = 0; i < headroom; ++i) {
            one();
            expect(xoffs() == 1 || refreshes() > 0, "no XOFF");
            expect(sim_.group(0, lossless).headroom_cells() == (i + 1) * k_, "not into headroom");
            expect(sim_.dropped() == 0, "dropped too soon");
        }
        for (unsigned i = 1; i <= 3; ++i) {
            one();
            expect(sim_.dropped(DropReason::headroom_overrun) == i && sim_.dropped() == i,
                   "no headroom_overrun");
        }
        refreshed();
        drained(free + headroom);
    }

  private:
    void expect(bool good, const char* what) {
        if (!good) sim_.fail(what);
    }
    std::uint64_t xoffs() { return sim_.device().port(0).generator.counters(lossless).tx_xoff.get(); }
    std::uint64_t refreshes() { return sim_.device().port(0).generator.counters(lossless).tx_refresh.get(); }

    void one() {
        sim_.port(0).inject(sim_.now() + nanoseconds(1), flow_, {case_.frame});
        sim_.run_until(sim_.now() + nanoseconds(2));
    }

    // At half the pause time, to the picosecond, and for this class alone.
    void refreshed() {
        const Duration half = gigabits(100).byte_time() * (quantum_bytes * 200 / 2);
        sim_.run_until(sim_.now() + half * 5);
        const auto& pauses = sim_.port(0).pauses();
        expect(pauses.size() >= 5, "not refreshed");
        for (std::size_t i = 0; i < pauses.size(); ++i) {
            PauseMap map;
            map.class_enable = 1U << lossless;
            map.quanta[lossless] = 200;
            expect(pauses[i].map == map, "wrong pause");
            expect(i == 0 || pauses[i].at - pauses[i - 1].at == half, "not refreshed in time");
        }
    }

    void drained(std::int64_t packets) {
        const auto& pauses = sim_.port(0).pauses();
        const auto is_xon = [](const SentPause& pause) { return pause.map.quanta[lossless] == 0; };
        sim_.hold(1, lossless, false);
        const std::int64_t headroom = limits_.headroom_cells / k_;
        const std::int64_t excess = std::max<std::int64_t>(0, most_ / k_ * k_ - resume_);
        const std::int64_t expected = headroom + (excess + k_ - 1) / k_;
        while (pauses.empty() || !is_xon(pauses.back())) {
            expect(sim_.step(sim_.now() + milliseconds(1)), "no XON");
            expect(static_cast<std::int64_t>(sim_.port(1).departed()) <= expected, "XON too late");
        }
        // A frame has left its queue, and its cells, when it starts.
        LONGS_EQUAL(expected, sim_.port(1).departed());
        const std::size_t sent = pauses.size();
        sim_.drain(sim_.now() + milliseconds(5));
        LONGS_EQUAL(sent, pauses.size());
        LONGS_EQUAL(packets, sim_.port(1).departed());
        LONGS_EQUAL(1, sim_.device().port(0).counters.group[lossless].xoff.get());
        LONGS_EQUAL(0, sim_.device().port(1).counters.queue[lossless].dropped.get());
    }

    Case case_;
    SimSwitch sim_;
    std::int64_t k_;
    GroupLimits limits_;
    std::int64_t most_;    // shared cells of a group alone
    std::int64_t resume_;  // shared cells at which XON comes at the latest
    Flow flow_;
};

}  // namespace

TEST_GROUP(BlockedGroup){};

TEST(BlockedGroup, isPausedRefreshedDroppedAndResumedAsTheLawSays) {
    const std::array frames{60U, 64U, 97U, 256U, 257U, 1024U, 1514U, 4096U, 9000U, 9216U};
    const std::array cells{96U, 144U, 192U, 208U, 254U, 256U};
    unsigned count = 0;
    for (int n = -8; n <= 8; ++n)
        for (const std::uint32_t frame : frames)
            for (const std::uint32_t cell : cells) {
                // by default one in 13, which is prime to the numbers of frames, cells and thresholds
                if (count++ % 13 != 0 && !is_long()) continue;
                Blocked({n == 8 ? static_cast<int>(static_limit) : n, frame, cell}).run();
            }
}

}  // namespace sluice::blocked_group_test
