// The report's part about a port's device: its capabilities, and the counters of its MAC.
#pragma once

#include <nlohmann/json.hpp>

#include "dataplane/ports/physical.hh"
#include "dataplane/ports/port_capabilities.hh"

namespace sluice {

// `has_segmented`: a frame has come in several packet buffers.
nlohmann::ordered_json capabilities_json(const PortCapabilities& can, bool has_segmented);
// Counters that the driver does not have are left out; by priority, they are null.
nlohmann::ordered_json physical_json(const PhysicalCounters& counters);
// "driver net_ixgbe, PFC software (...), MTU up to 9702, ..."
std::string capabilities_text(const PortCapabilities& can);

}  // namespace sluice
