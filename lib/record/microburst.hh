// Excursions of a queue's depth above a threshold.
//
// A meter for each queue; the owner of the queue calls it after every change of its depth. Below the
// threshold, and when off, that costs a comparison. An excursion begins with the packet that lifts the depth
// above the threshold and ends when the depth is at half of it or below, so that a queue about the threshold
// does not burst with every packet. Ports whose packets were in the queue before do not count as feeding it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "lib/values/ids.hh"
#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

struct Microburst {
    Time start;
    Duration length;
    Time peak_at;           // the first instant of that depth
    std::uint64_t marked;   // packets
    std::uint64_t dropped;  // packets refused by the queue or discarded from it
    PortMask fed_by;
    std::uint32_t peak_cells;
    PortId port;
    ClassId queue;
};

class MicroburstMeter {
  public:
    // 0: off. Live: an excursion under way ends by the new threshold.
    void configure(std::uint32_t threshold_cells) {
        threshold_ = threshold_cells == 0 ? off : threshold_cells;
        end_ = threshold_ == off ? off : threshold_ / 2;
    }

    // A packet of `from` has joined the queue, which holds `cells` now.
    void rose(Time now, std::uint32_t cells, PortId from) {
        if (is_above(cells)) [[unlikely]]
            above(now, cells, from);
    }
    // True when `rose` must be called.
    bool is_above(std::uint32_t cells) const { return cells > threshold_; }
    // Cells have left. Returns the excursion that ends; the caller sets port and queue.
    std::optional<Microburst> fell(Time now, std::uint32_t cells) {
        if (!active_ || cells > end_) [[likely]]
            return std::nullopt;
        active_ = false;
        burst_.length = now - burst_.start;
        return burst_;
    }
    void marked() {
        if (active_) ++burst_.marked;
    }
    void dropped() {
        if (active_) ++burst_.dropped;
    }

    // The excursion under way.
    std::optional<Microburst> running(Time now) const {
        if (!active_) return std::nullopt;
        Microburst burst = burst_;
        burst.length = now - burst.start;
        return burst;
    }

  private:
    static constexpr std::uint32_t off = std::numeric_limits<std::uint32_t>::max();

    [[gnu::noinline]] void above(Time now, std::uint32_t cells, PortId from) {
        if (!active_) {
            active_ = true;
            burst_ = {};
            burst_.start = now;
        }
        if (cells > burst_.peak_cells) {
            burst_.peak_cells = cells;
            burst_.peak_at = now;
        }
        burst_.fed_by.add(from);
    }

    std::uint32_t threshold_ = off;
    std::uint32_t end_ = off;
    bool active_ = false;
    Microburst burst_{};
};

}  // namespace sluice
