// Where pauses began.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "control/fabric/run/pause_chains.hh"

namespace sluice::fabric {

// A queue of a switch.
struct PauseEgress {
    std::uint32_t device;
    PortId port;
    ClassId queue;
    auto operator<=>(const PauseEgress&) const = default;
};

// Where a tree begins: a queue, or a circle of them, each of which waits for the next.
struct PauseRoot {
    std::vector<PauseEgress> queues;
    bool slow_host = false;
    auto operator<=>(const PauseRoot&) const = default;

    bool is_circle() const { return queues.size() > 1; }
};

PauseRoot root_of(const PauseWatch& watch, const PauseChain& chain);

// "h9 takes what leaf4 sends too slowly, at 10G".
std::string root_text(const FabricPlan& plan, const PauseWatch& watch, const PauseRoot& root);

}  // namespace sluice::fabric
