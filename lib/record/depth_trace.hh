// A queue's depth over time, for pictures: bounded. Mean and deviation over time are exact.
//
// Time is cut into slots of equal width; a slot keeps the highest and the last depth seen in it. When all
// slots are full, neighbors are merged and the width doubles, so peaks survive at any length of run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/values/units.hh"

namespace sluice {

class DepthTrace {
  public:
    struct Slot {
        std::int64_t start_ps;
        std::uint32_t peak;
        std::uint32_t last;
    };

    DepthTrace(unsigned slots, Duration width) : limit_(slots & ~1U), width_ps_(width.ps) {
        slots_.reserve(limit_);
    }

    void record(Time now, std::uint32_t depth) {
        weights_.until(now);
        weights_.depth = depth;
        put(now, depth);
    }

    std::span<const Slot> slots() const { return slots_; }
    Duration width() const { return {width_ps_}; }

    // From 0 to `now`, which is not before the last change.
    struct Moments {
        double mean = 0;
        double deviation = 0;  // standard
    };
    Moments moments(Time now) const {
        if (now.ps == 0) return {};
        Weights all = weights_;
        all.until(now);
        const auto time = static_cast<double>(now.ps);
        const double mean = all.area / time;
        return {mean, std::sqrt(std::max(all.squares / time - mean * mean, 0.0))};
    }

  private:
    // Integrals of depth, and of depth squared, over time.
    struct Weights {
        double area = 0;
        double squares = 0;
        double depth = 0;
        Time at{};
        void until(Time now) {
            const auto lasted = static_cast<double>((now - at).ps);
            area += depth * lasted;
            squares += depth * depth * lasted;
            at = now;
        }
    };

    void put(Time now, std::uint32_t depth) {
        const auto start = static_cast<std::int64_t>(now.ps) / width_ps_ * width_ps_;
        if (!slots_.empty() && slots_.back().start_ps >= start) {
            slots_.back().peak = std::max(slots_.back().peak, depth);
            slots_.back().last = depth;
            return;
        }
        if (slots_.size() == limit_) {
            merge();
            put(now, depth);
            return;
        }
        slots_.push_back({start, depth, depth});
    }

    void merge() {
        width_ps_ *= 2;
        std::size_t kept = 0;
        for (const Slot& slot : slots_) {
            const std::int64_t start = slot.start_ps / width_ps_ * width_ps_;
            if (kept != 0 && slots_[kept - 1].start_ps == start) {
                slots_[kept - 1].peak = std::max(slots_[kept - 1].peak, slot.peak);
                slots_[kept - 1].last = slot.last;
            } else {
                slots_[kept++] = {start, slot.peak, slot.last};
            }
        }
        slots_.resize(kept);
    }

    std::size_t limit_;
    std::int64_t width_ps_;
    std::vector<Slot> slots_;
    Weights weights_;
};

}  // namespace sluice
