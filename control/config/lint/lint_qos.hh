// Judges a configuration's buffer, PFC, ECN and classes: the inequalities on which losslessness and early
// marking rest, each with its numbers. Beside `check_config`, which needs no effective values. The table of
// all ids is in control/config/schema/findings.def.
#pragma once

#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/lint/lint.hh"

namespace sluice {

// Of a configuration that `check_config` found loadable, and its effective values. Worst first; what several
// ports have alike is one finding, at the first of them.
std::vector<Finding> lint_qos(const Config& config, const EffectiveQos& qos);

}  // namespace sluice
