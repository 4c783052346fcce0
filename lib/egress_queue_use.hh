// What one egress queue holds of the buffer: the second view of the same memory, with its own pools.
//
// Owned by the worker of the egress port. A lossless queue refuses nothing: its packets have been promised
// their place on ingress. A lossy one takes its reserved cells, then shared ones up to its limit. A packet
// that is refused here gives its ingress charge back.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "lib/buffer_limits.hh"
#include "lib/gauge.hh"
#include "lib/pool_use.hh"

namespace sluice {

enum class QueueAdmission : std::uint8_t { reserved, shared, queue_limit };
constexpr bool is_admitted(QueueAdmission admission) { return admission != QueueAdmission::queue_limit; }

class EgressQueueUse {
  public:
    // `pool` is a burst of limits.pool with at least `cells` of its bound left; cells in [1, 2^16).
    QueueAdmission admit(const QueueLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        assert(cells > 0);
        return admit_reserved(limits, cells) ? QueueAdmission::reserved : admit_beyond(limits, pool, cells);
    }
    // The same of a packet that has no place in the reserved part.
    QueueAdmission admit_beyond(const QueueLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        const std::uint32_t shared = shared_.get();
        if (!limits.lossless && !pool.fits(limits.threshold, shared, cells))
            return QueueAdmission::queue_limit;
        pool.take(cells);
        shared_.set(shared + cells);
        shared_watermark.raise_to(shared + cells);
        return QueueAdmission::shared;
    }

    // The first part is the queue's own: most packets ask no pool. False when this one does not fit there.
    bool admit_reserved(const QueueLimits& limits, std::uint32_t cells) {
        const std::uint32_t reserved = reserved_.get() + cells;
        if (reserved > limits.reserved_cells) return false;
        reserved_.set(reserved);
        return true;
    }

    void release(PoolBurst& pool, std::uint32_t cells) {
        assert(cells <= used_cells() && "released more than was admitted");
        const std::uint32_t shared = shared_.get();
        const std::uint32_t from_shared = std::min(cells, shared);
        shared_.set(shared - from_shared);
        pool.give(from_shared);
        reserved_.set(reserved_.get() - (cells - from_shared));
    }
    // The same of a queue that has nothing but reserved cells. False: it has others, and nothing was done.
    bool release_reserved(std::uint32_t cells) {
        if (shared_.get() != 0) return false;
        assert(cells <= reserved_.get() && "released more than was admitted");
        reserved_.set(reserved_.get() - cells);
        return true;
    }

    std::int64_t limit_cells(const QueueLimits& limits, PoolView pool) const {
        return limits.threshold.limit_cells(pool.free_cells, shared_.get());
    }
    void move(PoolUse& from, PoolUse& to) {
        to.shared.add(shared_.get(), to.exclusive);
        from.shared.add(-std::int64_t{shared_.get()}, from.exclusive);
    }
    void clear_user_watermarks() { shared_watermark.user.set(shared_.get()); }

    std::uint32_t reserved_cells() const { return reserved_.get(); }
    std::uint32_t shared_cells() const { return shared_.get(); }
    std::uint32_t used_cells() const { return reserved_.get() + shared_.get(); }

    Watermark shared_watermark;

  private:
    Gauge reserved_;
    Gauge shared_;
};

}  // namespace sluice
