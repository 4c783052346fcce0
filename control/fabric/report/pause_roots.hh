// Where pauses began, and when whom they held.
#pragma once

#include <compare>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/run/pause_words.hh"

namespace sluice::fabric {

class Fabric;

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

// A row for each group that paused its sender, of those that did so longest, in the order of switches and
// ports: of each bin of time the share that was paused, by root.
nlohmann::ordered_json timeline_json(const Fabric& fabric);

}  // namespace sluice::fabric
