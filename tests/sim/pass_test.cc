// What passes an idle port leaves as if it had been queued and picked. Each random run is made twice; the
// second time its ports are traced, and a traced port queues every packet. All that is counted and every
// departure is the same: short and long bursts, of one queue and of eight, within a quantum and beyond,
// strict queues, rates, reserved cells that suffice and that do not, WRED at both ends of the queue, pauses
// and held queues.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <tuple>

#include "lib/values/rng.hh"
#include "tests/sim/random.hh"
#include "tests/sim/sim_switch.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pass_test {

using namespace sluice::sim;

namespace {

class Run {
  public:
    Run(std::uint64_t seed, bool traced)
        : seed_(seed), sim_(make(), fmt::format("seed {}{}", seed, traced ? ", traced" : "")) {
        for (unsigned id = 0; id < ports_; ++id) {
            const auto port = static_cast<PortId>(id);
            if (traced) sim_.device().port(port).trace = std::make_unique<PortTrace>(16, nanoseconds(100));
            for (unsigned n = 1 + static_cast<unsigned>(random_.below(12)); n > 0; --n)
                sim_.add(port, flow());
        }
    }

    std::uint64_t digest() {
        const Duration length = microseconds(60);
        for (unsigned n = static_cast<unsigned>(random_.below(12)); n > 0; --n)
            sim_.at(Time{} + nanoseconds(static_cast<std::int64_t>(random_.below(60'000))),
                    [this] { change(); });
        sim_.run_until(Time{} + length);
        for (unsigned id = 0; id < ports_; ++id) {
            sim_.port(static_cast<PortId>(id)).stop_flows();
            for (ClassId n = 0; n < classes; ++n) sim_.hold(static_cast<PortId>(id), n, false);
        }
        sim_.drain(sim_.now() + milliseconds(50));
        return sim_.digest();
    }
    // Packets that were sent, marked, and dropped by WRED.
    std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> counted() {
        std::uint64_t sent = 0, marked = 0, dropped = 0;
        for (unsigned id = 0; id < ports_; ++id) {
            const PortCounters& counters = sim_.device().port(static_cast<PortId>(id)).counters;
            sent += counters.tx.packets.get();
            for (const QueueCounters& queue : counters.queue)
                for (unsigned color = 0; color < colors; ++color) {
                    marked += queue.marked[color].get();
                    dropped += queue.wred_dropped[color].get();
                }
        }
        return {sent, marked, dropped};
    }

  private:
    // With one class all are lossless.
    ClassId class_of(unsigned dscp) const {
        return queues_ == 1 ? lossless : static_cast<ClassId>(dscp % queues_);
    }

    Config make() {
        ports_ = 2 + static_cast<unsigned>(random_.below(5));
        Config config = sim_config(ports_, gigabits(random_.one_in(2) ? 100 : 400));
        config.seed = seed_;
        config.virtual_turn =
            random_.among(std::array{nanoseconds(0), nanoseconds(100), nanoseconds(200), nanoseconds(1000)});
        config.cell_bytes = random_.among(std::array{96U, 256U});
        MapConfig& map = config.maps["default"];
        queues_ = random_.among(std::array{1U, 4U, 8U});
        ecn_ = random_.one_in(2);
        for (unsigned dscp = 0; dscp < 64; ++dscp) map.dscp_to_tc[dscp] = class_of(dscp);
        WredConfig& wred = config.wred["low"];
        wred.green = {256 << random_.below(5), 16'384, Chance{1'000'000'000}};
        wred.weight = random_.one_in(4) ? 2 : 0;
        wred.mark_at = random_.one_in(3) ? MarkAt::enqueue : MarkAt::dequeue;
        const std::uint64_t reserved = random_.among(std::array{0, 2000, 20'000, 20'000});
        const bool rates = random_.one_in(6);
        for (auto& [name, port] : config.ports) {
            port.small_xoff = true;
            if (random_.one_in(3)) port.peer = PeerKind::ignore;
            for (unsigned n = 0; n < classes; ++n) {
                QueueConfig& queue = port.queue[n];
                queue.scheduler = random_.one_in(4) ? QueueScheduler::strict : QueueScheduler::dwrr;
                queue.weight = static_cast<std::uint8_t>(1 + random_.below(random_.one_in(2) ? 3 : 60));
                queue.size_bytes = reserved;
                if (n == lossless || random_.one_in(3)) queue.wred = "low";
                if (rates && random_.one_in(4)) queue.max_rate = gigabits(20);
            }
        }
        return config;
    }

    Flow flow() {
        Flow flow;
        flow.dscp = static_cast<std::uint8_t>(random_.below(64));
        flow.priority = class_of(flow.dscp);
        flow.ecn = ecn_ ? Ecn::ect0 : random_.among(std::array{Ecn::not_ect, Ecn::ect0, Ecn::ect1});
        flow.to = static_cast<PortId>(random_.below(ports_));
        flow.interval = nanoseconds(static_cast<std::int64_t>(20 + random_.below(600)));
        flow.size = [longest = random_.among(std::array{1U, 100U, 1400U}),
                     key = scramble(random_.below(1U << 30)), draws = std::uint64_t{0}](Time) mutable {
            return 60 + static_cast<std::uint32_t>(scramble(key + ++draws) % longest);
        };
        return flow;
    }

    void change() {
        const auto port = static_cast<PortId>(random_.below(ports_));
        if (random_.one_in(2)) {
            const auto queue = static_cast<ClassId>(random_.below(queues_));
            sim_.hold(port, queue, true);
            sim_.at(sim_.now() + nanoseconds(2'000), [=, this] { sim_.hold(port, queue, false); });
            return;
        }
        PauseMap map;
        map.class_enable = static_cast<std::uint8_t>(random_.below(256) | 1U << lossless);
        for (auto& quanta : map.quanta) quanta = static_cast<std::uint16_t>(random_.below(300));
        sim_.port(port).send_pause(sim_.now(), map);
    }

    std::uint64_t seed_;
    Random random_{seed_};
    unsigned ports_ = 0;
    unsigned queues_ = 0;
    bool ecn_ = false;  // all packets are ECT(0)
    SimSwitch sim_;
};

}  // namespace

TEST_GROUP(Pass){};

TEST(Pass, leavesAsIfItHadBeenQueued) {
    const std::uint64_t runs = tries({.in_long = 300, .usual = 40, .sanitized = 12});
    std::uint64_t all_sent = 0, all_marked = 0, all_dropped = 0;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        Run queued(seed, true), passed(seed, false);
        if (queued.digest() != passed.digest())
            FAIL(fmt::format("seed {}: passing makes a difference", seed).c_str());
        const auto [sent, marked, dropped] = passed.counted();
        all_sent += sent;
        all_marked += marked;
        all_dropped += dropped;
    }
    CHECK(all_sent > 1'000 * runs);
    CHECK(all_marked > runs);
    CHECK(all_dropped > runs);
}

}  // namespace sluice::pass_test
