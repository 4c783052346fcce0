// Random classes are made lossless and lossy, with rollback, under load and with peers that obey. A packet of
// a lossless class is lost only between the two events that say that the class was changing; then only where
// its headroom was not free, and no more than was on the wire when XOFF went. Every change ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/sim/random.hh"
#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::class_change_test {

using namespace sluice::sim;

namespace {

// RoCE's own class, which all ports have or have not, and two that each sender has or has not. Sinks always
// have those two: a lossless class that leaves by a lossy queue promises nothing.
constexpr ClassId of_all = 3;
constexpr std::array<ClassId, 2> of_senders{1, 4};
constexpr std::array<std::uint8_t, 4> dscps{26, 8, 32, 0};
constexpr std::array<ClassId, 4> class_of_dscp{3, 1, 4, 0};

struct Totals {
    unsigned intervals = 0;
    unsigned taken_back = 0;
    unsigned whole = 0;  // of intervals: all of its headroom was free
    unsigned pending = 0;
    std::uint64_t lost = 0;
    std::uint64_t lossy_lost = 0;
    std::uint64_t pauses = 0;
};

class Run {
  public:
    Run(std::uint64_t seed, unsigned workers, Totals& totals)
        : seed_(seed),
          totals_(totals),
          sim_(make(workers), fmt::format("seed {}, {} workers", seed, workers)) {
        waits_.resize(senders_ + sinks_);
        overruns_.resize(senders_ + sinks_);
        for (PortId id = 0; id < senders_; ++id) add_flows(id);
        sim_.on_class = [this](const ClassNotice& notice) { take(notice); };
        sim_.on_instant = [this] { check(); };
    }

    std::uint64_t run() {
        for (unsigned n = 0; n < 20; ++n) {
            // Some changes overtake each other, others have the time to end.
            sim_.run_until(sim_.now() + nanoseconds(static_cast<std::int64_t>(random_.below(80'000))));
            if (random_.one_in(8)) sim_.run_until(sim_.now() + bound());
            change();
        }
        sim_.run_until(sim_.now() + bound());
        if (sim_.change_pending()) sim_.fail("a change has not ended");
        for (PortId id = 0; id < senders_; ++id) {
            totals_.pauses += sim_.port(id).pauses().size();
            sim_.port(id).stop_flows();
        }
        sim_.drain(sim_.now() + milliseconds(50));
        totals_.lossy_lost += sim_.dropped();
        return sim_.digest();
    }

  private:
    struct Wait {
        bool open = false;
        bool whole = false;  // its headroom was free
        std::uint64_t max_lost = 0;
        std::uint64_t lost_before = 0;
    };

    Config make(unsigned workers) {
        senders_ = 2 + static_cast<unsigned>(random_.below(4));
        sinks_ = 1 + static_cast<unsigned>(random_.below(2));
        Config config = sim_config(senders_ + sinks_, gigabits(10), 5, 1500);
        config.workers = workers;
        config.seed = seed_;
        config.virtual_turn = random_.one_in(2) ? nanoseconds(0) : nanoseconds(500);
        for (unsigned n = 0; n < dscps.size(); ++n)
            config.maps["default"].dscp_to_tc[dscps[n]] = class_of_dscp[n];
        for (auto& [name, port] : config.ports) port.pfc = {of_senders[0], of_all, of_senders[1]};
        // All that the groups may ever be promised, and little beside it.
        std::uint64_t promised = 0;
        config.buffer_size_bytes = 1'000'000'000;
        const EffectiveQos qos = effective_qos(config);
        for (const EffectivePool& pool : qos.pools)
            if (pool.direction == PoolDirection::ingress)
                promised += (pool.reserved_cells + pool.headroom_cells) * config.cell_bytes;
        const std::uint64_t rest = 60'000 + random_.below(120'000);
        const std::uint64_t kind = random_.below(3);
        if (kind == 0) {  // as the presets have it, three quarters are the lossless pool's
            config.buffer_size_bytes = (promised + rest) / 3 * 4;
        } else {
            config.buffer_size_bytes = promised + rest;
            config.pools["in"] = {PoolDirection::ingress, config.buffer_size_bytes, kind == 1 ? 0 : promised};
            if (kind == 2) config.buffer_size_bytes = config.pools["in"].size_bytes += promised;
            config.pools["out"] = {PoolDirection::egress, config.buffer_size_bytes, 0};
        }
        return config;
    }

    void add_flows(PortId id) {
        for (unsigned n = 0; n < dscps.size(); ++n) {
            if (random_.one_in(4)) continue;
            Flow flow;
            flow.dscp = dscps[n];
            flow.priority = class_of_dscp[n];
            flow.to = static_cast<PortId>(senders_ + random_.below(sinks_));
            if (random_.one_in(3))
                flow.interval = nanoseconds(static_cast<std::int64_t>(1000 + random_.below(9000)));
            const bool large = random_.one_in(2);
            flow.size = [large, key = scramble(id * 8 + n + seed_ * 1000),
                         draws = std::uint64_t{0}](Time) mutable {
                return large ? 1514U : 60 + static_cast<std::uint32_t>(scramble(key + ++draws) % 1455);
            };
            sim_.add(id, flow);
        }
    }

    void change() {
        Config config = sim_.config();
        if (!history_.empty() && random_.one_in(3)) {
            config = history_.back();
            history_.pop_back();
        } else {
            history_.push_back(config);
            if (random_.one_in(2)) {
                const bool had = has(port_of(config, 0), of_all);
                for (auto& [name, port] : config.ports) set(port, of_all, !had);
            } else {
                const ClassId priority = of_senders[random_.below(of_senders.size())];
                for (PortId id = 0; id < senders_; ++id)
                    if (random_.one_in(2))
                        set(port_of(config, id), priority, !has(port_of(config, id), priority));
            }
            if (config.pools.empty() && random_.one_in(4)) {  // a group changes pools, lossless or not
                auto& pool = port_of(config, random_.below(senders_)).priority_group[of_senders[0]].pool;
                pool = pool ? std::nullopt
                            : std::optional<std::string>(random_.one_in(2) ? "lossy" : "lossless");
            }
            if (random_.one_in(4))
                port_of(config, random_.below(senders_)).priority_group[of_all].size_bytes =
                    random_.below(3) * 3000;
        }
        if (!sim_.apply(config)) return;
        began_ = sim_.now();
        bound_ = bound();
        if (sim_.change_pending()) ++totals_.pending;
    }
    static bool has(const PortConfig& port, ClassId n) {
        return std::find(port.pfc->begin(), port.pfc->end(), n) != port.pfc->end();
    }
    static void set(PortConfig& port, ClassId n, bool on) {
        if (on == has(port, n)) return;
        if (on)
            port.pfc->push_back(n);
        else
            port.pfc->erase(std::find(port.pfc->begin(), port.pfc->end(), n));
    }

    // In which all that is in use, and all that still comes for a class that is held, has left by one port
    // where its class has one part in four. On the wire a cell takes 24 bytes more at most.
    Duration bound() {
        std::uint64_t cells = senders_ * 3 * sim_.qos().ports.begin()->second.headroom.xoff_cells;
        for (PortId id = 0; id < senders_; ++id)
            for (ClassId n = 0; n < classes; ++n) cells += sim_.group(id, n).used_cells();
        return gigabits(10).byte_time() * static_cast<std::int64_t>(4 * cells * (256 + 24));
    }

    void take(const ClassNotice& notice) {
        Wait& wait = waits_[notice.port][notice.priority];
        if (notice.begins == wait.open) sim_.fail("a wait that began twice, or ended without a beginning");
        if (!notice.begins) {
            wait.open = false;
            if (!notice.lossless) ++totals_.taken_back;
            return;
        }
        ++totals_.intervals;
        const EffectivePort& port = sim_.qos().ports.at(fmt::format("p{}", notice.port));
        wait.open = true;
        wait.lost_before = overruns(notice.port, notice.priority);
        wait.whole = sim_.limits(notice.port, notice.priority).headroom_cells >= port.headroom.xoff_cells &&
                     sim_.pool_of(notice.port, notice.priority).shared_headroom_cells == 0;
        wait.max_lost = port.headroom.xoff_cells;
        if (wait.whole) ++totals_.whole;
    }
    std::uint64_t overruns(PortId id, ClassId n) {
        return sim_.device().port(id).counters.group[n].headroom_overruns.get();
    }

    void check() {
        for (PortId id = 0; id < senders_; ++id) {
            std::uint64_t flagged = 0;
            for (unsigned i = 1; i < drop_reason_count; ++i)
                flagged += sim_.device().dropped_lossless(id, static_cast<DropReason>(i));
            std::uint64_t overrun = 0;
            for (ClassId n = 0; n < classes; ++n) {
                const std::uint64_t now = overruns(id, n);
                const std::uint64_t more = now - std::exchange(overruns_[id][n], now);
                overrun += now;
                if (more == 0) continue;
                totals_.lost += more;
                const Wait& wait = waits_[id][n];
                if (!wait.open) sim_.fail(fmt::format("class {}.{} lost a packet, and is lossless", id, n));
                if (wait.whole) sim_.fail(fmt::format("class {}.{} lost a packet with its headroom", id, n));
                if (now - wait.lost_before > wait.max_lost)
                    sim_.fail(fmt::format("class {}.{} lost more than was on the wire", id, n));
            }
            if (flagged != overrun) sim_.fail(fmt::format("port {}: a lossless packet was lost", id));
            for (ClassId n = 0; n < classes; ++n)
                if (waits_[id][n].open != sim_.limits(id, n).changing)
                    sim_.fail(fmt::format("class {}.{}: the events say otherwise", id, n));
        }
        if (sim_.change_pending() && sim_.now() - began_ > bound_)
            sim_.fail(fmt::format("a change has not ended: {} cells", sim_.pending_cells()));
    }

    std::uint64_t seed_;
    Random random_{seed_};
    Totals& totals_;
    unsigned senders_ = 0;
    unsigned sinks_ = 0;
    SimSwitch sim_;
    std::vector<std::array<Wait, classes>> waits_;
    std::vector<std::array<std::uint64_t, classes>> overruns_;
    std::vector<Config> history_;
    Time began_{};
    Duration bound_{};
};

std::uint64_t first_seed() {
    const char* value = std::getenv("SLUICE_SEED");
    return value != nullptr ? std::strtoull(value, nullptr, 10) : 1;
}

}  // namespace

TEST_GROUP(ClassChange){};

TEST(ClassChange, losesNothingOutsideItsIntervalAndEnds) {
    const std::uint64_t runs = tries({.in_long = 300, .usual = 12, .sanitized = 4});
    Totals totals;
    for (std::uint64_t seed = first_seed(); seed < first_seed() + runs; ++seed) {
        const std::uint64_t digest = Run(seed, 1, totals).run();
        if (seed % 4 == 0 && Run(seed, 3, totals).run() != digest)
            FAIL(fmt::format("seed {}: 3 workers make a difference", seed).c_str());
    }
    if (std::getenv("SLUICE_SHOW") != nullptr)
        fmt::print("pending {} intervals {} whole {} taken back {} lost {} of all {} pauses {}\n",
                   totals.pending, totals.intervals, totals.whole, totals.taken_back, totals.lost,
                   totals.lossy_lost, totals.pauses);
    // It is a test only if all of that happened.
    CHECK(totals.pending > runs);
    CHECK(totals.intervals > runs);
    CHECK(totals.whole > 0);
    CHECK(totals.taken_back > 0);
    CHECK(totals.lost > 0);
    CHECK(totals.lossy_lost > totals.lost);
    CHECK(totals.pauses > runs);
}

}  // namespace sluice::class_change_test
