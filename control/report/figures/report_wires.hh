// Wires in the report: what each rule has done, by direction, and to which frames it did it last.
#pragma once

#include <nlohmann/json.hpp>

namespace sluice {

class RunningSwitch;

nlohmann::ordered_json wires_json(const RunningSwitch& running);

}  // namespace sluice
