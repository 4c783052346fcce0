// Judges a configuration by the network cards that it runs on: the checks that need a started port. At the
// start, and before every change. Ids: control/config/schema/findings.def.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/lint/lint.hh"
#include "dataplane/ports/port_capabilities.hh"

namespace sluice {

// Of a port's device while it runs.
struct NicState {
    const PortCapabilities* can = nullptr;  // null: it is no NIC
    std::uint32_t link_mbps = 0;            // 0: down, or unknown
};

std::vector<Finding> lint_nics(const Config& config, const EffectiveQos& qos,
                               const std::function<NicState(const std::string& port)>& state_of);

// "the link is of 25 Gb/s, speed = 100G"; empty while they agree, or where the link's is unknown.
std::string speed_mismatch(Rate configured, std::uint32_t link_mbps);

}  // namespace sluice
