// Bounds within which marks of lossless queues come before pauses, as lint has them (lint_marking.cc).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "control/config/compile/qos.hh"

namespace sluice {

struct MarkBound {
    // The use at which a lone sender is paused: alpha S / (1 + k alpha) of the group that fills the queue,
    // for k lossless groups of its port, or less with a static limit. A max above it is never reached.
    std::uint64_t limit_bytes = 0;
    // The highest min with which marks come before pauses when all ports are congested; 0: there is none.
    std::uint64_t first_mark_bytes = 0;
};

// By port and lossless queue; one that no lossless group fills has none.
std::map<std::pair<std::string, unsigned>, MarkBound> mark_bounds(const EffectiveQos& qos);

}  // namespace sluice
