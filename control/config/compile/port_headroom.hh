#pragma once

#include "control/config/schema/config.hh"
#include "lib/pfc/headroom.hh"
#include "lib/values/units.hh"

namespace sluice {

// Under the real clock the link model paces a software device; so much time may wait in its ring.
constexpr Duration modeled_ring = microseconds(20);

// The headroom that a lossless group of the port needs, which is also the loop of a pause.
Headroom port_headroom(const Config& config, const PortConfig& port);

}  // namespace sluice
