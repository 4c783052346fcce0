// Control's end of what ports punt: the responder answers it, under both clocks.
#pragma once

#include <vector>

#include "control/config.hh"
#include "dataplane/control_path.hh"

namespace sluice {

class RunningSwitch;

class SlowPath {
  public:
    // Takes what is there by now, port by port and in the order of arrival, so that under the virtual clock
    // the same frames come back in the same order. True when it has given the workers frames to send.
    bool serve(RunningSwitch& running);

  private:
    std::vector<IpAddress> local_;  // of all ports, sorted; while `serve` runs
};

}  // namespace sluice
