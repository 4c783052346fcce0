// Defaults with which another simulator's results compare: `like` at the top of a fabric's file.
#pragma once

#include <string>
#include <string_view>

#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

// What `like` sets, as a fabric's file would: the keys of [switch.default] and [host.default]. Empty:
// nothing.
std::string_view text_of(Like like);
// Sets it, before the sections of the file are read, which so go before it.
void begin_like(FabricConfig& fabric);
// "buffer.cell = 64B, ...": what of it holds at the end, of switches and hosts; empty: nothing.
std::string like_text(const FabricConfig& fabric);

}  // namespace sluice::fabric
