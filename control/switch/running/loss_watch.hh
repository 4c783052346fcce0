// Frames that ports lost before the switch had them or after it sent them: in receive rings, at interfaces,
// beyond an MTU. An event says so at the first, and while a loss grows (growing_loss.hh). Control's thread
// only.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "control/switch/running/growing_loss.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

class RunningSwitch;

class LossWatch {
  public:
    explicit LossWatch(RunningSwitch& running) : running_(running) {}

    // A card has to be asked, and instants of the virtual clock are many: now and then.
    bool is_due() const;
    // Any time. `at_end`, of the whole run: the events tell the sums.
    void note_losses(bool at_end = false);

  private:
    struct FrameLoss;
    void note_loss(PortId id, const FrameLoss& loss, bool at_end);

    RunningSwitch& running_;
    Time next_{};
    std::map<std::pair<PortId, std::string_view>, GrowingLoss> losses_;  // by port and words
};

}  // namespace sluice
