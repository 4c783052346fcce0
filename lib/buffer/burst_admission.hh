// Admission of a whole burst by the sums of its groups, with the same outcome as packet by packet.
//
// A group's sum goes to its free reserved cells, if it fits there. They may take the first packets of it
// where all packets of the burst have as many cells, as then no later one fits. The rest goes to shared, if
// the group is not in XOFF and the rest is within the limit that the sums of all groups leave: limits only
// shrink on the way, and use only grows, so every packet was within its own. All other bursts are admitted
// packet by packet (priority_group.hh).
#pragma once

#include <array>
#include <cstdint>

#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"

namespace sluice {

// Sums of a burst.
struct BurstCells {
    unsigned groups = 0;  // those that have any cells
    std::array<std::uint32_t, classes> cells{};
    std::uint32_t of_each = 0;  // packet; 0: they differ, or unknown

    void add(ClassId group, std::uint32_t more) {
        groups |= 1U << group;
        cells[group] += more;
    }
};

// `pools[n]`: a PoolBurst of pool n, whose bound covers the burst. False: nothing was done.
template <class Pools>
[[gnu::always_inline]] inline bool admit_together(std::array<PriorityGroup, classes>& groups,
                                                  const std::array<GroupLimits, classes>& limits,
                                                  Pools& pools, const BurstCells& burst) {
    std::array<std::uint32_t, classes> rest;  // of groups in `sharing`: cells beyond reserved
    std::array<std::uint32_t, max_pools> shared{};
    unsigned sharing = 0;
    bool all = true;
    for_each_class(burst.groups, [&](ClassId n) {
        const std::uint32_t left = groups[n].reserved_left(limits[n]);
        if (burst.cells[n] <= left) return;
        sharing |= 1U << n;
        rest[n] = burst.cells[n];
        if (left != 0) {
            all &= burst.of_each != 0;
            if (burst.of_each != 0) rest[n] -= left - left % burst.of_each;
        }
        shared[limits[n].pool] += rest[n];
    });
    for_each_class(sharing, [&](ClassId n) {
        const unsigned pool = limits[n].pool;
        all &= groups[n].may_share(limits[n], pools[pool].view(), shared[pool], rest[n]);
    });
    if (!all) return false;
    for_each_class(burst.groups & ~sharing,
                   [&](ClassId n) { groups[n].admit_reserved(limits[n], burst.cells[n]); });
    for_each_class(sharing, [&](ClassId n) {
        groups[n].admit_reserved(limits[n], burst.cells[n] - rest[n]);
        groups[n].share(pools[limits[n].pool], rest[n]);
    });
    return true;
}

}  // namespace sluice
