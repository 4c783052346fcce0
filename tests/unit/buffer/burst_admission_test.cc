#include "lib/buffer/burst_admission.hh"

#include <memory>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::burst_admission_test {
namespace {

struct Draws {
    std::uint64_t seed;
    std::uint64_t below(std::uint64_t end) { return (seed = scramble(seed)) % end; }
};

// A port's groups in two pools, and a burst for them.
struct Port {
    std::array<PriorityGroup, classes> groups;
    std::array<GroupLimits, classes> limits;
    std::array<PoolUse, 2> use;
    std::array<PoolLimits, 2> pool_limits;
};

void draw_limits(Port& port, std::uint64_t seed) {
    Draws draws{scramble(seed)};
    for (PoolUse& use : port.use) use.exclusive = draws.seed % 2 == 0;
    for (PoolLimits& limits : port.pool_limits)
        limits = {static_cast<std::uint32_t>(20 + draws.below(300)),
                  static_cast<std::uint32_t>(draws.below(3) * 20)};
    for (GroupLimits& limits : port.limits) {
        switch (draws.below(4)) {
            case 0:
                limits.threshold = Threshold::none();
                break;
            case 1:
                limits.threshold = Threshold::fixed(static_cast<std::uint32_t>(draws.below(60)));
                break;
            default:
                limits.threshold = Threshold::dynamic(static_cast<int>(draws.below(6)) - 3);
        }
        limits.reserved_cells = static_cast<std::uint32_t>(draws.below(2) * draws.below(40));
        limits.lossless = draws.below(2) == 0;
        limits.headroom_cells = limits.lossless ? static_cast<std::uint32_t>(draws.below(30)) : 0;
        limits.pool = static_cast<std::uint8_t>(draws.below(2));
    }
}

// Opens each pool when it is asked for.
struct Pools {
    Port& port;
    std::uint32_t bound;
    std::array<std::unique_ptr<PoolBurst>, 2> open;
    PoolBurst& operator[](unsigned pool) {
        if (!open[pool])
            open[pool] = std::make_unique<PoolBurst>(port.use[pool], port.pool_limits[pool], bound);
        return *open[pool];
    }
};

struct Arrival {
    ClassId group;
    std::uint32_t cells;
};

void compare(const Port& one, const Port& other) {
    for (unsigned n = 0; n < classes; ++n) {
        LONGS_EQUAL(one.groups[n].reserved_cells(), other.groups[n].reserved_cells());
        LONGS_EQUAL(one.groups[n].shared_cells(), other.groups[n].shared_cells());
        LONGS_EQUAL(one.groups[n].headroom_cells(), other.groups[n].headroom_cells());
        LONGS_EQUAL(one.groups[n].in_xoff(), other.groups[n].in_xoff());
        LONGS_EQUAL(one.groups[n].shared_watermark.user.get(), other.groups[n].shared_watermark.user.get());
    }
    for (unsigned n = 0; n < 2; ++n) {
        LONGS_EQUAL(one.use[n].shared.get(), other.use[n].shared.get());
        LONGS_EQUAL(one.use[n].shared_watermark.user(), other.use[n].shared_watermark.user());
    }
}

}  // namespace

TEST_GROUP(BurstAdmission){};

// Bursts by sums, and the same ones packet by packet; some of what is there leaves in between, and groups are
// judged.
TEST(BurstAdmission, ComesToTheSameAsOneAfterTheOther) {
    unsigned by_sums = 0, one_by_one = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Port fast, slow;
        draw_limits(fast, seed);
        draw_limits(slow, seed);
        Draws draws{scramble(seed ^ 0xB0)};
        for (unsigned round = 0; round < 60; ++round) {
            std::vector<Arrival> arrivals(1 + draws.below(burst_size));
            BurstCells burst;
            std::uint32_t all = 0;
            const std::uint64_t spread = 1 + draws.below(classes);
            if (draws.below(2) == 0) burst.of_each = static_cast<std::uint32_t>(1 + draws.below(4));
            for (Arrival& each : arrivals) {
                const auto drawn = static_cast<std::uint32_t>(1 + draws.below(4));
                each = {static_cast<ClassId>(draws.below(spread)),
                        burst.of_each != 0 ? burst.of_each : drawn};
                burst.add(each.group, each.cells);
                all += each.cells;
            }
            std::vector<std::uint32_t> admitted(classes);
            {
                Pools pools{slow, all, {}};
                for (const Arrival& each : arrivals) {
                    const GroupLimits& limits = slow.limits[each.group];
                    if (is_admitted(slow.groups[each.group].admit(limits, pools[limits.pool], each.cells)))
                        admitted[each.group] += each.cells;
                }
            }
            {
                Pools pools{fast, all, {}};
                if (admit_together(fast.groups, fast.limits, pools, burst)) {
                    ++by_sums;
                } else {
                    ++one_by_one;
                    for (const Arrival& each : arrivals) {
                        const GroupLimits& limits = fast.limits[each.group];
                        fast.groups[each.group].admit(limits, pools[limits.pool], each.cells);
                    }
                }
            }
            compare(slow, fast);
            for (Port* port : {&slow, &fast}) {
                Draws leaving{scramble(seed ^ round << 20)};
                for (unsigned n = 0; n < classes; ++n) {
                    const unsigned pool = port->limits[n].pool;
                    const PoolView view(port->use[pool], port->pool_limits[pool]);
                    port->groups[n].update_xoff(port->limits[n], view);
                    const auto cells =
                        static_cast<std::uint32_t>(leaving.below(port->groups[n].used_cells() + 1));
                    PoolBurst burst_of(port->use[pool], port->pool_limits[pool], 0);
                    if (cells != 0) port->groups[n].release(burst_of, cells);
                }
            }
            compare(slow, fast);
        }
    }
    CHECK_TRUE(by_sums > 3000);
    CHECK_TRUE(one_by_one > 3000);
}

// The last cell of reserved, of shared by its limit, and of the pool.
TEST(BurstAdmission, TakesTheLastCellAndLeavesOneMoreToTheOthers) {
    const auto takes = [](std::uint32_t reserved, Threshold threshold, std::uint32_t pool_cells,
                          std::uint32_t cells, std::uint32_t of_each = 0) {
        Port port;
        port.pool_limits[0].shared_cells = pool_cells;
        port.limits[3].reserved_cells = reserved;
        port.limits[3].threshold = threshold;
        Pools pools{port, cells, {}};
        BurstCells burst;
        burst.add(3, cells);
        burst.of_each = of_each;
        return admit_together(port.groups, port.limits, pools, burst);
    };
    CHECK_TRUE(takes(10, Threshold::fixed(0), 100, 10));
    CHECK_FALSE(takes(10, Threshold::fixed(0), 100, 11));
    CHECK_FALSE(takes(10, Threshold::none(), 100, 11));  // a part of it
    CHECK_TRUE(takes(10, Threshold::fixed(1), 100, 11, 1));
    CHECK_FALSE(takes(10, Threshold::fixed(1), 100, 12, 1));
    CHECK_TRUE(takes(10, Threshold::fixed(3), 100, 12, 3));  // three of them, as four do not fit
    CHECK_FALSE(takes(10, Threshold::fixed(2), 100, 12, 3));
    CHECK_TRUE(takes(0, Threshold::fixed(12), 100, 12));
    CHECK_FALSE(takes(0, Threshold::fixed(12), 100, 13));
    CHECK_TRUE(takes(0, Threshold::dynamic(0), 100, 50));
    CHECK_FALSE(takes(0, Threshold::dynamic(0), 100, 51));
    CHECK_TRUE(takes(0, Threshold::none(), 100, 100));
    CHECK_FALSE(takes(0, Threshold::none(), 100, 101));
}

}  // namespace sluice::burst_admission_test
