// For pictures: by port, the depth of queues, the use and limit of lossless groups in bytes as [start_ps,
// peak, last] slots, and the pauses we asserted as [at_ps, mask of priorities from then on].
#pragma once

#include <nlohmann/json.hpp>

#include "control/switch/running_switch.hh"

namespace sluice {

nlohmann::ordered_json make_depth_trace(const RunningSwitch& running);

}  // namespace sluice
