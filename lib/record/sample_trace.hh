// Samples over time, for pictures: bounded.
//
// Time is cut into slots of equal width; a slot has the first sample that was offered in it. When all places
// are taken the width doubles until some fall together. A counter loses resolution, not value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/values/units.hh"

namespace sluice {

template <class Sample>
class SampleTrace {
  public:
    struct Taken {
        Time at;
        Sample sample;
    };

    // At most `limit` of them, above 1; `width` is above 0.
    SampleTrace(std::size_t limit, Duration width)
        : limit_(limit), width_ps_(static_cast<std::uint64_t>(width.ps)) {}

    // True when its slot has none; `now` does not go back.
    bool wants(Time now) const { return now.ps >= next_ps_; }
    // Adds a wanted sample.
    void add(Time now, Sample sample) {
        while (taken_.size() == limit_) thin();
        if (!wants(now)) return;
        taken_.push_back({now, std::move(sample)});
        next_ps_ = slot(now) + width_ps_;
    }

    std::span<const Taken> taken() const { return taken_; }
    Duration width() const { return {static_cast<std::int64_t>(width_ps_)}; }

  private:
    std::uint64_t slot(Time at) const { return at.ps / width_ps_ * width_ps_; }
    void thin() {
        width_ps_ *= 2;
        const auto together = [this](const Taken& a, const Taken& b) { return slot(a.at) == slot(b.at); };
        taken_.erase(std::unique(taken_.begin(), taken_.end(), together), taken_.end());
        next_ps_ = slot(taken_.back().at) + width_ps_;
    }

    std::size_t limit_;
    std::uint64_t width_ps_;
    std::uint64_t next_ps_ = 0;  // the end of the last one's slot
    std::vector<Taken> taken_;
};

}  // namespace sluice
