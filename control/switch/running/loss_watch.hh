// Notes frames that ports lost before the switch had them or after it sent them: in receive rings, at
// interfaces, beyond an MTU. Control's thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

class RunningSwitch;

// Decides when to report a growing count of losses: at the first, then after a second and twice as long each
// time, up to a minute, and at the end of the run. A loss that has paused as long
// begins anew.
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

class LossWatch {
  public:
    explicit LossWatch(RunningSwitch& running) : running_(running) {}

    // Not at every instant: reading cards costs time.
    bool is_due() const;
    Time next() const { return next_; }
    // Notes new losses; `at_end`: the sums of the run.
    void note_losses(bool at_end = false);

  private:
    struct FrameLoss;
    void note_loss(PortId id, const FrameLoss& loss, bool at_end);

    RunningSwitch& running_;
    Time next_{};
    std::map<std::pair<PortId, std::string_view>, GrowingLoss> losses_;  // by port and words
};

}  // namespace sluice
