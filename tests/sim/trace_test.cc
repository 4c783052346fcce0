// Traces of groups, whose limits follow their pool while nobody judges them: against what they are after each
// instant.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::trace_test {

using namespace sluice::sim;

namespace {

constexpr unsigned ports = 6;

// After an instant; without cells: the group has left use.
struct Seen {
    Time at;
    std::optional<SlotTrace<PortTrace::group_depths>::Seen> depths;
};

class Observer {
  public:
    explicit Observer(SimSwitch& sim) : sim_(sim), seen_(ports) {
        sim.on_instant = [this] { look(); };
    }

    // Each slot has the last that was seen in it, and at least the most. Returns in how many a limit moved.
    unsigned compare(PortId port) {
        unsigned moved = 0;
        const auto& slots = sim_.trace(port).group[lossless].slots();
        const std::vector<Seen>& all = seen_[port];
        auto next = all.begin();
        for (std::size_t n = 0; n < slots.size(); ++n) {
            const std::int64_t end_ps = slots[n].start_ps + sim_.trace(port).group[lossless].width().ps;
            SlotTrace<PortTrace::group_depths>::Seen most{};
            const Seen* last = nullptr;
            for (; next != all.end() && static_cast<std::int64_t>(next->at.ps) < end_ps; ++next) {
                last = &*next;
                for (std::size_t of = 0; next->depths && of < most.size(); ++of)
                    most[of] = std::max(most[of], (*next->depths)[of]);
            }
            if (last == nullptr || !last->depths) continue;
            for (std::size_t of = 0; of < most.size(); ++of) {
                const auto& depth = slots[n].of[of];
                if (depth.last != (*last->depths)[of] || depth.peak < most[of])
                    FAIL(fmt::format("port {}, slot {}, depth {}: {} and at most {}, not {} and {}", port, n,
                                     of, depth.last, depth.peak, (*last->depths)[of], most[of])
                             .c_str());
            }
            moved += slots[n].of[PortTrace::limit].peak != slots[n].of[PortTrace::limit].last;
        }
        return moved;
    }

  private:
    void look() {
        for (PortId port = 0; port < ports; ++port) {
            const PriorityGroup& group = sim_.group(port, lossless);
            if ((sim_.device().port(port).groups_in_use >> lossless & 1U) == 0) {
                if (!seen_[port].empty() && seen_[port].back().depths)
                    seen_[port].push_back({sim_.now(), {}});
                continue;
            }
            const PoolView pool(sim_.use_of(port, lossless), sim_.pool_of(port, lossless));
            const auto limit =
                static_cast<std::uint32_t>(group.limit_cells(sim_.limits(port, lossless), pool));
            seen_[port].push_back({sim_.now(), {{group.used_cells(), limit, group.headroom_cells()}}});
        }
    }

    SimSwitch& sim_;
    std::vector<std::vector<Seen>> seen_;  // by port
};

Config config_of(int alpha) {
    Config config = sim_config(ports, gigabits(100), 5, 1500);
    config.buffer_size_bytes = 2'000'000;
    for (unsigned id = 0; id < ports; ++id)
        port_of(config, id).priority_group[lossless].dynamic_th = id % 2 == 0 ? alpha : alpha - 1;
    return config;
}

}  // namespace

TEST_GROUP(Trace){};

// Three ports fill the buffer, one holds a few cells of it all the time, and one comes and goes.
TEST(Trace, limitsFollowTheirPoolWhileNobodyJudgesThem) {
    SimSwitch sim(config_of(0), "", 0, 64);
    Observer observer(sim);
    sim.hold(4, lossless, true);
    Flow slow;
    slow.to = 4;
    slow.frames = 3;
    sim.add(0, slow);  // stays in the buffer: its group is not touched again
    Flow fast;
    fast.to = 5;
    fast.start = Time{} + microseconds(2);
    for (const PortId from : {1, 2, 3}) sim.add(from, fast);
    fast.interval = microseconds(3);
    sim.add(4, fast);
    sim.at(Time{} + microseconds(150), [&] { CHECK_TRUE(sim.apply(config_of(-1))); });
    sim.run_until(Time{} + microseconds(300));
    CHECK_TRUE(sim.group(1, lossless).in_xoff() || !sim.port(1).pauses().empty());
    for (PortId port = 0; port < ports; ++port) {
        const unsigned moved = observer.compare(port);
        if (port < 4) CHECK_TRUE(moved > 10);
    }
    for (PortId port = 0; port < ports; ++port) sim.port(port).stop_flows();
    sim.hold(4, lossless, false);
    sim.drain(Time{} + milliseconds(20));
    for (PortId port = 0; port < ports; ++port) observer.compare(port);
}

}  // namespace sluice::trace_test
