// `sluiced doctor`: what a machine gives to a switch, what is wrong for a configuration, and the command that
// mends it.
#pragma once

#include <string>
#include <vector>

#include "control/switch/doctor/diagnosis.hh"

namespace sluice {

// A line for each, and one below it with the command.
std::string doctor_text(const std::vector<Diagnosis>& found);

bool is_wrong(const std::vector<Diagnosis>& found);

}  // namespace sluice
