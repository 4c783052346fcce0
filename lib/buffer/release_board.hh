// Egress workers tell the owners of priority groups how many cells have left.
//
// For every (egress worker, ingress port) a cache line of eight counters of released cells, by group. Written
// by that egress worker only, read by the worker that owns the ingress port, which takes the differences once
// a turn. Counters never wrap: 2^64 cells.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/buffer/cells.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"

namespace sluice {

class ReleaseBoard {
    struct alignas(64) Posted {
        std::array<std::atomic<std::uint64_t>, classes> cells{};
    };

  public:
    ReleaseBoard(unsigned workers, unsigned ports)
        : workers_(workers),
          ports_(ports),
          posted_(std::size_t{workers} * ports),
          seen_(posted_.size()),
          batches_(workers) {
        assert(workers > 0 && workers <= max_workers && ports <= max_ports);
    }

    // Egress worker `worker`: cells of a packet that `group` of `port` had admitted.
    void post(WorkerId worker, PortId port, ClassId group, std::uint32_t cells) {
        assert(port < ports_ && group < classes);
        poster(worker).post(port, group, cells);
    }

    // Egress worker `worker`'s view, to post for many packets.
    class Poster {
      public:
        void post(PortId port, ClassId group, std::uint32_t cells) const {
            SLUICE_INVARIANT(cells > 0 && group < classes && "a charge has cells, and is released once");
            std::atomic<std::uint64_t>& counter = ports_[port].cells[group];
            // relaxed load: we are the only writer. release store: the owner that admits into these cells
            // sees this worker's earlier writes (lower queue and egress pool).
            counter.store(counter.load(std::memory_order_relaxed) + cells, std::memory_order_release);
        }

      private:
        friend class ReleaseBoard;
        explicit Poster(Posted* ports) : ports_(ports) {}
        Posted* ports_;
    };
    Poster poster(WorkerId worker) {
        ++batches_[worker].posted;
        return Poster(posted_.data() + index(worker, 0));
    }

    // How often workers have begun to post; while it stays the same there is nothing to collect. For one
    // thread that runs all workers (virtual clock).
    std::uint64_t batches() const {
        std::uint64_t sum = 0;
        for (const Batches& each : batches_) sum += each.posted;
        return sum;
    }

    // Owner of `port`: calls take(group, cells) for releases since the last time, cells > 0. `groups`: at
    // least those that hold cells.
    template <class Take>
    void collect(PortId port, std::uint8_t groups, Take take) {
        for (unsigned worker = 0; worker < workers_; ++worker) {
            const std::size_t line = index(static_cast<WorkerId>(worker), port);
            const Posted& posted = posted_[line];
            Seen& seen = seen_[line];
            for_each_class(groups, [&](ClassId group) {
                // acquire: pairs with the store in `post`.
                const std::uint64_t now = posted.cells[group].load(std::memory_order_acquire);
                const std::uint64_t cells = now - seen.cells[group];
                if (cells == 0) return;
                SLUICE_INVARIANT(cells <= max_buffer_cells && "what is posted never falls");
                seen.cells[group] = now;
                take(group, static_cast<std::uint32_t>(cells));
            });
        }
    }

  private:
    struct alignas(64) Seen {
        std::array<std::uint64_t, classes> cells{};
    };
    static_assert(sizeof(Posted) == 64 && sizeof(Seen) == 64);

    struct alignas(64) Batches {
        std::uint64_t posted = 0;
    };

    std::size_t index(WorkerId worker, PortId port) const {
        assert(worker < workers_ && port < ports_);
        return std::size_t{worker} * ports_ + port;
    }

    unsigned workers_;
    unsigned ports_;
    std::vector<Posted> posted_;
    std::vector<Seen> seen_;        // private to the owner of the port
    std::vector<Batches> batches_;  // of each egress worker, which alone writes it
};

}  // namespace sluice
