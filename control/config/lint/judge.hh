// Everything that can be said of a configuration before it runs, from every place that judges: lint, the
// buffer and its headrooms, timed commands. The one question whether it may be used.
#pragma once

#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/lint/lint.hh"

namespace sluice {

// Worst first, then in the file's order. `good`: a configuration without errors; the parts shared with it are
// not judged again.
std::vector<Finding> judge_config(const Config& config, const Machine& machine, const Config* good = nullptr);

// Its buffer, PFC, ECN and classes: the inequalities on which losslessness and early marking rest, each with
// its numbers; of a configuration that `check_config` found loadable, and its effective values. Worst first;
// what several ports have alike is one finding, at the first of them.
std::vector<Finding> lint_qos(const Config& config, const EffectiveQos& qos);

// The reasons to refuse a start that are known before it: the frames that devices take, the room of the
// forwarding tables, and the memory of the machine. Not found before a start: problems of files (captures,
// outputs), on interfaces and network cards as they are then, on rights, and on EAL's own arguments.
std::vector<Finding> lint_start(const Config& config, const Machine& machine);

}  // namespace sluice
