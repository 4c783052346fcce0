// Workers as the report and `worker.show` show them: whose ports, turns and their lengths, how soon pauses
// are obeyed and sent, and cycles by stage while they are metered.
#pragma once

#include <nlohmann/json.hpp>

namespace sluice {

class RunningSwitch;

// A list by number. Turns are those of the real clock; under the virtual clock there is nothing to be said of
// them.
nlohmann::ordered_json workers_json(RunningSwitch& running);

}  // namespace sluice
