// The reasons to refuse a start that are known before it: the frames that devices take, the room of the
// forwarding tables, and the memory of the machine. Beside `check_config`, which knows neither devices nor
// DPDK.
//
// Not found before a start: problems of files (captures, outputs), on interfaces and network cards as they
// are then, on rights, and on EAL's own arguments.
#pragma once

#include <vector>

#include "control/config/lint/lint.hh"

namespace sluice {

std::vector<Finding> lint_start(const Config& config, const Machine& machine);

}  // namespace sluice
