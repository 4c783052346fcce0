// The common part of a priority group and an egress queue: the cells that each holds in a reserved part of
// its own and in the shared part of a pool.
//
// A packet goes whole into the first part that can hold all of it. A release takes shared cells before
// reserved ones, so the totals are the exact inverse of admission. The group (priority_group.hh) and the
// queue (EgressQueueUse) have the rules for the shared part. One thread writes, control may read the gauges.
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
    // `limits`: of a group or a queue. Most packets fit into the reserved part and need no pool; false when
    // this one does not.
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

// An egress queue's share of the buffer: the second view of the same memory, with its own pools.
//
// Owned by the worker of the egress port. A lossless queue refuses nothing, as ingress has admitted its
// packets. A lossy one takes its reserved cells, then shared ones up to its limit. A refused packet gives its
// ingress charge back.
enum class QueueAdmission : std::uint8_t { reserved, shared, queue_limit };
constexpr bool is_admitted(QueueAdmission admission) { return admission != QueueAdmission::queue_limit; }

class EgressQueueUse : public BufferUse {
  public:
    // `pool` is a burst of limits.pool with at least `cells` of its bound left; cells in [1, 2^16).
    QueueAdmission admit(const QueueLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        assert(cells > 0);
        return admit_reserved(limits, cells) ? QueueAdmission::reserved : admit_beyond(limits, pool, cells);
    }
    // The same for a packet that does not fit into the reserved part.
    QueueAdmission admit_beyond(const QueueLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        return admit_shared(limits.threshold, !limits.lossless, pool, cells) ? QueueAdmission::shared
                                                                             : QueueAdmission::queue_limit;
    }

    void release(PoolBurst& pool, std::uint32_t cells) {
        assert(cells <= used_cells() && "released more than was admitted");
        const std::uint32_t before = used_cells();
        deepest_.raise_to(before);
        give_back(pool, cells);
        SLUICE_INVARIANT(used_cells() == before - cells && "a release is the inverse of its admission");
    }
    // The same for a queue that has reserved cells only. False: it has others, and nothing was done.
    bool release_reserved(std::uint32_t cells) {
        if (shared_.get() != 0) return false;
        deepest_.raise_to(reserved_.get());
        give_back_reserved(cells);
        return true;
    }

    void move(PoolUse& from, PoolUse& to) {
        to.shared.add(shared_.get(), to.exclusive);
        from.shared.add(-std::int64_t{shared_.get()}, from.exclusive);
    }
    void clear_user_watermarks() {
        shared_watermark.user.set(shared_.get());
        deepest_.user.set(0);
    }

    std::uint32_t used_cells() const { return reserved_.get() + shared_.get(); }
    // The most that it has held, reserved and shared: since the start, and since a user last cleared it.
    std::uint32_t deepest_cells() const { return deepest(deepest_.persistent); }
    std::uint32_t user_deepest_cells() const { return deepest(deepest_.user); }

  private:
    // Reads the use first: cells that leave meanwhile have raised the mark.
    std::uint32_t deepest(const Gauge& mark) const {
        const std::uint32_t now = used_cells();
        return std::max(now, mark.get());
    }

    // Use only rises between two releases, so each release finds its highest, and admission writes nothing.
    Watermark deepest_;
};

}  // namespace sluice
