// The control thread's loop: lets the switch run and carries out timed events, until the end.
#pragma once

#include <optional>

#include "control/running_switch.hh"

namespace sluice {

// Returns when `duration` has passed on the switch's clock, on SIGINT or SIGTERM, or, under the virtual
// clock, when nothing can happen any more. Failures of timed commands become events.
void run(RunningSwitch& running, std::optional<Duration> duration);

}  // namespace sluice
