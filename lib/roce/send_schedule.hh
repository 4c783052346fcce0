// Chooses the queue pair of a host that sends next: the one that has waited longest of those whose class may
// send.
//
// Each queue pair is idle, or ready from a time on: its last start plus the packet's time at its rate
// (`pace`). As that time lies behind those of all that wait already, an overloaded link is served round
// robin, packet by packet, across classes. Equal times go by index, the lower first. A class that PFC holds
// keeps its turn and stops no other. A winner tree per class: O(log n) a packet, nothing allocated but by
// `resize`. The caller sends the packet and says when its queue pair is ready again. Times lie less than
// 106 days apart.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/clock/calendar.hh"
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
    // A queue pair for each entry, all idle; fewer than 2^31.
    explicit SendSchedule(std::span<const ClassId> class_of_queue_pair)
        : class_of_(class_of_queue_pair.begin(), class_of_queue_pair.end()) {
        for (const ClassId id : class_of_) {
            assert(id < classes);
            present_ |= 1U << id;
        }
        for (ClassId id = 0; id < classes; ++id)
            trees_.emplace_back((present_ >> id & 1U) != 0 ? class_of_.size() : 0);
    }

    // Room for so many queue pairs, not fewer than before. New ones are idle, of class 0.
    void resize(std::size_t count) {
        class_of_.resize(count);
        for_each_class(present_, [&](ClassId id) { trees_[id].resize(count); });
    }
    // The queue pair is idle.
    void set_class(QpIndex qp, ClassId id) {
        class_of_[qp] = id;
        if ((present_ >> id & 1U) != 0) return;
        present_ |= 1U << id;
        trees_[id].resize(class_of_.size());
    }

    void set_ready(QpIndex qp, Time at) { trees_[class_of_[qp]].put(qp, {at, qp}); }
    void set_idle(QpIndex qp) { trees_[class_of_[qp]].put(qp, {}); }
    // Ahead of set_ready.
    void fetch(QpIndex qp) const { trees_[class_of_[qp]].fetch(qp); }

    // The first of the classes of the mask `allowed`, and from when on it may send.
    Calendar::Entry first(unsigned allowed) const {
        Calendar::Entry best;
        for_each_class(allowed & present_,
                       [&](ClassId id) { best = Calendar::earlier(best, trees_[id].first()); });
        return best;
    }
    // The queue pair to send at `now` in the classes of the mask `allowed`, if any.
    std::optional<QpIndex> next(Time now, unsigned allowed) const {
        const Calendar::Entry turn = first(allowed);
        return turn.is_due(now) ? std::optional(turn.number) : std::nullopt;
    }
    std::optional<Time> next_time(unsigned allowed) const { return first(allowed).time(); }

  private:
    std::vector<ClassId> class_of_;  // of each queue pair
    std::vector<Calendar> trees_;    // by class; a leaf for each queue pair where there is one of the class
    unsigned present_ = 0;           // the classes that have queue pairs
};

}  // namespace sluice::roce
