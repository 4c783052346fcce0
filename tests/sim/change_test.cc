// Changes while lossless traffic runs: nothing is lost, nothing is promised twice, nobody stays paused.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::change_test {

using namespace sluice::sim;

namespace {

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
        const std::int64_t shared = std::clamp<std::int64_t>(
            sim.pool_of(from, lossless).shared_cells - sim.use_of(from, lossless).shared.get(), 0,
            limits.threshold.limit_cells(0, 0));
        const std::uint32_t count = frames(limits.reserved_cells) +
                                    frames(static_cast<std::uint32_t>(shared)) +
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
        for (PortId id = 0; id < 2; ++id) LONGS_EQUAL(0, sim.port(id).account().missed);
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

namespace {

// A class beside RoCE's, of which tests make a lossless one.
constexpr ClassId becoming = 1;
constexpr std::uint8_t its_dscp = 8;

Config with_its_dscp(Config config) {
    config.maps["default"].dscp_to_tc[its_dscp] = becoming;
    return config;
}
Flow its_flow_to(PortId to) {
    Flow flow = flow_to(to);
    flow.dscp = its_dscp;
    flow.priority = becoming;
    return flow;
}
std::uint64_t lossless_lost(SimSwitch& sim, PortId port) {
    std::uint64_t sum = 0;
    for (unsigned i = 1; i < drop_reason_count; ++i)
        sum += sim.device().dropped_lossless(port, static_cast<DropReason>(i));
    return sum;
}

}  // namespace

// A class that becomes lossless is held in XOFF until it has its headroom, which another group still uses.
// Frames of a peer that does not obey are lost meanwhile, and count as lossless ones.
TEST(Change, aClassThatBecomesLosslessIsHeldUntilItHasItsHeadroom) {
    Trade trade(with_its_dscp(Trade::with_reserve(0)));
    SimSwitch& sim = trade.sim;
    std::vector<ClassNotice> notice;
    sim.on_class = [&](const ClassNotice& one) { notice.push_back(one); };
    trade.fill_until_paused(0);
    Config config = with_its_dscp(Trade::with_reserve(1));
    port_of(config, 1).pfc = {becoming, lossless};
    port_of(config, 1).priority_group[becoming].xoff_bytes = 80'000;
    const std::size_t pauses = sim.port(1).pauses().size();
    CHECK(sim.apply(config));
    CHECK(sim.change_pending());
    CHECK(sim.limits(1, becoming).changing);
    const std::uint32_t headroom = sim.limits(1, becoming).headroom_cells;  // as much as was free
    CHECK(headroom > 0 && headroom < sim.policy().cell.rounded_up(80'000));
    LONGS_EQUAL(1, notice.size());
    CHECK(notice[0].begins && notice[0].port == 1 && notice[0].priority == becoming);
    const auto queue = sim.fullest_queue();
    CHECK(queue.has_value());
    LONGS_EQUAL(Trade::sinks, queue->port);
    LONGS_EQUAL(lossless, queue->queue);

    sim.run_until(sim.now() + microseconds(1));
    LONGS_EQUAL(pauses + 1, sim.port(1).pauses().size());
    LONGS_EQUAL(1U << becoming, sim.port(1).pauses()[pauses].map.class_enable);
    CHECK(sim.port(1).pauses()[pauses].map.quanta[becoming] != 0);
    const std::uint32_t lost = 100 - headroom / 6;  // frames of 6 cells each
    sim.hold(3, becoming, true);
    sim.port(1).inject(sim.now(), its_flow_to(3), std::vector<std::uint32_t>(100, 1514));
    sim.run_until(sim.now() + microseconds(10));
    LONGS_EQUAL(lost, sim.dropped(DropReason::headroom_overrun));
    LONGS_EQUAL(lost, lossless_lost(sim, 1));
    sim.hold(3, becoming, false);
    sim.run_until(sim.now() + milliseconds(1));
    LONGS_EQUAL(0, sim.group(1, becoming).used_cells());
    // The port goes down and comes back: its peer is held as before.
    sim.set_port(1, false);
    sim.run_until(sim.now() + microseconds(10));
    CHECK_FALSE(sim.group(1, becoming).in_xoff());
    sim.set_port(1, true);
    sim.run_until(sim.now() + microseconds(10));
    CHECK(sim.group(1, becoming).in_xoff());
    CHECK(sim.device().port(1).generator.state(becoming) == AssertState::off);

    trade.empty(0);
    CHECK_FALSE(sim.change_pending());
    CHECK(class_state(sim.limits(1, becoming)) == "lossless");
    CHECK(sim.limits(1, becoming).headroom_cells > 0);
    CHECK_FALSE(sim.group(1, becoming).in_xoff());
    LONGS_EQUAL(2, notice.size());
    CHECK(!notice[1].begins && notice[1].lossless);
    LONGS_EQUAL(lost, notice[1].lost);

    // From then on it pauses its sender, whatever it was while it was used before.
    sim.hold(3, becoming, true);
    sim.add(1, its_flow_to(3));
    sim.run_until(sim.now() + milliseconds(2));
    CHECK(sim.group(1, becoming).in_xoff());
    sim.port(1).stop_flows();
    sim.hold(3, becoming, false);
    sim.run_until(sim.now() + milliseconds(2));
    CHECK_FALSE(sim.group(1, becoming).in_xoff());
    LONGS_EQUAL(lost, sim.dropped());
    LONGS_EQUAL(0, sim.port(1).account().missed);
}

// The same change taken back before it could end: XON at once, and the class is lossy.
TEST(Change, aClassThatIsMadeLossyAgainIsLetGoAtOnce) {
    const Config before = with_its_dscp(Trade::with_reserve(0));
    Trade trade(before);
    SimSwitch& sim = trade.sim;
    std::vector<ClassNotice> notice;
    sim.on_class = [&](const ClassNotice& one) { notice.push_back(one); };
    trade.fill_until_paused(0);
    Config config = with_its_dscp(Trade::with_reserve(1));
    port_of(config, 1).pfc = {becoming, lossless};
    CHECK(sim.apply(config));
    sim.run_until(sim.now() + milliseconds(20));  // the refresh runs, and nothing ends
    CHECK(sim.group(1, becoming).in_xoff());
    CHECK(sim.device().port(1).generator.counters(becoming).tx_refresh.get() > 0);
    CHECK(sim.apply(before));
    sim.run_until(sim.now() + microseconds(1));
    CHECK_FALSE(sim.group(1, becoming).in_xoff());
    CHECK(sim.device().port(1).generator.state(becoming) == AssertState::on);
    LONGS_EQUAL(0, sim.port(1).pauses().back().map.quanta[becoming]);
    CHECK(class_state(sim.limits(1, becoming)) == "lossy");
    LONGS_EQUAL(2, notice.size());
    CHECK(!notice[1].begins && !notice[1].lossless);
    trade.finish();
}

// RoCE's class under an incast is made lossy and lossless again, where there is room for its headroom: at the
// same instant, without a wait, and no packet is lost once it is lossless.
TEST(Change, aClassIsLosslessAgainAtOnceWhereThereIsRoom) {
    for (const Duration between : {Duration{}, microseconds(20)}) {
        Config config = sim_config(4, gigabits(100), 5, 1500);
        config.buffer_size_bytes = 4'000'000;
        Config lossy = config;
        for (auto& [name, port] : lossy.ports) port.qos = "lossy";
        SimSwitch sim(config);
        for (PortId id = 0; id < 3; ++id) sim.add(id, flow_to(3));
        sim.run_until(Time{} + microseconds(200));
        CHECK(sim.group(0, lossless).in_xoff());
        CHECK(sim.apply(lossy));
        sim.run_until(sim.now() + between);
        CHECK(sim.apply(config));
        for (PortId id = 0; id < 3; ++id) CHECK(class_state(sim.limits(id, lossless)) == "lossless");
        const std::uint64_t lost = sim.dropped();
        if (between.ps == 0) LONGS_EQUAL(0, lost);
        sim.run_until(sim.now() + microseconds(300));
        LONGS_EQUAL(lost, sim.dropped());
        for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
        sim.drain(sim.now() + milliseconds(20));
    }
}

// RoCE's class becomes lossy under an incast, beside lossy traffic that keeps its new, smaller pool full: the
// change ends although nobody pauses any more.
TEST(Change, aGroupThatChangesPoolsEndsItsWayUnderLoad) {
    Config config = sim_config(4, gigabits(100), 5, 1500);
    config.buffer_size_bytes = 4'000'000;
    Config after = config;
    for (auto& [name, port] : after.ports) port.qos = "lossy";
    SimSwitch sim(config);
    Flow beside = flow_to(3);
    beside.dscp = 0;
    beside.priority = 0;
    for (PortId id = 0; id < 3; ++id) {
        sim.add(id, flow_to(3));
        sim.add(id, beside);
    }
    sim.run_until(Time{} + milliseconds(1));
    CHECK(sim.apply(after));
    CHECK(sim.change_pending());
    // All that is in use leaves by one port, where its class has one half.
    std::int64_t cells = 0;
    for (PortId id = 0; id < 3; ++id)
        for (ClassId n = 0; n < classes; ++n) cells += sim.group(id, n).used_cells();
    sim.run_until(sim.now() + gigabits(100).byte_time() * (2 * cells * (256 + 24)));
    CHECK_FALSE(sim.change_pending());
    for (PortId id = 0; id < 3; ++id) sim.port(id).stop_flows();
    sim.drain(sim.now() + milliseconds(20));
}

// A group waits to change pools, and takes nothing meanwhile; then it is to stay where it is, in a change
// that waits for something else: it takes again what it may.
TEST(Change, aGroupThatStaysInItsPoolAfterAllTakesPacketsAgain) {
    Trade trade(with_its_dscp(Trade::with_reserve(0)));
    SimSwitch& sim = trade.sim;
    trade.fill_until_paused(0);
    sim.hold(3, becoming, true);
    sim.port(1).inject(sim.now(), its_flow_to(3), {1514});
    sim.run_until(sim.now() + microseconds(10));
    const Config stays = with_its_dscp(Trade::with_reserve(1));
    Config moves = stays;
    port_of(moves, 1).priority_group[becoming].pool = "lossless";
    CHECK(sim.apply(moves));
    CHECK(sim.change_pending());
    LONGS_EQUAL(0, sim.limits(1, becoming).threshold.limit_cells(100, 0));
    CHECK(sim.apply(stays));
    CHECK(sim.change_pending());
    CHECK(sim.limits(1, becoming).threshold.limit_cells(100, 0) > 0);
    sim.hold(3, becoming, false);
    trade.finish();
}

}  // namespace sluice::change_test
