// Changes while lossless traffic runs: nothing is lost, nothing is promised twice, nobody stays paused.
#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

using namespace sluice;
using namespace sluice::sim;

namespace {

constexpr ClassId lossless = 3;

Flow flow_to(PortId to) {
    Flow flow;
    flow.to = to;
    flow.size = [](Time) { return 1514U; };
    return flow;
}

// Two senders into one pool, each to a sink of its own that an operator holds. A part of the pool, much
// larger than what else there is, passes from one sender's group to the other's while it is in use.
class Trade {
  public:
    static constexpr std::uint64_t part_bytes = 600'000;
    static constexpr std::uint64_t rest_bytes = 200'000;
    static constexpr PortId sinks = 2;  // host n writes to the one behind port sinks + n

    static Config config() {
        Config config = sim_config(4, gigabits(10), 5, 1500);
        config.buffer_size_bytes = part_bytes + rest_bytes + 100'000;
        config.pools["lossless"] = {PoolDirection::ingress, part_bytes + rest_bytes, 0};
        config.pools["lossy"] = {PoolDirection::ingress, 100'000, 0};
        for (auto& [name, port] : config.ports) port.priority_group[lossless].static_bytes = 20'000;
        return config;
    }
    static Config with_reserve(PortId of) {
        Config made = config();
        port_of(made, of).priority_group[lossless].size_bytes = part_bytes;
        return made;
    }
    static Config with_headroom(PortId of) {
        Config made = config();
        port_of(made, of).priority_group[lossless].xoff_bytes = part_bytes;
        return made;
    }

    explicit Trade(const Config& before) : sim(before) {
        for (PortId id = 0; id < 2; ++id) sim.hold(static_cast<PortId>(sinks + id), lossless, true);
        pool_cells_ = static_cast<std::int64_t>(
            sim.qos().pool(PoolDirection::ingress, sim.limits(0, lossless).pool)->size_cells);
        sim.on_instant = [this] {
            std::int64_t used = 0;
            for (PortId id = 0; id < 4; ++id) used += sim.group(id, lossless).used_cells();
            if (used > pool_cells_) sim.fail(fmt::format("{} cells in a pool of {}", used, pool_cells_));
        };
    }

    // Backlogged until its group has paused it: reserve and shared part are full.
    void fill_until_paused(PortId from) {
        const std::uint8_t flow = sim.add(from, flow_to(static_cast<PortId>(sinks + from)));
        sim.run_until(sim.now() + milliseconds(2));
        CHECK(sim.group(from, lossless).in_xoff());
        const std::uint64_t started = sim.port(from).started(flow);
        sim.run_until(sim.now() + microseconds(100));
        LONGS_EQUAL(started, sim.port(from).started(flow));
    }
    // As much as a peer that stops as late as it may: frames that fill all three parts, and not one more.
    void fill_with_headroom(PortId from) {
        const GroupLimits& limits = sim.limits(from, lossless);
        const auto frames = [](std::uint32_t cells) { return cells / 6; };  // of 6 cells each
        const std::uint32_t count = frames(limits.reserved_cells) +
                                    frames(static_cast<std::uint32_t>(limits.threshold.limit_cells(0, 0))) +
                                    frames(limits.headroom_cells);
        sim.port(from).inject(sim.now(), flow_to(static_cast<PortId>(sinks + from)),
                              std::vector<std::uint32_t>(count, 1514));
        sim.run_until(sim.now() + microseconds(10));
        CHECK(sim.group(from, lossless).headroom_cells() + 6 > limits.headroom_cells);
    }
    void empty(PortId from) {
        sim.port(from).stop_flows();
        sim.hold(static_cast<PortId>(sinks + from), lossless, false);
        sim.run_until(sim.now() + milliseconds(2));
        LONGS_EQUAL(0, sim.group(from, lossless).used_cells());
        sim.hold(static_cast<PortId>(sinks + from), lossless, true);
    }
    void finish() {
        for (PortId id = 0; id < 2; ++id) empty(id);
        sim.drain(sim.now() + milliseconds(20));
        CHECK_FALSE(sim.change_pending());
        LONGS_EQUAL(0, sim.dropped());
        for (PortId id = 0; id < 2; ++id) LONGS_EQUAL(0, sim.port(id).missed());
    }
    std::uint32_t part_cells() const { return *sim.policy().cell.rounded_up(part_bytes); }

    SimSwitch sim;

  private:
    std::int64_t pool_cells_ = 0;
};

}  // namespace

TEST_GROUP(Change){};

// The reserve of one group passes to another while the first still fills it, from the lower port to the
// higher one and back.
TEST(Change, ofAReserveInUseGivesItAwayWhenItIsEmpty) {
    for (const PortId giver : {PortId{0}, PortId{1}}) {
        const auto taker = static_cast<PortId>(1 - giver);
        Trade trade(Trade::with_reserve(giver));
        SimSwitch& sim = trade.sim;
        trade.fill_until_paused(giver);
        CHECK(sim.group(giver, lossless).reserved_cells() + 6 > trade.part_cells());

        const std::uint32_t before = sim.limits(taker, lossless).reserved_cells;
        CHECK(sim.apply(Trade::with_reserve(taker)));
        CHECK(sim.change_pending());
        trade.fill_until_paused(taker);
        CHECK(sim.change_pending());
        LONGS_EQUAL(before, sim.limits(taker, lossless).reserved_cells);
        trade.empty(giver);
        CHECK_FALSE(sim.change_pending());
        LONGS_EQUAL(trade.part_cells(), sim.limits(taker, lossless).reserved_cells);
        trade.empty(taker);  // what was admitted as shared stays so
        trade.fill_until_paused(taker);
        CHECK(sim.group(taker, lossless).reserved_cells() + 6 > trade.part_cells());
        trade.finish();
    }
}

// Headroom in use becomes another group's reserve, and that, in use, headroom again.
TEST(Change, ofHeadroomInUseGivesItAwayWhenItIsEmpty) {
    for (const PortId giver : {PortId{0}, PortId{1}}) {
        const auto taker = static_cast<PortId>(1 - giver);
        Trade trade(Trade::with_headroom(giver));
        SimSwitch& sim = trade.sim;
        trade.fill_with_headroom(giver);
        CHECK(sim.apply(Trade::with_reserve(taker)));
        CHECK(sim.change_pending());
        trade.fill_until_paused(taker);
        CHECK(sim.change_pending());
        trade.empty(giver);
        CHECK_FALSE(sim.change_pending());
        trade.empty(taker);
        trade.fill_until_paused(taker);
        CHECK(sim.group(taker, lossless).reserved_cells() + 6 > trade.part_cells());

        const std::uint32_t between = sim.limits(giver, lossless).headroom_cells;
        CHECK(sim.apply(Trade::with_headroom(giver)));
        CHECK(sim.change_pending());
        LONGS_EQUAL(between, sim.limits(giver, lossless).headroom_cells);
        trade.fill_with_headroom(giver);
        CHECK(sim.change_pending());
        trade.empty(giver);
        trade.empty(taker);
        CHECK_FALSE(sim.change_pending());
        LONGS_EQUAL(trade.part_cells(), sim.limits(giver, lossless).headroom_cells);
        trade.fill_with_headroom(giver);
        trade.finish();
    }
}

// Thresholds, reserved parts, offsets and the pools themselves, back and forth, under an incast.
TEST(Change, ofLimitsUnderTrafficLosesNothing) {
    Config wide = sim_config(4, gigabits(100), 40, 1500);
    wide.buffer_size_bytes = 4'000'000;
    wide.pools["lossless"] = {PoolDirection::ingress, 3'000'000, 0};
    wide.pools["lossy"] = {PoolDirection::ingress, 500'000, 0};
    Config narrow = wide;
    narrow.pools["lossless"].size_bytes = 2'000'000;
    narrow.pools["lossy"].size_bytes = 1'500'000;
    for (auto& [name, port] : narrow.ports) {
        port.priority_group[lossless].dynamic_th = -3;
        port.priority_group[lossless].size_bytes = 12'000;
        port.priority_group[lossless].xon_offset_bytes = 20'000;
        port.queue[lossless].weight = 9;
    }
    SimSwitch sim(wide);
    for (PortId id = 0; id < 3; ++id) sim.add(id, flow_to(3));
    unsigned pending = 0;
    for (unsigned i = 0; i < 40; ++i) {
        sim.run_until(sim.now() + nanoseconds(20'011));
        CHECK(sim.apply(i % 2 == 0 ? narrow : wide));
        pending += sim.change_pending() ? 1 : 0;
    }
    CHECK(pending > 0);
    CHECK(sim.device().port(0).counters.group[lossless].xoff.get() > 1);
    for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
    sim.drain(sim.now() + milliseconds(20));
    CHECK_FALSE(sim.change_pending());
    LONGS_EQUAL(0, sim.dropped());
}

// A group in use changes pools: its cells go with it, and neither pool promises them again before they fit.
TEST(Change, ofAPoolMovesAGroupWhenItsCellsFit) {
    Config before = Trade::config();
    before.pools["lossless"].size_bytes = 500'000;
    before.pools["lossy"].size_bytes = 400'000;
    for (auto& [name, port] : before.ports) port.priority_group[lossless].static_bytes = 300'000;
    Config after = before;
    port_of(after, 0).priority_group[lossless].pool = "lossy";
    for (PortId other = 0; other < 2; ++other) {  // the group alone, and with its new pool in use
        Trade trade(before);
        SimSwitch& sim = trade.sim;
        trade.fill_until_paused(0);
        sim.on_instant = nullptr;  // the pool is not one any more; the invariants have the buffer as a whole
        Flow lossy = flow_to(Trade::sinks + 1);
        lossy.dscp = 0;
        lossy.priority = 0;
        sim.hold(Trade::sinks + 1, 0, true);
        if (other == 1) sim.add(1, lossy);
        sim.run_until(sim.now() + milliseconds(1));
        CHECK(sim.apply(after));
        sim.run_until(sim.now() + milliseconds(1));
        trade.fill_until_paused(1);
        trade.empty(0);
        CHECK_FALSE(sim.change_pending());
        sim.hold(Trade::sinks + 1, 0, false);
        trade.empty(1);
        sim.drain(sim.now() + milliseconds(20));
    }
}

// mechanisms section 2: XON for whatever we hold paused when a port goes down, behind the frame under way.
TEST(Change, aPortThatIsTakenDownResumesItsPeer) {
    Config config = sim_config(3, gigabits(100), 5, 1500);
    config.buffer_size_bytes = 4'000'000;
    SimSwitch sim(config);
    sim.hold(1, lossless, true);
    sim.add(0, flow_to(1));
    sim.add(2, flow_to(0));  // p0's transmitter is busy
    sim.run_until(Time{} + microseconds(400));
    CHECK(sim.group(0, lossless).in_xoff());
    const std::size_t sent = sim.port(0).pauses().size();
    sim.set_port(0, false);
    sim.run_until(sim.now() + microseconds(1));
    LONGS_EQUAL(sent + 1, sim.port(0).pauses().size());
    LONGS_EQUAL(1U << lossless, sim.port(0).pauses()[sent].map.class_enable);
    LONGS_EQUAL(0, sim.port(0).pauses()[sent].map.quanta[lossless]);
    // Up again with the group still over: it says so again.
    sim.set_port(0, true);
    sim.run_until(sim.now() + microseconds(1));
    LONGS_EQUAL(sent + 2, sim.port(0).pauses().size());
    for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(20));
}

// A class that becomes lossless promises nothing before it has its headroom, which another group still holds.
TEST(Change, aClassThatBecomesLosslessPromisesNothingBeforeItHasItsHeadroom) {
    constexpr ClassId becoming = 1;
    constexpr std::uint8_t dscp = 8;
    const auto mapped = [](Config config) {
        config.maps["default"].dscp_to_tc[dscp] = becoming;
        return config;
    };
    Trade trade(mapped(Trade::with_reserve(0)));
    SimSwitch& sim = trade.sim;
    trade.fill_until_paused(0);
    Config config = mapped(Trade::with_reserve(1));
    port_of(config, 1).pfc = {becoming, lossless};
    CHECK(sim.apply(config));
    CHECK(sim.change_pending());
    CHECK_FALSE(sim.limits(1, becoming).lossless);

    sim.hold(3, becoming, true);
    Flow flow = flow_to(3);
    flow.dscp = dscp;
    flow.priority = becoming;
    sim.port(1).inject(sim.now(), flow, std::vector<std::uint32_t>(200, 1514));
    sim.run_until(sim.now() + microseconds(10));
    CHECK(sim.dropped(DropReason::ingress_limit) > 0);  // a lossy class lost them
    LONGS_EQUAL(0, sim.dropped(DropReason::headroom_overrun));
    for (unsigned i = 1; i < drop_reason_count; ++i)
        LONGS_EQUAL(0, sim.device().dropped_lossless(1, static_cast<DropReason>(i)));

    sim.hold(3, becoming, false);
    trade.empty(0);
    CHECK_FALSE(sim.change_pending());
    CHECK(sim.limits(1, becoming).lossless);
    CHECK(sim.limits(1, becoming).headroom_cells > 0);

    // From then on it pauses its sender, whatever it was while it was used before.
    const std::uint64_t lost = sim.dropped();
    sim.hold(3, becoming, true);
    sim.add(1, flow);
    sim.run_until(sim.now() + milliseconds(2));
    CHECK(sim.group(1, becoming).in_xoff());
    sim.port(1).stop_flows();
    sim.hold(3, becoming, false);
    sim.run_until(sim.now() + milliseconds(2));
    CHECK_FALSE(sim.group(1, becoming).in_xoff());
    LONGS_EQUAL(lost, sim.dropped());
    LONGS_EQUAL(0, sim.port(1).missed());
}
