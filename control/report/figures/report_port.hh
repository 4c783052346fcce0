// The report's part about a port, its queues and its priority groups.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dataplane/ports/physical.hh"
#include "dataplane/ports/port_capabilities.hh"
#include "lib/values/ids.hh"

namespace sluice {

class RunningSwitch;

nlohmann::ordered_json port_json(RunningSwitch& running, PortId id);

// Packets that were trimmed, of a queue, a port or a switch: read once, so that trimmed ones are the sum of
// both.
struct TrimCount {
    std::uint64_t sent = 0, dropped = 0;
    bool is_there = false;  // a queue trims, or has done so

    std::uint64_t trimmed() const { return sent + dropped; }
    TrimCount& operator+=(const TrimCount& other);
};
std::array<TrimCount, classes> trim_counts(const RunningSwitch& running, PortId id);  // by queue
TrimCount trim_count(const RunningSwitch& running);                                   // of all ports

// The peer's reaction to our pauses: obeys, ignores or unknown.
std::string pfc_peer_text(const RunningSwitch& running, PortId id);
// Classes whose pauses the port's peer ignores, by promise or by what came in.
std::uint8_t ignored_pauses(const RunningSwitch& running, PortId id);
// Adds, of a class that is becoming lossless, since when, and the cells that it waits for.
void add_class_wait(nlohmann::ordered_json& json, const RunningSwitch& running, PortId port,
                    ClassId priority);

// The port's device: its capabilities, and the counters of its MAC.
// `has_segmented`: a frame has come in several packet buffers.
nlohmann::ordered_json capabilities_json(const PortCapabilities& can, bool has_segmented);
// Counters that the driver does not have are left out; by priority, they are null.
nlohmann::ordered_json physical_json(const PhysicalCounters& counters);
// "driver net_ixgbe, PFC software (...), MTU up to 9702, ..."
std::string capabilities_text(const PortCapabilities& can);

// Warnings about a port whose settings look wrong, as sentences that name the key to change. Any time; while
// workers run, as far as they have counted.
std::vector<std::string> port_warnings(const RunningSwitch& running, PortId id);

}  // namespace sluice
