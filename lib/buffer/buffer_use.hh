// The common part of a priority group and an egress queue: the cells that each holds in a reserved part of
// its own and in the shared part of a pool.
//
// A packet goes whole into the first part that can hold all of it. A release takes shared cells before
// reserved ones, so the totals are the exact inverse of what was admitted. Rules for the shared part, and for
// a full one, are those of the group (priority_group.hh) and of the queue (egress_queue_use.hh). One thread
// writes, control may read the gauges.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/cells.hh"
#include "lib/buffer/pool_use.hh"
#include "lib/threads/counters.hh"
#include "lib/values/invariant.hh"

namespace sluice {

class BufferUse {
  public:
    // `limits` are those of a group or of a queue. The reserved part is the user's own: most packets ask no
    // pool. False when this one does not fit there.
    template <class Limits>
    bool admit_reserved(const Limits& limits, std::uint32_t cells) {
        const std::uint32_t reserved = reserved_.get() + cells;
        if (reserved > limits.reserved_cells) return false;
        reserved_.set(reserved);
        return true;
    }

    template <class Limits>
    std::uint32_t reserved_left(const Limits& limits) const {
        return limits.reserved_cells - std::min(reserved_.get(), limits.reserved_cells);
    }

    // T, never negative.
    template <class Limits>
    std::int64_t limit_cells(const Limits& limits, PoolView pool) const {
        return limits.threshold.limit_cells(pool.free_cells, shared_.get());
    }

    std::uint32_t reserved_cells() const { return reserved_.get(); }
    std::uint32_t shared_cells() const { return shared_.get(); }

    Watermark shared_watermark;

  protected:
    // `limited`: only up to T and to the pool's free cells; otherwise there is always a place.
    bool admit_shared(const Threshold& threshold, bool limited, PoolBurst& pool, std::uint32_t cells) {
        const std::uint32_t shared = shared_.get();
        if (limited && !pool.fits(threshold, shared, cells)) return false;
        SLUICE_INVARIANT(cells > 0 && shared + cells <= max_buffer_cells &&
                         "a user holds no more than a buffer has");
        take_shared(pool, cells);
        return true;
    }
    void take_shared(PoolBurst& pool, std::uint32_t cells) {
        const std::uint32_t shared = shared_.get() + cells;
        pool.take_cells(cells);
        shared_.set(shared);
        shared_watermark.raise_to(shared);
    }
    template <class Pool>  // PoolBurst or PoolReturn
    void give_back(Pool& pool, std::uint32_t cells) {
        const std::uint32_t shared = shared_.get();
        const std::uint32_t from_shared = std::min(cells, shared);
        SLUICE_INVARIANT(cells - from_shared <= reserved_.get() && "released more than was admitted");
        shared_.set(shared - from_shared);
        pool.give(from_shared);
        reserved_.set(reserved_.get() - (cells - from_shared));
    }
    void give_back_reserved(std::uint32_t cells) {
        assert(cells <= reserved_.get() && "released more than was admitted");
        reserved_.set(reserved_.get() - cells);
    }

    Gauge reserved_;
    Gauge shared_;
};

}  // namespace sluice
