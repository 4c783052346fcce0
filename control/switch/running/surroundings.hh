// Opens the ports of a switch, and provides what differs behind them: captures and simulated hosts
// (virtual_ports.hh), devices with the kernel behind them (device_ports.hh), links to other switches, or a
// test's ports. The switch owns the ports.
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

    // Once for each port, in order. An error names the port.
    virtual tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name,
                                                                  const PortConfig& port,
                                                                  const Config& config,
                                                                  rte_mempool* pool) = 0;
    // Once, between opening the ports and the first policy: an error's text, or empty.
    virtual std::string join(RunningSwitch&) { return {}; }
    // The configuration has changed.
    virtual void configured() {}

    // The MAC of a port's device, and the cause of a link that is down.
    virtual std::optional<MacAddress> mac(PortId) const { return std::nullopt; }
    virtual LinkCause link_cause(PortId) const { return LinkCause::none; }
    // Null: the port is not a device.
    virtual const DevicePort* device_port(PortId) const { return nullptr; }
    // The simulated hosts of the configuration, in its order, run up to now.
    virtual std::vector<const HostPort*> hosts() const { return {}; }
    // Null: the switch does not use the kernel.
    virtual const KernelControl* kernel() const { return nullptr; }
    // The timeline of input captures on the switch's clock.
    virtual const CaptureTimeline& timeline() const {
        static const CaptureTimeline none;
        return none;
    }
    // Findings about devices under a configuration, and promises that devices break.
    virtual std::vector<Finding> findings(const Config&) const { return {}; }
    virtual std::vector<std::string> broken_promises() const { return {}; }
};

}  // namespace sluice
