// When to tell of a count of losses: at its first, again while it grows, after a second and then after twice
// as long each time, to a minute; and at the end of the run, if more came. So a log has the beginning, the
// course and the sum of a loss, and no loss floods it. One that has paused for as long begins anew.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/values/units.hh"

namespace sluice {

class GrowingLoss {
  public:
    static constexpr Duration first_wait = seconds(1);
    static constexpr Duration max_wait = seconds(64);

    bool is_to_tell(std::uint64_t count, Time now, bool at_end) {
        if (count <= told_ || (!at_end && now < next_)) return false;
        wait_ = now < next_ + wait_ ? std::min(wait_ * 2, max_wait) : first_wait;
        if (told_ == 0) wait_ = first_wait;
        told_ = count;
        next_ = now + wait_;
        return true;
    }

  private:
    std::uint64_t told_ = 0;
    Time next_{};
    Duration wait_{};
};

}  // namespace sluice
