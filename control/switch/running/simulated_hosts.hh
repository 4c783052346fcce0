// The simulated hosts of a switch: their ports, and the settings that may change.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "control/config/compile/hosts.hh"
#include "control/config/schema/config.hh"
#include "lib/clock/capture_timeline.hh"

namespace sluice {

class SimulatedHosts {
  public:
    using Hosts = std::map<std::string, HostConfig, NaturalOrder>;
    // `specs` by port; `hosts` as they are at the start.
    SimulatedHosts(std::map<std::string, HostPortSpec> specs, Hosts hosts)
        : specs_(std::move(specs)), hosts_(std::move(hosts)) {}

    bool has(const std::string& port) const { return specs_.contains(port); }
    // Opens the port of a host, once; its received frames may go to a capture, too.
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          rte_mempool* pool, const CaptureTimeline& timeline);
    // Applies a changed configuration.
    void configured(const Config& config, Time now);
    // The host, run up to `now`, or null.
    HostPort* find(const std::string& host, Time now) const;
    // In the order of their names, run up to `now`; all are open.
    std::vector<const HostPort*> all(Time now) const;

  private:
    std::map<std::string, HostPortSpec> specs_;
    std::map<std::string, HostPort*> ports_;  // by port; the switch owns them
    Hosts hosts_;                             // as they are
};

}  // namespace sluice
