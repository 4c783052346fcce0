// Counts which egress queues hold the cells of a priority group.
//
// For every (ingress port, group, egress port, queue) the cells that entered and left since the start, each
// with one writer: the owner of the ingress port counts admitted cells, the owner of the egress port dequeued
// and dropped ones. `left` is counted before the release is posted on the ReleaseBoard, so the sum over
// queues never exceeds the group's use. The difference is on its way back, or was not counted: while
// decisions are recorded all packets are, else those that the recorder samples. ports^2 x 1 KiB (64 MiB at
// 256 ports), page by page as places are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/buffer/cells.hh"
#include "lib/threads/counters.hh"
#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"
#include "lib/values/lazy_array.hh"

namespace sluice {

struct FillPlace {
    PortId ingress_port;
    ClassId group;
    PortId egress_port;
    ClassId queue;
};

class FillBoard {
  public:
    explicit FillBoard(unsigned ports) : ports_(ports), entered_(rows(ports)), left_(rows(ports)) {}
    static constexpr std::size_t entries(unsigned ports) {
        return std::size_t{ports} * classes * ports * classes;
    }

    // Owner of the ingress port.
    void entered(const FillPlace& place, std::uint32_t cells) {
        SLUICE_INVARIANT(cells > 0 && place.group < classes && place.queue < classes);
        entered_[row(place)].queue[place.queue].add(cells);
    }
    // Owner of the ingress port: admitted cells do not reach the queue.
    void withdrawn(const FillPlace& place, std::uint32_t cells) {
        Counter& counter = entered_[row(place)].queue[place.queue];
        SLUICE_INVARIANT(cells <= counter.get() && "only what has entered is withdrawn");
        counter.set(counter.get() - cells);
    }
    // Owner of the egress port.
    void left(const FillPlace& place, std::uint32_t cells) {
        left_[row(place)].queue[place.queue].add(cells);
    }

    void touch() {
        entered_.touch();
        left_.touch();
    }

    // Any worker: calls visit(ingress port, group, cells) for the ports whose cells of this group number the
    // queue holds now.
    template <class Visit>
    void for_each_feeder(ClassId group, PortId egress_port, ClassId queue, Visit visit) const {
        for (unsigned port = 0; port < ports_; ++port) {
            const auto ingress_port = static_cast<PortId>(port);
            const std::size_t at = row({ingress_port, group, egress_port, queue});
            // Cells may leave between the two looks.
            const std::uint64_t left = left_[at].queue[queue].get();
            const std::uint64_t entered = entered_[at].queue[queue].get();
            if (entered > left) visit(ingress_port, group, static_cast<std::uint32_t>(entered - left));
        }
    }

    // Owner of the ingress port: calls visit(egress port, queue, cells) for each count above 0.
    template <class Visit>
    void for_each(PortId ingress_port, ClassId group, Visit visit) const {
        for (unsigned egress = 0; egress < ports_; ++egress) {
            const auto egress_port = static_cast<PortId>(egress);
            const std::size_t at = row({ingress_port, group, egress_port, 0});
            for (ClassId queue = 0; queue < classes; ++queue) {
                const std::uint64_t cells = entered_[at].queue[queue].get() - left_[at].queue[queue].get();
                SLUICE_INVARIANT(cells <= max_buffer_cells && "no more leaves than has entered");
                if (cells != 0) visit(egress_port, queue, static_cast<std::uint32_t>(cells));
            }
        }
    }

  private:
    // The queues of one egress port, with one writer: a cache line.
    struct alignas(64) Row {
        std::array<Counter, classes> queue;
    };
    static_assert(sizeof(Row) == 64);

    static std::size_t rows(unsigned ports) { return entries(ports) / classes; }
    std::size_t row(const FillPlace& place) const {
        SLUICE_INVARIANT(place.ingress_port < ports_ && place.egress_port < ports_);
        return (std::size_t{place.ingress_port} * classes + place.group) * ports_ + place.egress_port;
    }

    unsigned ports_;
    LazyArray<Row> entered_;
    LazyArray<Row> left_;
};

}  // namespace sluice
