// The cells in use of a pool, the only figures that workers read-modify-write together.
//
// Many workers: a `PoolBurst` adds an upper bound of the burst's cells in one fetch_add, decides on the value
// before it plus its own cells so far, and returns unneeded cells in one fetch_sub. Every worker counts the
// others' bounds: S is never exceeded, and use looks larger by at most one burst per other worker. One
// worker, or many on one thread under the virtual clock: an `exclusive` pool decides exactly, with plain
// loads and stores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>

#include "lib/buffer/buffer_limits.hh"
#include "lib/values/invariant.hh"

namespace sluice {

// A level, written by all workers, read by all and by control.
class alignas(64) PoolLevel {
  public:
    // relaxed, here and below: no memory is handed over with cells, and the order of changes to this one
    // variable keeps the sum within its limit.
    std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

    // Returns the value before.
    std::int64_t add(std::int64_t cells, bool exclusive) {
        if (!exclusive) return value_.fetch_add(cells, std::memory_order_relaxed);
        const std::int64_t before = get();
        value_.store(before + cells, std::memory_order_relaxed);
        return before;
    }

    // Adds only if the result is at most `limit`.
    bool add_within(std::int64_t cells, std::int64_t limit, bool exclusive) {
        std::int64_t before = get();
        if (exclusive) {
            if (before + cells > limit) return false;
            value_.store(before + cells, std::memory_order_relaxed);
            return true;
        }
        do {
            if (before + cells > limit) return false;
        } while (!value_.compare_exchange_weak(before, before + cells, std::memory_order_relaxed));
        return true;
    }

  private:
    std::atomic<std::int64_t> value_{0};
};
static_assert(sizeof(PoolLevel) == 64);

// Raised by all workers, seldom; control clears the user's.
class PoolWatermark {
  public:
    std::int64_t user() const { return user_.load(std::memory_order_relaxed); }
    std::int64_t persistent() const { return persistent_.load(std::memory_order_relaxed); }
    void raise_to(std::int64_t cells) {
        raise(user_, cells);
        raise(persistent_, cells);
    }
    void clear_user(std::int64_t in_use) { user_.store(in_use, std::memory_order_relaxed); }

  private:
    static void raise(std::atomic<std::int64_t>& mark, std::int64_t cells) {
        std::int64_t before = mark.load(std::memory_order_relaxed);
        while (before < cells && !mark.compare_exchange_weak(before, cells, std::memory_order_relaxed)) {
        }
    }

    std::atomic<std::int64_t> user_{0};  // relaxed, all: figures for people
    std::atomic<std::int64_t> persistent_{0};
};

struct PoolUse {
    PoolLevel shared;    // with bounds of bursts under way
    PoolLevel headroom;  // sum over groups, whether the headrooms are shared or private
    alignas(64) PoolWatermark shared_watermark;
    PoolWatermark headroom_watermark;
    bool exclusive = false;  // only one thread ever changes it; set before the workers start

    void give_headroom(std::uint32_t cells) {
        [[maybe_unused]] const std::int64_t before = headroom.add(-std::int64_t{cells}, exclusive);
        assert(before >= cells && "a pool never falls below zero");
    }

    // Control.
    void clear_user_watermarks() {
        shared_watermark.clear_user(shared.get());
        headroom_watermark.clear_user(headroom.get());
    }

    // Cells in use beyond new, smaller limits, until packets leave. `coming`: cells of groups and queues that
    // move to this pool, less those that leave it.
    struct Coming {
        std::int64_t shared = 0;
        std::int64_t headroom = 0;
    };
    std::int64_t pending_cells(const PoolLimits& limits, Coming coming = {0, 0}) const {
        std::int64_t pending = std::max<std::int64_t>(shared.get() + coming.shared - limits.shared_cells, 0);
        if (limits.shared_headroom_cells != 0)
            pending +=
                std::max<std::int64_t>(headroom.get() + coming.headroom - limits.shared_headroom_cells, 0);
        return pending;
    }
};

// How full a pool is, for decisions that take nothing from it. While a worker has a burst open it uses
// `PoolBurst::view`, which excludes the burst's own bound.
struct PoolView {
    std::int64_t free_cells;  // S less the cells in use; negative after a cut

    PoolView(const PoolUse& use, const PoolLimits& limits)
        : free_cells(limits.shared_cells - use.shared.get()) {}
    explicit PoolView(std::int64_t free) : free_cells(free) {}
};

// A worker's dealings with one pool during one burst of arrivals or one batch of releases.
class alignas(64) PoolBurst {  // its index is a shift
  public:
    // `bound_cells`: at least the cells that the burst may take from the shared part; 0 for releases only.
    // Both references must live as long as the burst. An exclusive pool needs no bound.
    PoolBurst(PoolUse& use, const PoolLimits& limits, std::uint32_t bound_cells)
        : use_(&use),
          limits_(&limits),
          bound_(bound_cells),
          before_(use.exclusive || bound_cells == 0 ? use.shared.get() : use.shared.add(bound_cells, false)),
          free_(free_at_start()),
          lowest_free_(free_) {}
    PoolBurst(const PoolBurst&) = delete;
    PoolBurst& operator=(const PoolBurst&) = delete;
    // Returns the cells that the burst did not need.
    ~PoolBurst() {
        lowest_free_ = std::min(lowest_free_, free_);
        assert((use_->exclusive || free_at_start() - lowest_free_ <= bound_) &&
               "the bound covers the whole burst");
        const std::int64_t change = net_cells() - (use_->exclusive ? 0 : bound_);
        if (change != 0) {
            [[maybe_unused]] const std::int64_t before = use_->shared.add(change, use_->exclusive);
            assert(before + change >= 0 && "a pool never falls below zero");
        }
        if (lowest_free_ < free_at_start())
            use_->shared_watermark.raise_to(limits_->shared_cells - lowest_free_);
    }

    PoolView view() const { return PoolView{free_}; }

    bool fits(const Threshold& threshold, std::uint32_t used_cells, std::uint32_t cells) const {
        return threshold.admits(free_ - cells, std::int64_t{used_cells} + cells);
    }
    void take_cells(std::uint32_t cells) { free_ -= cells; }
    void give(std::uint32_t cells) {
        lowest_free_ = std::min(lowest_free_, free_);  // it falls between two of these only
        free_ += cells;
        SLUICE_INVARIANT(free_ <= limits_->shared_cells && "a pool gets back what was taken from it");
    }

    // Headroom is rare, so each packet updates the shared counter.
    bool take_headroom(std::uint32_t cells) {
        const std::uint32_t limit = limits_->shared_headroom_cells;
        if (limit == 0)
            use_->headroom.add(cells, use_->exclusive);
        else if (!use_->headroom.add_within(cells, limit, use_->exclusive))
            return false;
        use_->headroom_watermark.raise_to(use_->headroom.get());
        return true;
    }
    void give_headroom(std::uint32_t cells) { use_->give_headroom(cells); }

  private:
    std::int64_t free_at_start() const { return limits_->shared_cells - before_; }
    std::int64_t net_cells() const { return free_at_start() - free_; }

    PoolUse* use_;
    const PoolLimits* limits_;
    std::int64_t bound_;
    std::int64_t before_;       // in use when the burst began
    std::int64_t free_;         // S less the cells in use as this burst sees it
    std::int64_t lowest_free_;  // up to the last `give`
};

// Gives cells back to an exclusive pool, without summing them up first.
class PoolReturn {
  public:
    explicit PoolReturn(PoolUse& use) : use_(use) { SLUICE_INVARIANT(use.exclusive); }
    void give(std::uint32_t cells) {
        [[maybe_unused]] const std::int64_t before = use_.shared.add(-std::int64_t{cells}, true);
        assert(before >= cells && "a pool never falls below zero");
    }
    void give_headroom(std::uint32_t cells) { use_.give_headroom(cells); }

  private:
    PoolUse& use_;
};

}  // namespace sluice
