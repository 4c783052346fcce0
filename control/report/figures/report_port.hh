// The report's part about a port, its queues and its priority groups.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lib/values/ids.hh"

namespace sluice {

class RunningSwitch;

nlohmann::ordered_json port_json(RunningSwitch& running, PortId id);
// Whether the port's peer obeys our pauses: obeys, ignores or unknown.
std::string pfc_peer_text(const RunningSwitch& running, PortId id);
// Classes whose pauses the port's peer ignores, by promise or by what came in.
std::uint8_t ignored_pauses(const RunningSwitch& running, PortId id);
// Of a class that is on its way to lossless: since when, and the cells it waits for. Nothing otherwise.
void add_class_wait(nlohmann::ordered_json& json, const RunningSwitch& running, PortId port,
                    ClassId priority);

}  // namespace sluice
