// The report: one JSON object that accounts for every frame. Its keys are a contract (README, change log).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "control/switch/running/running_switch.hh"

namespace sluice {

nlohmann::ordered_json make_report(RunningSwitch& device);
// Of the same, `verdict` and `ledger` alone.
nlohmann::ordered_json make_short_report(RunningSwitch& running);
nlohmann::ordered_json event_json(const RunningSwitch& running, const SwitchEvent& event);

}  // namespace sluice
