// Judges a configuration by its started network cards, at the start and before every change.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/lint/lint.hh"
#include "dataplane/ports/port_capabilities.hh"

namespace sluice {

// The device of a port as it runs.
struct NicState {
    const PortCapabilities* can = nullptr;  // null: it is not a NIC
    std::uint32_t link_mbps = 0;            // 0: down, or unknown
};

std::vector<Finding> lint_nics(const Config& config, const EffectiveQos& qos,
                               const std::function<NicState(const std::string& port)>& state_of);

// "the link is of 25 Gb/s, and 100 Gb/s are configured: ..."; empty when they agree.
std::string speed_mismatch(Rate configured, std::uint32_t link_mbps);

}  // namespace sluice
