// A queue's depth over time, for pictures: in slots (slot_trace.hh), with mean and deviation over time, which
// are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lib/record/slot_trace.hh"
#include "lib/values/units.hh"

namespace sluice {

class DepthTrace {
  public:
    using Slot = SlotTrace<1>::Slot;

    DepthTrace(unsigned slots, Duration width) : depth_(slots, width) {}

    void reserve() { depth_.reserve(); }
    void record(Time now, std::uint32_t depth) {
        weights_.until(now);
        weights_.depth = depth;
        depth_.record(now, {depth});
    }

    const SlotList<Slot>& slots() const { return depth_.slots(); }
    Duration width() const { return depth_.width(); }

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

    SlotTrace<1> depth_;
    Weights weights_;
};

}  // namespace sluice
