// N senders at line rate into one port: nothing is lost, the bottleneck never idles, occupancy stays where
// Choudhury and Hahne say, and the senders share alike.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::incast_test {

using namespace sluice::sim;

namespace {

constexpr std::uint32_t mtu = 1500;
constexpr std::uint32_t frame = mtu + 14;
constexpr std::uint32_t cell = 256;
constexpr std::uint32_t frame_cells = (frame + cell - 1) / cell;

struct Case {
    unsigned senders;
    std::uint64_t gigabit;
    std::uint32_t cable_m;
    unsigned cycles;  // pause cycles of sender 0 to watch
    std::string text() const { return fmt::format("{} senders, {}G, {} m", senders, gigabit, cable_m); }
};

// Bytes that arrive between a decision to pause (or to resume) and its effect: the PFC frame, the cable
// twice, the peer's reaction and both interfaces. Senders get no data, so no frame of ours is in the way.
std::int64_t round_trip_bytes(const EffectivePort& port) {
    return static_cast<std::int64_t>(port.headroom.wire_bytes - port.headroom.own_frame_bytes);
}

class Incast {
  public:
    explicit Incast(const Case& c) : case_(c), n_(c.senders), sim_(make(c), c.text(), packets_) {}

    void run() {
        const GroupLimits& limits = sim_.limits(0, lossless);
        const std::int64_t size = sim_.pool_of(0, lossless).shared_cells;
        const std::int64_t settled = n_ * size / (1 + n_);  // alpha 1
        const std::int64_t limit = size / (1 + n_);
        const std::int64_t round_trip = round_trip_bytes(sim_.qos().ports.begin()->second);
        // A frame is 6 cells of 256 bytes for 1538 on the wire: cells hold what the wire brings.
        const std::int64_t tolerance =
            n_ * ((round_trip + 2 * wire_bytes(frame)) / cell + 1 + limits.xon_offset_cells);
        CHECK_TEXT(n_ * limit >= 4 * tolerance, case_.text().c_str());
        CHECK_TEXT(n_ * (limit - limits.xon_offset_cells) * cell >= round_trip, case_.text().c_str());

        for (PortId id = 0; id < n_; ++id) {
            Flow flow;
            flow.to = static_cast<PortId>(n_);
            flow.size = [](Time) { return frame; };
            sim_.add(id, flow);
        }
        Time free{};
        sim_.port(sink()).on_departure = [&](const Departure& departure) {
            if (free != Time{} && departure.at != free) sim_.fail("the bottleneck idles");
            free = departure.at + gigabits(case_.gigabit).byte_time() * wire_bytes(departure.bytes);
        };
        std::vector<std::uint64_t> before(static_cast<std::size_t>(n_));
        bool watching = false;
        sim_.on_instant = [&] {
            if (!watching) return;
            const std::int64_t used = sim_.use_of(0, lossless).shared.get();
            if (std::abs(used - settled) > tolerance)
                sim_.fail(fmt::format("{} cells shared, {} +- {} expected", used, settled, tolerance));
        };
        while (sim_.step() && !watching) {
            for (PortId id = 0; id < n_; ++id)
                watching = watching || sim_.device().port(id).generator.counters(lossless).tx_xon.get() != 0;
        }
        for (PortId id = 0; id < n_; ++id) before[id] = sim_.port(sink()).departed_wire_bytes(id);
        const auto cycles = [&] { return sim_.device().port(0).counters.group[lossless].xoff.get(); };
        const std::uint64_t first = cycles();
        while (cycles() < first + case_.cycles && sim_.step()) {
        }
        double sum = 0;
        double squares = 0;
        for (PortId id = 0; id < n_; ++id) {
            const auto share = static_cast<double>(sim_.port(sink()).departed_wire_bytes(id) - before[id]);
            sum += share;
            squares += share * share;
        }
        const double jain = sum * sum / (static_cast<double>(n_) * squares);
        // 0.999 is asked for over 1000 cycles; a cycle more or less weighs more in a short run.
        if (jain < (case_.cycles >= 1000 ? 0.999 : 0.99)) sim_.fail(fmt::format("Jain's index {:.5f}", jain));
        watching = false;
        for (PortId id = 0; id < n_; ++id) sim_.port(id).stop_flows();
        sim_.drain(sim_.now() + seconds(1));
        LONGS_EQUAL(0, sim_.dropped());
    }

  private:
    PortId sink() const { return static_cast<PortId>(n_); }

    Config make(const Case& c) {
        Config config = sim_config(c.senders + 1, gigabits(c.gigabit), c.cable_m, mtu);
        config.cell_bytes = cell;
        // First how much is promised, then so large a shared part that the two conditions hold.
        config.buffer_size_bytes = 1'000'000'000;
        const EffectiveQos qos = effective_qos(config);
        const EffectivePort& port = qos.ports.begin()->second;
        const GroupLimits& limits = port.group[lossless];
        const std::uint64_t tolerance_each =
            (static_cast<std::uint64_t>(round_trip_bytes(port)) + 2 * wire_bytes(frame)) / cell + 1 +
            limits.xon_offset_cells;
        const std::uint64_t shared = 4 * tolerance_each * (c.senders + 1) + 100;
        const EffectivePool* pool = qos.pool(PoolDirection::ingress, limits.pool);
        const std::uint64_t in = pool->reserved_cells + pool->headroom_cells + shared;
        config.pools["lossless"] = {PoolDirection::ingress, in * cell, 0};
        config.pools["lossy"] = {PoolDirection::ingress, 100'000, 0};
        config.buffer_size_bytes = in * cell + 100'000;
        // Frames take 6 cells each, so that fewer mbufs do.
        packets_ = static_cast<unsigned>(in / frame_cells) + 4096;
        return config;
    }

    Case case_;
    std::int64_t n_;
    unsigned packets_ = 0;
    SimSwitch sim_;
};

}  // namespace

TEST_GROUP(Incast){};

TEST(Incast, losesNothingFillsTheLinkAndIsFair) {
    if (!is_long()) {
        Incast({2, 10, 5, 1000}).run();
        Incast({4, 25, 5, 200}).run();
        Incast({8, 10, 40, 30}).run();
        Incast({3, 100, 5, 30}).run();
        Incast({16, 40, 5, 4}).run();
        Incast({32, 10, 5, 6}).run();
        Incast({2, 400, 300, 3}).run();
        return;
    }
    for (const unsigned senders : {2U, 3U, 4U, 8U, 16U, 32U})
        for (const std::uint64_t gigabit : {10, 25, 40, 50, 100, 200, 400})
            for (const std::uint32_t cable : {5U, 40U, 300U}) {
                const bool heavy = senders * gigabit * (cable + 40) > 40'000;
                Incast({senders, gigabit, cable, heavy ? 10U : 1000U}).run();
            }
}

}  // namespace sluice::incast_test
