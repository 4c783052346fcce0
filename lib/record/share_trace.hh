// The share of time in which something was on, for pictures: bounded, exact in the sum.
//
// Time is cut into slots of equal width, and a slot has the time in it that was on. When all slots are in
// use, neighbors are added up and the width doubles, so a run of any length keeps all of its time.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/values/units.hh"

namespace sluice {

class ShareTrace {
  public:
    // No memory is taken before it is on for the first time.
    ShareTrace(unsigned slots, Duration width) : limit_(slots & ~1U), width_ps_(width.ps) {
        assert(limit_ >= 2 && width.ps > 0);
    }
    // Takes the memory of all slots now: `change` allocates nothing after it.
    void reserve() { slots_.reserve(limit_); }

    // Times do not go back.
    void change(Time now, bool on) {
        if (on == on_) return;
        if (on_) add(since_, now.ps);
        on_ = on;
        since_ = now.ps;
    }
    // On-time of each slot in picoseconds, up to `now`, which is not before the last change.
    std::vector<std::int64_t> slots(Time now) const {
        ShareTrace all = *this;
        all.change(now, false);
        return std::move(all.slots_);
    }
    // The width of those slots.
    Duration width(Time now) const {
        ShareTrace all = *this;
        all.change(now, false);
        return {all.width_ps_};
    }

  private:
    void add(std::uint64_t from_ps, std::uint64_t to_ps) {
        if (to_ps <= from_ps) return;
        auto from = static_cast<std::int64_t>(from_ps);
        const auto to = static_cast<std::int64_t>(to_ps);
        while ((to - 1) / width_ps_ >= static_cast<std::int64_t>(limit_)) merge();
        slots_.resize(std::max(slots_.size(), static_cast<std::size_t>((to - 1) / width_ps_) + 1));
        while (from < to) {
            const std::int64_t slot = from / width_ps_;
            const std::int64_t end = std::min(to, (slot + 1) * width_ps_);
            slots_[static_cast<std::size_t>(slot)] += end - from;
            from = end;
        }
    }
    void merge() {
        width_ps_ *= 2;
        for (std::size_t n = 0; n < slots_.size(); ++n)
            if (n % 2 == 0)
                slots_[n / 2] = slots_[n];
            else
                slots_[n / 2] += slots_[n];
        slots_.resize((slots_.size() + 1) / 2);
    }

    std::size_t limit_;
    std::int64_t width_ps_;
    std::vector<std::int64_t> slots_;
    bool on_ = false;
    std::uint64_t since_ = 0;
};

}  // namespace sluice
