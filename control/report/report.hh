// The report: one JSON object that says what happened to every frame. Its keys are a contract (README, change
// log).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "control/switch/running_switch.hh"

namespace sluice {

nlohmann::ordered_json make_report(RunningSwitch& device);
// Of a class that is on its way to lossless: since when, and what the change waits for. Nothing otherwise.
void add_class_wait(nlohmann::ordered_json& json, const RunningSwitch& running, PortId port,
                    ClassId priority);
nlohmann::ordered_json event_json(const RunningSwitch& running, const SwitchEvent& event);
// For pictures: by port, the depth of queues, the use and limit of lossless groups in bytes as [start_ps,
// peak, last] slots, and the pauses we asserted as [at_ps, mask of priorities from then on].
nlohmann::ordered_json make_depth_trace(const RunningSwitch& device);

}  // namespace sluice
