// Depths over time that change together, for pictures: bounded.
//
// Time is cut into slots of equal width; a slot keeps the highest and the last of each depth seen in it. When
// all slots are full, neighbors are merged and the width doubles, so peaks survive at any length of run.
// Memory is taken as slots fill.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/record/slot_list.hh"
#include "lib/values/units.hh"

namespace sluice {

template <std::size_t depths>
class SlotTrace {
  public:
    struct Depth {
        std::uint32_t peak;
        std::uint32_t last;
    };
    struct Slot {
        std::int64_t start_ps;
        std::array<Depth, depths> of;
    };
    using Seen = std::array<std::uint32_t, depths>;

    SlotTrace(unsigned slots, Duration width) : limit_(slots & ~1U), width_ps_(width.ps) {}

    // Takes the memory of all slots now: `record` allocates nothing after it.
    void reserve() { slots_.reserve(limit_); }
    void record(Time now, const Seen& seen) {
        const auto at_ps = static_cast<std::int64_t>(now.ps);
        if (at_ps < end_ps_) {
            Slot& slot = slots_.back();
            for (std::size_t n = 0; n < depths; ++n)
                slot.of[n] = {std::max(slot.of[n].peak, seen[n]), seen[n]};
        } else if (slots_.size() == limit_) {
            merge();
            record(now, seen);
        } else {
            Slot slot{at_ps / width_ps_ * width_ps_, {}};
            for (std::size_t n = 0; n < depths; ++n) slot.of[n] = {seen[n], seen[n]};
            slots_.push_back(slot);
            end_ps_ = slot.start_ps + width_ps_;
        }
    }

    // What depth `n` was since it was recorded, in the same slot: at its most, and at last.
    void catch_up(std::size_t n, Depth missed) {
        Depth& depth = slots_.back().of[n];
        depth = {std::max(depth.peak, missed.peak), missed.last};
    }
    // When the last slot ends; 0: there is none.
    std::int64_t end_ps() const { return end_ps_; }

    const SlotList<Slot>& slots() const { return slots_; }
    Duration width() const { return {width_ps_}; }

  private:
    void merge() {
        width_ps_ *= 2;
        std::size_t kept = 0;
        for (std::size_t n = 0; n < slots_.size(); ++n) {
            Slot slot = slots_[n];
            slot.start_ps = slot.start_ps / width_ps_ * width_ps_;
            if (kept == 0 || slots_[kept - 1].start_ps != slot.start_ps) {
                slots_[kept++] = slot;
                continue;
            }
            auto& before = slots_[kept - 1].of;
            for (std::size_t each = 0; each < depths; ++each)
                before[each] = {std::max(before[each].peak, slot.of[each].peak), slot.of[each].last};
        }
        slots_.shrink(kept);
        end_ps_ = slots_.back().start_ps + width_ps_;
    }

    std::size_t limit_;
    std::int64_t width_ps_;
    std::int64_t end_ps_ = 0;  // of the last slot
    SlotList<Slot> slots_;
};

}  // namespace sluice
