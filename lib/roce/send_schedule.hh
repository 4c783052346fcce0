// Which queue pair of a host sends next: the one that has waited longest of those whose class may send.
//
// Each queue pair is idle, or ready from a time on: its last start plus the packet's time at its rate
// (`pace`). Because that time lies behind those of all that wait already, each of them sends a packet before
// one sends two: queue pairs that want more than the link are served round robin, packet by packet, across
// classes. Equal times go by index, the lower first, whatever the order of the calls. A class that PFC holds
// keeps its turn and stops nobody else. One winner tree per class: O(log n) a packet, nothing allocated after
// construction. The caller sends the packet and says when its queue pair is ready again. Times lie less than
// 106 days apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

using QpIndex = std::uint32_t;  // of a host's queue pairs, from 0

// Time of `wire_bytes` at `rate`, rounded up to a picosecond: never faster than the rate. wire_bytes <= 2^21.
constexpr Duration pace(std::uint32_t wire_bytes, Rate rate) {
    const std::uint64_t parts = wire_bytes * 8'000'000'000'000ULL;
    return {static_cast<std::int64_t>((parts + rate.bits_per_second - 1) / rate.bits_per_second)};
}

class SendSchedule {
  public:
    // One queue pair per entry, all idle; fewer than 2^31.
    explicit SendSchedule(std::span<const ClassId> class_of_queue_pair);

    void set_ready(QpIndex qp, Time at) { set(qp, {at, qp}); }
    void set_idle(QpIndex qp) { set(qp, {}); }

    // Ahead of set_ready: the nodes near the leaf, which are in no cache where there are thousands.
    void fetch(QpIndex qp) const {
        const Turn* tree = &nodes_[place_[qp].tree];
        std::uint32_t node = place_[qp].leaf;
        for (unsigned level = 0; level < 5; ++level, node /= 2) __builtin_prefetch(&tree[node]);
    }

    static constexpr QpIndex nobody = ~QpIndex{0};
    struct Turn {
        Time at{};
        QpIndex qp = nobody;
    };
    // The one that waits longest of the classes of the mask `allowed`, and from when on it may send.
    Turn first(unsigned allowed) const {
        Turn best;
        for_each_class(allowed & present_, [&](ClassId id) { best = earlier(best, nodes_[root_[id]]); });
        return best;
    }
    // Of the classes of the mask `allowed`: the queue pair to send at `now`, if any. Changes nothing.
    std::optional<QpIndex> next(Time now, unsigned allowed) const {
        const Turn turn = first(allowed);
        return turn.qp != nobody && turn.at <= now ? std::optional(turn.qp) : std::nullopt;
    }
    // When `next` first gives one.
    std::optional<Time> next_time(unsigned allowed) const {
        const Turn turn = first(allowed);
        return turn.qp != nobody ? std::optional(turn.at) : std::nullopt;
    }

  private:
    // A tree of n leaves: nodes 1..2n-1, the root first; n..2n-1 are the leaves.
    struct Place {
        std::uint32_t tree;  // its node 0 in nodes_
        std::uint32_t leaf;  // the node of the queue pair
    };
    // Without a branch: which one is earlier cannot be foretold.
    static Turn earlier(const Turn& a, const Turn& b) {
        const unsigned before = unsigned{b.at < a.at} | (unsigned{b.at == a.at} & unsigned{b.qp < a.qp});
        const unsigned takes_b = unsigned{b.qp != nobody} & (unsigned{a.qp == nobody} | before);
        return {{takes_b != 0 ? b.at.ps : a.at.ps}, takes_b != 0 ? b.qp : a.qp};
    }
    void set(QpIndex qp, Turn turn);

    std::vector<Place> place_;                   // of each queue pair
    std::vector<Turn> nodes_;                    // the first that waits below each node
    std::array<std::uint32_t, classes> root_{};  // of each class that has queue pairs
    unsigned present_ = 0;                       // the classes that have
};

}  // namespace sluice::roce
