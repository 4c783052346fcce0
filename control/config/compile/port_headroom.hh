// The headroom that a port's lossless groups need, and with it how long the loop of a pause is.
#pragma once

#include "control/config/schema/config.hh"
#include "lib/pfc/headroom.hh"
#include "lib/values/units.hh"

namespace sluice {

// Under the real clock a software device is paced by the link model; this much of time may wait in its ring.
constexpr Duration modeled_ring = microseconds(20);

// Of a lossless group of the port, and with it the loop of a pause, as computed.
Headroom port_headroom(const Config& config, const PortConfig& port);

}  // namespace sluice
