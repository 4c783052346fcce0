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

// Section `workers`: whose ports, turns and their lengths, how soon pauses are obeyed and sent, and cycles by
// stage while they are metered. A list by number. Turns are those of the real clock; under the virtual clock
// there is nothing to be said of them.
nlohmann::ordered_json workers_json(RunningSwitch& running);

// Next-hop groups of several members: what each has taken, and what load balancing makes of them.
// Section `ecmp` of the report. `balance` is in a group that is balanced by more than its hash.
nlohmann::ordered_json ecmp_json(RunningSwitch& running);
// The same, with the quality of each member now. It is known while something is balanced so.
nlohmann::ordered_json groups_json(RunningSwitch& running);

}  // namespace sluice
