// For pictures: the run's name and verdict; by port, the depth of queues, the use, limit and headroom of
// lossless groups in bytes as [start_ps, peak, last] slots, and the pauses that we asserted and obeyed, as
// [at_ps, mask of priorities from then on] and as time in slots; storms, and the first other events.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

class RunningSwitch;

// `name`: of the run, for people.
nlohmann::ordered_json make_run_trace(const RunningSwitch& running, const std::string& name);

}  // namespace sluice
