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
#include <cstring>
#include <utility>
#include <vector>

#include "lib/buffer/cells.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"
#include "lib/values/port_set.hh"

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
          touched_(workers) {
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
            touched_[port] = 1;
        }

      private:
        friend class ReleaseBoard;
        Poster(Posted* ports, std::uint8_t* touched) : ports_(ports), touched_(touched) {}
        Posted* ports_;
        std::uint8_t* touched_;
    };
    Poster poster(WorkerId worker) {
        touched_[worker].any = true;
        return {posted_.data() + index(worker, 0), touched_[worker].port.data()};
    }

    // Ports for which there is something to collect that came since the last call. For one thread that runs
    // all workers (virtual clock).
    PortSet take_touched() {
        PortSet all;
        for (Touched& each : touched_) {
            if (!std::exchange(each.any, false)) continue;
            for (unsigned first = 0; first < ports_; first += 8) {
                std::uint64_t bytes;
                std::memcpy(&bytes, &each.port[first], sizeof bytes);
                if (bytes == 0) continue;
                // Bit 0 of each byte, the first lowest.
                all.add_some(static_cast<PortId>(first), bytes * 0x0102'0408'1020'4080 >> 56);
                std::memset(&each.port[first], 0, sizeof bytes);
            }
        }
        return all;
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

    // 1 for a port to whose groups cells were posted: a byte, as it is written with each packet.
    struct alignas(64) Touched {
        bool any = false;  // batches since
        std::array<std::uint8_t, max_ports> port{};
    };

    std::size_t index(WorkerId worker, PortId port) const {
        assert(worker < workers_ && port < ports_);
        return std::size_t{worker} * ports_ + port;
    }

    unsigned workers_;
    unsigned ports_;
    std::vector<Posted> posted_;
    std::vector<Seen> seen_;        // private to the owner of the port
    std::vector<Touched> touched_;  // of each egress worker, which alone writes it
};

}  // namespace sluice
