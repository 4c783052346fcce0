// Everything that can be said of a configuration before it runs, from every place that judges: lint, the
// buffer and its headrooms, timed commands. The one question whether it may be used.
#pragma once

#include <vector>

#include "control/lint.hh"

namespace sluice {

// Worst first, then in the file's order.
std::vector<Finding> judge(const Config& config, const Machine& machine);

}  // namespace sluice
