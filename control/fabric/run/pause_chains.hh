// From a pause back to where it began, over the time that it lasted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "control/fabric/run/pause_watch.hh"

namespace sluice::fabric {

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
