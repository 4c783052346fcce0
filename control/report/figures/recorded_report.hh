// The recorders of a running switch as a value, and the explanations as JSON. Any time: workers go on.
#pragma once

#include <nlohmann/json.hpp>

#include "control/config/decisions/recorded_why.hh"

namespace sluice {

class RunningSwitch;

Recorded take_recorded(RunningSwitch& running);
nlohmann::ordered_json recorded_json(const Recorded& recorded, const std::vector<RecordedWhy>& whys);

}  // namespace sluice
