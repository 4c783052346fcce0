// Next-hop groups of several members: what each has taken, and what load balancing makes of them.
#pragma once

#include <nlohmann/json.hpp>

namespace sluice {

class RunningSwitch;

// Section `ecmp` of the report. `balance` is in a group that is balanced by more than its hash.
nlohmann::ordered_json ecmp_json(RunningSwitch& running);
// The same, with the quality of each member now. It is known while something is balanced so.
nlohmann::ordered_json groups_json(RunningSwitch& running);

}  // namespace sluice
