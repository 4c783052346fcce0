// Defaults with which another simulator's results compare: `like` at the top of a fabric's file.
#pragma once

#include <string>

#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

// Sets them, before the sections of the file are read, which so go before it.
void begin_like(FabricConfig& fabric);
// "buffer.cell = 64B, ...": what of it holds at the end, of switches and hosts; empty: nothing.
std::string like_text(const FabricConfig& fabric);

}  // namespace sluice::fabric
