// The share of one egress queue in the buffer: the second view of the same memory, with its own pools.
//
// Owned by the worker of the egress port. A lossless queue refuses nothing: its packets have been promised
// their place on ingress. A lossy one takes its reserved cells, then shared ones up to its limit. A packet
// that is refused here gives its ingress charge back.
#pragma once

#include <cassert>
#include <cstdint>

#include "lib/buffer_limits.hh"
#include "lib/buffer_use.hh"
#include "lib/invariant.hh"
#include "lib/pool_use.hh"

namespace sluice {

enum class QueueAdmission : std::uint8_t { reserved, shared, queue_limit };
constexpr bool is_admitted(QueueAdmission admission) { return admission != QueueAdmission::queue_limit; }

class EgressQueueUse : public BufferUse {
  public:
    // `pool` is a burst of limits.pool with at least `cells` of its bound left; cells in [1, 2^16).
    QueueAdmission admit(const QueueLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        assert(cells > 0);
        return admit_reserved(limits, cells) ? QueueAdmission::reserved : admit_beyond(limits, pool, cells);
    }
    // The same of a packet that has no place in the reserved part.
    QueueAdmission admit_beyond(const QueueLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        return admit_shared(limits.threshold, !limits.lossless, pool, cells) ? QueueAdmission::shared
                                                                             : QueueAdmission::queue_limit;
    }

    void release(PoolBurst& pool, std::uint32_t cells) {
        assert(cells <= used_cells() && "released more than was admitted");
        const std::uint32_t before = checks_invariants ? used_cells() : 0;
        give_back(pool, cells);
        SLUICE_INVARIANT(used_cells() == before - cells && "a release is the inverse of its admission");
    }
    // The same of a queue that has nothing but reserved cells. False: it has others, and nothing was done.
    bool release_reserved(std::uint32_t cells) {
        if (shared_.get() != 0) return false;
        give_back_reserved(cells);
        return true;
    }

    void move(PoolUse& from, PoolUse& to) {
        to.shared.add(shared_.get(), to.exclusive);
        from.shared.add(-std::int64_t{shared_.get()}, from.exclusive);
    }
    void clear_user_watermarks() { shared_watermark.user.set(shared_.get()); }

    std::uint32_t used_cells() const { return reserved_.get() + shared_.get(); }
};

}  // namespace sluice
