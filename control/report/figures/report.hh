// The report: one JSON object that accounts for every frame. Its keys are a contract (README, change log).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/config/schema/config_paths.hh"

namespace sluice {

class RunningSwitch;
struct SwitchEvent;

nlohmann::ordered_json make_report(RunningSwitch& device);
// Of the same, `verdict` and `ledger` alone.
nlohmann::ordered_json make_short_report(RunningSwitch& running);
// Of a report's end: {path: value} of what it was asked for, each value as a file has it.
nlohmann::ordered_json configuration_json(std::vector<ConfigChange> asked);
nlohmann::ordered_json event_json(const RunningSwitch& running, const SwitchEvent& event);

}  // namespace sluice
