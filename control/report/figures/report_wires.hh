// Wires in the report: what each rule has done, by direction, and to which frames it did it last.
#pragma once

#include <nlohmann/json.hpp>

#include "control/switch/running/running_switch.hh"

namespace sluice {

nlohmann::ordered_json wires_json(const RunningSwitch& running);

}  // namespace sluice
