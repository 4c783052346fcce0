// The simulated hosts of one switch: their ports, and their settings that may change while they run.
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
    // The port that `has` one, once; its received frames may go to a capture, too. An error's text.
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          rte_mempool* pool, const CaptureTimeline& timeline);
    // Hosts of the configuration, as it is from `now` on.
    void configured(const Config& config, Time now);
    // Up to `now`. Null: there is none of the name.
    HostPort* find(const std::string& host, Time now) const;

  private:
    std::map<std::string, HostPortSpec> specs_;
    std::map<std::string, HostPort*> ports_;  // by port; the switch owns them
    Hosts hosts_;                             // as they are
};

}  // namespace sluice
