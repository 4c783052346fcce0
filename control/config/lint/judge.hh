// Everything that can be said of a configuration before it runs, from every place that judges: lint, the
// buffer and its headrooms, timed commands. The one question whether it may be used.
#pragma once

#include <vector>

#include "control/config/lint/lint.hh"

namespace sluice {

// Worst first, then in the file's order. `good`: a configuration without errors; the parts shared with it are
// not judged again.
std::vector<Finding> judge_config(const Config& config, const Machine& machine, const Config* good = nullptr);

}  // namespace sluice
