// The control thread's loop: lets the switch run and carries out timed events, until the end.
#pragma once

#include <string>

#include "control/serve/daemon/options.hh"
#include "control/switch/running/standalone_switch.hh"

namespace sluice {

struct RunEnd {
    std::string not_started;       // why; empty: it ran
    std::string gave_up;           // why it ended before its time; empty: it did not
    std::string events_unwritten;  // why; empty: the file of events is whole
};

// Returns when `duration` has passed on the switch's clock, on SIGINT or SIGTERM, or, under the virtual
// clock, when nothing can happen any more, or when nothing but refreshed pauses happens without end; a second
// signal ends the process at once. A virtual run that a signal stops while its clock runs is interrupted.
// Failures of timed commands become events.
// `memory`: the kind that it runs in.
RunEnd run(StandaloneSwitch& alone, const Arguments& options, const std::string& memory);

// The signal that stopped it; 0: none did.
int stopped_by();

}  // namespace sluice
