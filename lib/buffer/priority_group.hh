// A priority group: the buffer share of one class of one ingress port, and whether its sender is paused.
//
// Owned by the worker of its ingress port, which alone calls everything that is not const; control may read
// the gauges. A packet goes whole into the first part that can hold all of it: reserved, shared, headroom. A
// release takes headroom first, then shared, then reserved, so the totals are the exact inverse. Shared use
// counts against T, the limit at the pool's current use; a lossless group is over when it is above T or its
// headroom is in use. A group that is becoming lossless is in XOFF until it is. The group decides, the caller
// sends PFC frames, refreshes them and counts.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/pool_use.hh"
#include "lib/threads/counters.hh"
#include "lib/values/invariant.hh"

namespace sluice {

enum class Admission : std::uint8_t {
    reserved,
    shared,
    headroom,
    ingress_limit,     // refused: the group is lossy and at its limit
    headroom_overrun,  // refused: lossless, and its headroom or the shared headroom pool is full
};
constexpr bool is_admitted(Admission admission) { return admission <= Admission::headroom; }

enum class XoffSignal : std::uint8_t { none, send_xoff, send_xon };

class alignas(32) PriorityGroup : public BufferUse {
  public:
    // `pool` is a burst of limits.pool with at least `cells` of its bound left; cells in [1, 2^16).
    Admission admit(const GroupLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        assert(cells > 0);
        return admit_reserved(limits, cells) ? Admission::reserved : admit_beyond(limits, pool, cells);
    }
    // The same for a packet that does not fit into the reserved part.
    Admission admit_beyond(const GroupLimits& limits, PoolBurst& pool, std::uint32_t cells) {
        const std::uint32_t before = checks_invariants ? used_cells() : 0;
        if (pause() == Pause::none && admit_shared(limits.threshold, true, pool, cells)) {
            SLUICE_INVARIANT(used_cells() == before + cells && "the whole packet is in one part");
            return Admission::shared;
        }
        if (!limits.lossless) return Admission::ingress_limit;
        if (headroom_.get() + cells > limits.headroom_cells || !pool.take_headroom(cells))
            return Admission::headroom_overrun;
        headroom_.set(headroom_.get() + cells);
        headroom_watermark.raise_to(headroom_.get());
        SLUICE_INVARIANT(used_cells() == before + cells && "the whole packet is in one part");
        if (pause() == Pause::none) set_pause(Pause::due);  // nothing more goes to shared, even in this burst
        return Admission::headroom;
    }

    // True when packets of a burst (burst_admission.hh), of `cells` together, fit into shared in any order
    // while the pool gives `of_all` to the burst; `pool`: before the burst.
    bool may_share(const GroupLimits& limits, PoolView pool, std::uint32_t of_all,
                   std::uint32_t cells) const {
        return pause() == Pause::none &&
               limits.threshold.admits(pool.free_cells - of_all, std::int64_t{shared_.get()} + cells);
    }
    void share(PoolBurst& pool, std::uint32_t cells) { take_shared(pool, cells); }

    // Releases cells of packets that left, or were dropped after admission. `Pool`: PoolBurst, or PoolReturn
    // for an exclusive pool.
    template <class Pool>
    void release(Pool& pool, std::uint32_t cells) {
        assert(cells <= used_cells() && "released more than was admitted");
        const std::uint32_t before = checks_invariants ? used_cells() : 0;
        const std::uint32_t from_headroom = std::min(cells, headroom_.get());
        if (from_headroom != 0) {
            headroom_.set(headroom_.get() - from_headroom);
            pool.give_headroom(from_headroom);
        }
        give_back(pool, cells - from_headroom);
        SLUICE_INVARIANT(used_cells() == before - cells && "a release is the inverse of its admission");
    }
    // The same for a group that has reserved cells only. False: it has others, and nothing was done.
    bool release_reserved(std::uint32_t cells) {
        if ((headroom_.get() | shared_.get()) != 0) return false;
        give_back_reserved(cells);
        return true;
    }

    bool over(const GroupLimits& limits, PoolView pool) const {
        return headroom_.get() != 0 || shared_.get() > limit_cells(limits, pool);
    }
    // A group with nothing in use always may. `xon` above T does not count, as XON and XOFF would alternate.
    // A group that is still becoming lossless never may.
    bool may_resume(const GroupLimits& limits, PoolView pool) const {
        const std::int64_t limit = limit_cells(limits, pool);
        const std::int64_t low = std::max<std::int64_t>(limits.xon_cells, limit - limits.xon_offset_cells);
        return headroom_.get() == 0 && shared_.get() <= std::min(low, limit) && !limits.changing;
    }

    // Called for every group in use, after each burst of arrivals and each batch of releases, and once when
    // `pause_peer` ends. `pause_peer`: the worker falls behind. A group that is no longer lossless resumes.
    XoffSignal update_xoff(const GroupLimits& limits, PoolView pool, bool pause_peer = false) {
        SLUICE_INVARIANT(!(limits.changing && !limits.lossless) &&
                         "only a lossless group waits for its limits");
        if (pause() == Pause::none) {
            if (!limits.lossless || (!pause_peer && !over(limits, pool))) return XoffSignal::none;
        } else if (!limits.lossless || (!pause_peer && may_resume(limits, pool))) {
            return stop();
        } else if (pause() == Pause::sent) {
            return XoffSignal::none;
        }
        set_pause(Pause::sent);
        return XoffSignal::send_xoff;
    }
    // The pool's free cells at which update_xoff does nothing, as long as the group stays as it is.
    // `changing` and `lossless` change with a new snapshot only.
    FreeBounds free_bounds(const GroupLimits& limits) const {
        const std::int64_t shared = shared_.get();
        const auto least_free = [&](std::int64_t limit) {
            return limits.threshold.least_free(limit, shared);
        };
        switch (pause()) {
            case Pause::none:
                if (!limits.lossless) return {};
                return {headroom_.get() != 0 ? FreeBounds::never : least_free(shared), FreeBounds::never};
            case Pause::sent:
                if (!limits.lossless) break;
                if (headroom_.get() != 0 || limits.changing) return {};
                return {FreeBounds::any,
                        least_free(shared <= limits.xon_cells ? shared : shared + limits.xon_offset_cells)};
            case Pause::due:
                break;
        }
        return {FreeBounds::never, FreeBounds::never};
    }
    // XOFF at any use, which the next update_xoff sends: for a group whose limits begin to change, or whose
    // port comes up meanwhile.
    void stay_in_xoff() {
        if (pause() == Pause::none) set_pause(Pause::due);
    }
    // Ends XOFF at any use: port down, profile removed, shutdown.
    XoffSignal stop() {
        const bool told = pause() == Pause::sent;  // an XOFF that was due and never sent needs no XON
        set_pause(Pause::none);
        return told ? XoffSignal::send_xon : XoffSignal::none;
    }

    // When a new snapshot cuts the reserved part: cells beyond it become shared. They would otherwise leave
    // last, under load never.
    void cut_reserved(const GroupLimits& limits, PoolUse& pool) {
        if (reserved_.get() <= limits.reserved_cells) return;
        const std::uint32_t beyond = reserved_.get() - limits.reserved_cells;
        reserved_.set(limits.reserved_cells);
        shared_.set(shared_.get() + beyond);
        pool.shared.add(beyond, pool.exclusive);
    }
    // When a new snapshot puts the group into another pool: its cells move, too.
    void move(PoolUse& from, PoolUse& to) {
        to.shared.add(shared_.get(), to.exclusive);
        to.headroom.add(headroom_.get(), to.exclusive);
        from.shared.add(-std::int64_t{shared_.get()}, from.exclusive);
        from.headroom.add(-std::int64_t{headroom_.get()}, from.exclusive);
    }

    void clear_user_watermarks() {
        shared_watermark.user.set(shared_.get());
        headroom_watermark.user.set(headroom_.get());
    }

    // At most reserved cells are in use, and no sender is paused: update_xoff does nothing, unless
    // `pause_peer`.
    bool is_quiet() const { return (shared_.get() | headroom_.get() | pause_.get()) == 0; }
    bool in_xoff() const { return pause() != Pause::none; }  // any thread may ask
    std::uint32_t headroom_cells() const { return headroom_.get(); }
    std::uint32_t used_cells() const { return reserved_.get() + shared_.get() + headroom_.get(); }

    Watermark headroom_watermark;

  private:
    // due: in XOFF since a packet went to headroom, or since stay_in_xoff; update_xoff has not sent it yet.
    enum class Pause : std::uint8_t { none, due, sent };

    Pause pause() const { return static_cast<Pause>(pause_.get()); }
    void set_pause(Pause pause) { pause_.set(static_cast<std::uint32_t>(pause)); }

    Gauge headroom_;
    Gauge pause_;  // a Pause, which other threads may look at
};
static_assert(sizeof(PriorityGroup) == 32, "two to a cache line");

}  // namespace sluice
