// Sections of the report: decisions, mirrors, microbursts, and the actions of rules of wires.
#pragma once

#include <nlohmann/json.hpp>

#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/observation.hh"

namespace sluice {

class RunningSwitch;

// The number of records by verdict, the lost ones, and why packets were dropped or marked, senders paused.
nlohmann::ordered_json decisions_json(const Observation& observation, const Switch& device);
// The fate of their frames, by mirror.
nlohmann::ordered_json mirrors_json(const Mirrors& mirrors);
nlohmann::ordered_json mirror_counts_json(const Mirrors::Counts& counts);
// In the order in which they began.
nlohmann::ordered_json microbursts_json(const Observation& observation);
// The actions of each rule, by direction, and the last frames that they were done to.
nlohmann::ordered_json wires_json(const RunningSwitch& running);

}  // namespace sluice
