// Bounds of a group, against judging it at every fill of its pool, and those of a switch's ports, against
// asking one by one.
#include "lib/buffer/pool_bounds.hh"

#include <set>
#include <vector>

#include "CppUTest/TestHarness.h"
#include "lib/buffer/priority_group.hh"
#include "lib/values/rng.hh"

namespace sluice::pool_bounds_test {
namespace {

struct State {
    GroupLimits limits;
    std::uint32_t shared = 0;
    std::uint32_t headroom = 0;
    bool due = false, sent = false;
};

// A group of this state.
struct Made {
    explicit Made(const State& state) {
        use.exclusive = true;
        PoolBurst pool(use, pool_limits, 0);
        group.share(pool, state.shared);
        if (state.due || state.headroom != 0) group.stay_in_xoff();
        if (state.headroom != 0)
            CHECK(group.admit_beyond(state.limits, pool, state.headroom) == Admission::headroom);
        if (state.sent) CHECK(group.update_xoff(state.limits, PoolView{0}, true) == XoffSignal::send_xoff);
    }
    PoolUse use;
    PoolLimits pool_limits{.shared_cells = 1'000'000};
    PriorityGroup group;
};

struct Draws {
    explicit Draws(std::uint64_t seed) : last(seed << 32) {}
    std::uint64_t operator()() { return scramble(last++); }
    std::uint64_t last;
};

Threshold threshold_of(std::uint64_t drawn) {
    switch (drawn % 4) {
        case 0:
            return Threshold::none();
        case 1:
            return Threshold::fixed(static_cast<std::uint32_t>(drawn >> 8) % 200);
        case 2:
            return tightest(Threshold::dynamic(static_cast<int>(drawn >> 8 & 3)),
                            Threshold::fixed(static_cast<std::uint32_t>(drawn >> 16) % 200));
        default:
            return Threshold::dynamic(static_cast<int>(drawn >> 8 & 15) - 8);
    }
}

State draw_state(std::uint64_t seed) {
    Draws draw(seed);
    State state;
    state.limits.threshold = threshold_of(draw());
    state.limits.headroom_cells = 1000;
    state.limits.xon_cells = static_cast<std::uint32_t>(draw() % 60);
    state.limits.xon_offset_cells = static_cast<std::uint32_t>(draw() % 60);
    state.limits.lossless = draw() % 8 != 0;
    state.shared = draw() % 4 == 0 ? 0 : static_cast<std::uint32_t>(draw() % 150);
    if (!state.limits.lossless) return state;
    state.limits.changing = draw() % 16 == 0;
    state.headroom = draw() % 4 == 0 ? static_cast<std::uint32_t>(1 + draw() % 50) : 0;
    state.sent = draw() % 2 == 0;
    state.due = !state.sent && draw() % 8 == 0;
    return state;
}

}  // namespace

TEST_GROUP(PoolBounds){};

TEST(PoolBounds, aGroupHasNothingToSayWithinThem) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        const State state = draw_state(seed);
        const FreeBounds bounds = Made(state).group.free_bounds(state.limits);
        for (std::int64_t free = -30; free < 1200; free += 1 + (free > 300 ? 40 : 0)) {
            Made made(state);
            const bool before = made.group.in_xoff();
            const XoffSignal signal = made.group.update_xoff(state.limits, PoolView{free});
            const bool inside = bounds.low <= free && free < bounds.high;
            const bool silent = signal == XoffSignal::none && made.group.in_xoff() == before;
            if (inside && !silent) FAIL("a group was not asked that had something to say");
            // A group whose XOFF is due says it at the next occasion, whatever the pool.
            const bool is_due = state.due || (state.headroom != 0 && !state.sent);
            if (!inside && silent && !is_due) FAIL("a group was asked that had nothing to say");
        }
    }
}

TEST(PoolBounds, portsOutsideAreThoseThatOneByOneAre) {
    for (const std::size_t ports : {1UL, 7UL, 8UL, 40UL, 64UL, 65UL, 256UL}) {
        Draws draw(ports);
        PoolBounds bounds(ports);
        std::vector<std::array<FreeBounds, max_pools>> plain(ports);
        for (int step = 0; step < 2000; ++step) {
            const auto port = static_cast<PortId>(draw() % ports);
            plain[port] = {};
            bounds.clear(port);
            for (auto groups = draw() % 4; groups != 0; --groups) {
                const auto pool = static_cast<unsigned>(draw() % 3);
                const FreeBounds one{
                    draw() % 3 == 0 ? FreeBounds::any : static_cast<std::int64_t>(draw() % 100),
                    draw() % 3 == 0 ? FreeBounds::never : static_cast<std::int64_t>(draw() % 100)};
                bounds.add(port, pool, one);
                FreeBounds& all = plain[port][pool];
                all = {std::max(all.low, one.low), std::min(all.high, one.high)};
            }
            const std::array<std::int64_t, 3> free{static_cast<std::int64_t>(draw() % 120) - 10,
                                                   static_cast<std::int64_t>(draw() % 120) - 10, 50};
            PortSet found;
            bounds.add_outside(found, [&](unsigned pool) { return free[pool]; });
            for (PortId each = 0; each < ports; ++each) {
                bool outside = false;
                for (unsigned pool = 0; pool < 3; ++pool)
                    outside |= free[pool] < plain[each][pool].low || free[pool] >= plain[each][pool].high;
                CHECK_EQUAL(outside, found.contains(each));
            }
        }
    }
}

TEST_GROUP(PortSet){};

TEST(PortSet, isASet) {
    for (const PortId ports : {PortId{64}, PortId{256}}) {
        Draws draw(ports);
        PortSet set, other;
        std::set<PortId> plain, other_plain;
        for (int step = 0; step < 20'000; ++step) {
            const auto port = static_cast<PortId>(draw() % ports);
            switch (draw() % 8) {
                case 0:
                    set.remove(port), plain.erase(port);
                    break;
                case 1:
                    set |= other, plain.insert(other_plain.begin(), other_plain.end());
                    break;
                case 2:
                    set &= other;
                    std::erase_if(plain, [&](PortId each) { return !other_plain.contains(each); });
                    break;
                case 3:
                    other = set, other_plain = plain;
                    break;
                case 4: {
                    const auto last = static_cast<PortId>(std::min<unsigned>(port + draw() % 100, ports - 1));
                    other = set.take_between(port, last), other_plain.clear();
                    for (const PortId each : plain)
                        if (each >= port && each <= last) other_plain.insert(each);
                    for (const PortId each : other_plain) plain.erase(each);
                    break;
                }
                default:
                    set.add(port), plain.insert(port);
            }
            CHECK_EQUAL(plain.empty(), set.empty());
            CHECK_EQUAL(plain.contains(port), set.contains(port));
            std::vector<PortId> in_order;
            set.for_each([&](PortId each) { in_order.push_back(each); });
            CHECK(in_order == std::vector<PortId>(plain.begin(), plain.end()));
        }
    }
}

}  // namespace sluice::pool_bounds_test
