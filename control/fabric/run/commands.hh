// Commands of a fabric, as timed events give them.
//
//   link NAME up|down
//   link NAME [to NODE] KEY VALUE    a fault of sluiced's (`ber 1e-9`), on frames to the node or both ways;
//                                    on those to a host: drop_every, drop_chance, corrupt_chance,
//                                    duplicate_chance, delay, ber
//   link NAME [to NODE] clear
//   switch NAME up|down
//   host NAME KEY VALUE              a key of [host.NAME] that may change: `host h3 drain 10G`
//   SWITCH: COMMAND                  a command of sluiced's, at that switch
#pragma once

#include <string>
#include <string_view>

#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

// The reason why the plan does not allow it, or empty; carries nothing out.
std::string check_command(const FabricPlan& plan, std::string_view text);
// Now: an error's text, or empty.
std::string run_command(Fabric& fabric, std::string_view text);
// Before the run: those of the file at their times. One that fails is an event of the fabric.
void schedule_events(Fabric& fabric);

}  // namespace sluice::fabric
