// Judges a configuration before it runs: lint, the buffer and its headrooms, timed commands, the start.
#pragma once

#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/lint/lint.hh"

namespace sluice {

// Worst first. `good`: a configuration without errors; the parts shared with it are not judged again.
std::vector<Finding> judge_config(const Config& config, const Machine& machine, const Config* good = nullptr);

// Judges buffer, PFC, ECN and classes: the inequalities behind losslessness and early marking, each with its
// numbers. The configuration has no errors of `check_config`. Worst first, then in the file's order; ports
// with the same finding are one finding, at the first of them.
std::vector<Finding> lint_qos(const Config& config, const EffectiveQos& qos);

// The reasons to refuse a start that are known before it: the frames that devices take, the size of the
// forwarding tables, the memory of the machine. Not files, interfaces, network cards and rights.
std::vector<Finding> lint_start(const Config& config, const Machine& machine);

}  // namespace sluice
