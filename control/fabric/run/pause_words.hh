// Pauses in words: who paused whom, and how a cycle of them came about.
#pragma once

#include <string>

#include "control/fabric/run/pause_watch.hh"

namespace sluice::fabric {

// The neighbor behind a switch's port.
const std::string& peer_name(const FabricPlan& plan, const PauseWatch& watch, std::uint32_t device,
                             PortId port);
// The switch that sends XOFF, and the node that it pauses.
const std::string& name_of(const FabricPlan& plan, const PauseRecord& pause);
const std::string& paused_name(const FabricPlan& plan, const PauseWatch& watch, const PauseRecord& pause);

// "812 ns", "3.4 us", "12.1 ms".
std::string text_of_time(std::int64_t ns);

// "sw1 waits for sw2 waits for sw3 waits for sw1, class 3; began with ...; flows ...".
std::string cycle_text(const FabricPlan& plan, const PauseWatch& watch, const PauseCycle& cycle);

}  // namespace sluice::fabric
