// Pauses in words: the two ends of a pause, the cause of a cycle, and the chain from a pause to its root.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "control/fabric/run/pause_watch.hh"

namespace sluice::fabric {

// The neighbor behind a switch's port.
const std::string& peer_name(const FabricPlan& plan, const PauseWatch& watch, std::uint32_t device,
                             PortId port);
// The switch that sends XOFF, and the node that it pauses.
const std::string& name_of(const FabricPlan& plan, const PauseRecord& pause);
const std::string& paused_name(const FabricPlan& plan, const PauseWatch& watch, const PauseRecord& pause);

// "sw1 waits for sw2 waits for sw3 waits for sw1, class 3; began with ...; flows ...".
std::string cycle_text(const FabricPlan& plan, const PauseWatch& watch, const PauseCycle& cycle);

// A part of a pause's time, and why: each pause was due to the next one.
struct PauseChain {
    static constexpr std::size_t open_ended = SIZE_MAX;

    std::span<const std::uint32_t> pauses;
    std::span<const PauseCause* const> causes;  // of each; the last one is where it began
    // The last pause is due to this one of them: a circle; or it is due to none.
    std::size_t closes_at = open_ended;
    Time from, until;
};

// In order of time, and whole. A pause that goes on lasts until `now`.
void for_each_chain(const PauseWatch& watch, std::uint32_t pause, Time now,
                    const std::function<void(const PauseChain&)>& visit);

}  // namespace sluice::fabric
