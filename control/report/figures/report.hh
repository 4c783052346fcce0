// The report: one JSON object that accounts for every frame. Its keys are a contract (README, change log).
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "control/config/schema/config_paths.hh"

namespace sluice {

class RunningSwitch;
struct SwitchEvent;

nlohmann::ordered_json make_report(RunningSwitch& device);
// Its `verdict` and `ledger` alone.
nlohmann::ordered_json make_short_report(RunningSwitch& running);
// {path: value} of the keys that differ from their defaults, each value as a file has it.
nlohmann::ordered_json configuration_json(std::vector<ConfigChange> asked);
nlohmann::ordered_json event_json(const RunningSwitch& running, const SwitchEvent& event);

// Section `workers`: whose ports, turns and their lengths, how soon pauses are obeyed and sent, and cycles by
// stage while they are metered. A list by number. Turns are of the real clock alone.
nlohmann::ordered_json workers_json(RunningSwitch& running);

// Section `ecmp`: next-hop groups of several members, the packets of each, and load balancing. `balance` is
// in a group that is balanced by more than its hash.
nlohmann::ordered_json ecmp_json(RunningSwitch& running);
// The same, with the quality of each member now. It is known while something is balanced so.
nlohmann::ordered_json groups_json(RunningSwitch& running);

}  // namespace sluice
