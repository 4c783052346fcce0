// The surroundings of a switch: the source of its ports, and the parts beside them. Ports that are captures
// and simulated hosts (virtual_ports.hh), devices of this machine with the kernel behind them
// (device_ports.hh), links to other switches, or a test's ports. The switch owns the ports, and asks this for
// everything that is not the same behind all of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config.hh"
#include "dataplane/ports/kernel_interface.hh"
#include "dataplane/ports/port.hh"
#include "lib/clock/capture_timeline.hh"
#include "lib/frame/headers.hh"

namespace sluice {

class DevicePort;
class HostPort;
class KernelControl;
class RunningSwitch;

class Surroundings {
  public:
    virtual ~Surroundings() = default;

    // Called once for each port, in their order. An error names the port.
    virtual tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name,
                                                                  const PortConfig& port,
                                                                  const Config& config,
                                                                  rte_mempool* pool) = 0;
    // Once, when all ports are open and before the first policy is compiled: an error's text, or empty.
    virtual std::string join(RunningSwitch&) { return {}; }
    // The configuration has changed.
    virtual void configured() {}

    // Of a port: the MAC of its device, and the cause of a link that is down.
    virtual std::optional<MacAddress> mac(PortId) const { return std::nullopt; }
    virtual LinkCause link_cause(PortId) const { return LinkCause::none; }
    // Null: the port is none of a device.
    virtual const DevicePort* device_port(PortId) const { return nullptr; }
    // Null: there is no simulated host of that name.
    virtual const HostPort* host(const std::string&) const { return nullptr; }
    // Null: the kernel has no part in this switch.
    virtual const KernelControl* kernel() const { return nullptr; }
    // Of captures that are read, on the switch's clock.
    virtual const CaptureTimeline& timeline() const {
        static const CaptureTimeline none;
        return none;
    }
    // Findings about the devices under a configuration, and the promises that they break.
    virtual std::vector<Finding> findings(const Config&) const { return {}; }
    virtual std::vector<std::string> broken_promises() const { return {}; }
};

}  // namespace sluice
