// The surroundings of one switch of a fabric: ports that are ends of cables, ports with a host behind them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/switch/running/running_switch.hh"
#include "control/switch/running/simulated_hosts.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/peers/link_port.hh"

namespace sluice::fabric {

class FabricPorts final : public Surroundings {
  public:
    // `specs`: of hosts, by port.
    FabricPorts(std::map<std::string, HostPortSpec> specs, SimulatedHosts::Hosts hosts)
        : hosts_(std::move(specs), std::move(hosts)) {}

    PortId id_of(const std::string& port) const { return ids_.at(port); }
    // The end of a cable at a port; null: a host is behind it.
    LinkPort* link(const std::string& port) const;
    // This end sees its cable's state.
    void detect(const std::string& port, bool up);

    // ---- Surroundings
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::string join(RunningSwitch& running) override {
        running_ = &running;
        return {};
    }
    void configured() override { hosts_.configured(running_->config(), running_->now()); }
    const HostPort* host(const std::string& name) const override {
        return hosts_.find(name, running_->now());
    }
    LinkCause link_cause(PortId id) const override {
        return ends_[id] == nullptr || ends_[id]->link_up() ? LinkCause::none : LinkCause::no_carrier;
    }

  private:
    SimulatedHosts hosts_;
    std::vector<LinkPort*> ends_;        // by port; the switch owns them; null: a host's
    std::map<std::string, PortId> ids_;  // by name
    RunningSwitch* running_ = nullptr;   // from `join` on
};

}  // namespace sluice::fabric
