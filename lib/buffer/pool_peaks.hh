// For each port of a switch and each pool, the most and the latest free cells that the port has seen since it
// last forgot: so a limit that follows the pool is known for a time in which nobody asked the port.
//
// They stand in arrays, which vector instructions update all at once. One thread uses it, between bursts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/cells.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"

namespace sluice {

class PoolPeaks {
  public:
    explicit PoolPeaks(std::size_t ports) : ports_(ports) {}

    // From now on `see` looks at the pool for the port, and for all others.
    void use(unsigned pool) {
        if ((used_ >> pool & 1U) != 0) [[likely]]
            return;
        used_ = static_cast<std::uint8_t>(used_ | 1U << pool);
        pools_[pool].most.resize(ports_);
        pools_[pool].latest.resize(ports_);
    }
    // The ports from `first` up to `last` see what is free; `free_cells(pool)`: of a pool in use. Less than 0
    // is seen as 0, as thresholds take it.
    template <class FreeCells>
    void see(PortId first, PortId last, FreeCells free_cells) {
        for_each_class(used_, [&](unsigned n) {
            Pool& pool = pools_[n];
            const auto seen =
                static_cast<std::uint32_t>(1 + std::clamp<std::int64_t>(free_cells(n), 0, max_buffer_cells));
            for (std::size_t port = first; port <= last; ++port) {
                pool.most[port] = std::max(pool.most[port], seen);
                pool.latest[port] = seen;
            }
        });
    }

    struct Seen {
        std::uint32_t most, latest;  // free cells
    };
    // Nothing: the port has seen none since it forgot.
    std::optional<Seen> seen(PortId port, unsigned pool) const {
        if ((used_ >> pool & 1U) == 0 || pools_[pool].most[port] == 0) return std::nullopt;
        return Seen{pools_[pool].most[port] - 1, pools_[pool].latest[port] - 1};
    }
    void forget(PortId port) {
        for_each_class(used_, [&](unsigned n) { pools_[n].most[port] = 0; });
    }

  private:
    struct Pool {
        std::vector<std::uint32_t> most, latest;  // by port, plus 1; 0: seen nothing
    };

    std::size_t ports_;
    std::uint8_t used_ = 0;  // bit n: pool n
    std::array<Pool, max_pools> pools_;
};

}  // namespace sluice
