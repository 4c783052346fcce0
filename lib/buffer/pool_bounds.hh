// For each port of a switch and each pool, the free cells between which no group of the port sends XOFF or
// XON as long as its groups stay as they are (PriorityGroup::free_bounds): a pool that moves between them
// need not be judged by that port.
//
// The bounds of a pool stand in arrays, which vector instructions compare all at once, and only when the pool
// has left what was inside of everyone's bounds. One thread uses it, between bursts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/buffer/buffer_limits.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/port_set.hh"

namespace sluice {

class PoolBounds {
  public:
    explicit PoolBounds(std::size_t ports) : pools_of_(ports) {}

    // The port has these bounds, and no others.
    void set_only(PortId port, unsigned pool, FreeBounds bounds) {
        if ((pools_of_[port] & ~(1U << pool)) != 0) [[unlikely]]
            clear(port);
        if ((used_ >> pool & 1U) == 0) [[unlikely]]
            use(pool);
        pools_of_[port] = static_cast<std::uint8_t>(1U << pool);
        pools_[pool].set(port, bounds);
    }
    // The port has no bounds any more.
    void clear(PortId port) {
        for_each_class(pools_of_[port], [&](unsigned pool) { pools_[pool].set(port, {}); });
        pools_of_[port] = 0;
    }
    // Those of one of its groups.
    void add(PortId port, unsigned pool, FreeBounds bounds) {
        Pool& all = pools_[pool];
        if ((used_ >> pool & 1U) == 0) [[unlikely]]
            use(pool);
        pools_of_[port] = static_cast<std::uint8_t>(pools_of_[port] | 1U << pool);
        all.set(port, {std::max(bounds.low, all.low[port]), std::min(bounds.high, all.high[port])});
    }

    // Adds the ports outside of whose bounds a pool is; `free_cells(pool)`: of a pool that bounds anyone.
    template <class FreeCells>
    void add_outside(PortSet& ports, FreeCells free_cells) {
        for_each_class(used_, [&](unsigned n) {
            Pool& pool = pools_[n];
            const std::int64_t free = free_cells(n);
            if (free < pool.inner.low || free >= pool.inner.high) [[unlikely]]
                pool.compare(ports, free);
        });
    }

  private:
    static constexpr std::size_t block = 8;               // ports that are compared together
    using Lanes [[gnu::vector_size(32)]] = std::int64_t;  // half a block

    struct Pool {
        std::vector<std::int64_t> low, high;  // by port, filled up to a block
        FreeBounds inner;                     // inside of all of them

        void set(PortId port, FreeBounds bounds) {
            low[port] = bounds.low;
            high[port] = bounds.high;
            inner.low = std::max(inner.low, bounds.low);
            inner.high = std::min(inner.high, bounds.high);
        }
        // Finds out anew, too, what is inside of all.
        [[gnu::noinline]] void compare(PortSet& ports, std::int64_t free) {
            Lanes most_low = FreeBounds::any + Lanes{}, least_high = FreeBounds::never + Lanes{};
            for (std::size_t first = 0; first < low.size(); first += block) {
                Lanes outside{};
                for (std::size_t half = 0; half < block; half += block / 2) {
                    Lanes low_here, high_here;
                    std::memcpy(&low_here, &low[first + half], sizeof low_here);
                    std::memcpy(&high_here, &high[first + half], sizeof high_here);
                    const Lanes is_outside = (free < low_here) | (free >= high_here);  // all bits of a lane
                    outside |= is_outside & (Lanes{1, 2, 4, 8} << static_cast<std::int64_t>(half));
                    most_low = low_here > most_low ? low_here : most_low;
                    least_high = high_here < least_high ? high_here : least_high;
                }
                ports.add_some(static_cast<PortId>(first),
                               static_cast<std::uint64_t>(outside[0] | outside[1] | outside[2] | outside[3]));
            }
            inner = {};
            for (unsigned lane = 0; lane < block / 2; ++lane)
                inner = {std::max(inner.low, most_low[lane]), std::min(inner.high, least_high[lane])};
        }
    };

    [[gnu::cold]] void use(unsigned pool) {
        used_ = static_cast<std::uint8_t>(used_ | 1U << pool);
        const std::size_t ports = (pools_of_.size() + block - 1) / block * block;
        pools_[pool].low.resize(ports, FreeBounds{}.low);
        pools_[pool].high.resize(ports, FreeBounds{}.high);
    }

    std::uint8_t used_ = 0;               // bit n: a port has had bounds in pool n
    std::vector<std::uint8_t> pools_of_;  // by port; bit n: it has bounds in pool n
    std::array<Pool, max_pools> pools_;
};

}  // namespace sluice
