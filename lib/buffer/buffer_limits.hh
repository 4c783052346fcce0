// Limits of the shared buffer: immutable values, made by control, read by workers out of the published
// snapshot. All in whole cells. Mechanisms: SAI buffer profiles; Choudhury and Hahne's dynamic thresholds
// (1998). The buffer is one memory in two views, and each packet is counted once in each: ingress by
// PriorityGroup, which refuses and pauses, egress by EgressQueueUse, which limits lossy queues only.
//
// A change of ingress limits under traffic takes two steps: first `tightest(old, new)`, then, once every
// worker runs it and the use fits, the new limits. So no cell is ever promised twice. Queues promise no
// memory, so their limits change at once.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

namespace sluice {

constexpr unsigned max_pools = 8;  // of one direction

// How far a group or queue may use the shared part of its pool: alpha x free cells with alpha = 2^n, a fixed
// number of cells, or the smaller of both. Use is a whole number, so comparing it with floor(alpha x free)
// loses nothing.
class Threshold {
  public:
    static constexpr int min_dynamic = -8;
    static constexpr int max_dynamic = 7;

    // alpha = 2^n, n in [min_dynamic, max_dynamic].
    static constexpr Threshold dynamic(int n) {
        assert(n >= min_dynamic && n <= max_dynamic);
        Threshold threshold;
        threshold.dynamic_ = true;
        threshold.left_ = static_cast<std::uint8_t>(std::max(n, 0));
        threshold.right_ = static_cast<std::uint8_t>(std::max(-n, 0));
        return threshold;
    }
    // 0 cells: the user gets nothing of the shared part.
    static constexpr Threshold fixed(std::uint32_t cells) {
        Threshold threshold;
        threshold.cells_ = cells;
        return threshold;
    }
    // No limit but the pool itself.
    static constexpr Threshold none() { return {}; }

    // T for a user of `used_cells` in a pool that has `free_cells` left (negative after a cut: as 0). Without
    // a limit: its own cells and the free ones.
    constexpr std::int64_t limit_cells(std::int64_t free_cells, std::int64_t used_cells) const {
        const std::int64_t free = std::max<std::int64_t>(free_cells, 0);
        if (dynamic_) return std::min((free << left_) >> right_, std::int64_t{cells_});
        return cells_ == unlimited ? used_cells + free : cells_;
    }

    // True when a user with so many cells, in a pool with so many left, is within both.
    constexpr bool admits(std::int64_t free_cells, std::int64_t used_cells) const {
        return free_cells >= 0 && used_cells <= limit_cells(free_cells, used_cells);
    }

    // The fewest free cells at which T is at least `limit_cells` for a user of `used_cells`, which stay as
    // they are; see FreeBounds for any and for never.
    constexpr std::int64_t least_free(std::int64_t limit_cells, std::int64_t used_cells) const;

    // T at the occupancy after a packet of `cells`: admission compares its use with it.
    constexpr std::int64_t limit_with(std::int64_t free_cells, std::int64_t used_cells,
                                      std::uint32_t cells) const {
        return limit_cells(free_cells - cells, used_cells + cells);
    }

    constexpr bool is_dynamic() const { return dynamic_; }
    constexpr bool is_unlimited() const { return !dynamic_ && cells_ == unlimited; }
    constexpr int n() const { return int{left_} - int{right_}; }  // only when dynamic
    constexpr bool operator==(const Threshold&) const = default;

    friend constexpr Threshold tightest(Threshold a, Threshold b) {
        Threshold both = !b.dynamic_ || (a.dynamic_ && a.n() < b.n()) ? a : b;
        both.cells_ = std::min(a.cells_, b.cells_);
        return both;
    }

  private:
    static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t cells_ = unlimited;
    bool dynamic_ = false;
    std::uint8_t left_ = 0;
    std::uint8_t right_ = 0;
};

// A pool's free cells in [low, high).
struct FreeBounds {
    static constexpr std::int64_t any = -(std::int64_t{1} << 62);
    static constexpr std::int64_t never = std::int64_t{1} << 62;

    std::int64_t low = any;
    std::int64_t high = never;
    constexpr bool operator==(const FreeBounds&) const = default;
};

constexpr std::int64_t Threshold::least_free(std::int64_t limit_cells, std::int64_t used_cells) const {
    if (is_unlimited()) {
        const std::int64_t free = limit_cells - used_cells;
        return free <= 0 ? FreeBounds::any : free;
    }
    if (limit_cells <= 0) return FreeBounds::any;
    if (limit_cells > std::int64_t{cells_}) return FreeBounds::never;
    if (!dynamic_) return FreeBounds::any;
    return ((limit_cells << right_) + (std::int64_t{1} << left_) - 1) >> left_;
}

struct PoolLimits {
    std::uint32_t shared_cells = 0;           // S: the buffer less all reserved and all headroom
    std::uint32_t shared_headroom_cells = 0;  // 0: every group's headroom is its own

    constexpr bool operator==(const PoolLimits&) const = default;
};

// The limits of a priority group: (ingress port, 0-7).
struct alignas(32) GroupLimits {                  // its index is a shift
    Threshold threshold = Threshold::dynamic(0);  // of shared use
    std::uint32_t reserved_cells = 0;
    std::uint32_t headroom_cells = 0;  // `xoff`; only a lossless group has any
    std::uint32_t xon_cells = 0;       // XON when shared use is at most max(xon, T - xon_offset)
    std::uint32_t xon_offset_cells = 0;
    std::uint8_t pool = 0;  // in [0, max_pools)
    bool lossless = false;
    bool changing = false;  // lossless, but not yet with its new limits: in XOFF until it has them

    constexpr bool operator==(const GroupLimits&) const = default;
};

// The limits of a queue: (egress port, 0-7). A lossless queue refuses nothing.
struct QueueLimits {
    Threshold threshold = Threshold::dynamic(1);
    std::uint32_t reserved_cells = 0;
    std::uint8_t pool = 0;
    bool lossless = false;

    constexpr bool operator==(const QueueLimits&) const = default;
};

static_assert(sizeof(Threshold) == 8 && sizeof(GroupLimits) == 32,
              "the limits of two groups to a cache line");

// The limits that satisfy both: the first step of a change. The pool is that of `to`; a group is lossless if
// it is so in both.
constexpr PoolLimits tightest(const PoolLimits& from, const PoolLimits& to) {
    const std::uint32_t a = from.shared_headroom_cells;
    const std::uint32_t b = to.shared_headroom_cells;
    return {.shared_cells = std::min(from.shared_cells, to.shared_cells),
            .shared_headroom_cells = a == 0 || b == 0 ? std::max(a, b) : std::min(a, b)};
}

constexpr GroupLimits tightest(const GroupLimits& from, const GroupLimits& to) {
    GroupLimits both = to;
    both.threshold = tightest(from.threshold, to.threshold);
    both.reserved_cells = std::min(from.reserved_cells, to.reserved_cells);
    both.headroom_cells = std::min(from.headroom_cells, to.headroom_cells);
    both.xon_cells = std::min(from.xon_cells, to.xon_cells);
    both.xon_offset_cells = std::max(from.xon_offset_cells, to.xon_offset_cells);
    both.lossless = from.lossless && to.lossless;
    both.changing = from.changing && to.lossless;  // its peer stays paused
    return both;
}

}  // namespace sluice
