// A switch under the virtual clock with a RoCE host behind every port, and what the hosts must have kept to
// at the end. Host i is 10.0.i.2 behind port p{i}.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataplane/path/port_context.hh"
#include "dataplane/peers/host_port.hh"
#include "tests/sim/sim_switch.hh"

namespace sluice::sim {

struct HostFlow {
    std::vector<unsigned> from;
    unsigned to = 0;
    unsigned qps = 1;  // of each pair
    roce::FlowSettings settings;
};

// `each` changes a host's spec before its port opens; the flows are there already.
struct HostSetup {
    std::vector<HostFlow> flows;
    std::function<void(unsigned host, HostPortSpec&)> each = [](unsigned, HostPortSpec&) {};
};

class HostPorts final : public Surroundings {
  public:
    HostPorts(const Config& config, HostSetup setup);
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::vector<HostPort*> ports;  // the switch owns them

  private:
    HostSetup setup_;
    std::vector<std::vector<roce::QpSettings>> queue_pairs_;  // of each host
};

class HostSwitch final : public CheckedSwitch {
  public:
    // `packets`: mbufs; 0: as many as `sluiced` would take. `checks`: invariants after each instant.
    HostSwitch(const Config& config, HostSetup setup, std::string label = "", unsigned packets = 0,
               bool checks = true);
    ~HostSwitch() override;

    HostPort& host(unsigned id) {
        ports_->ports[id]->catch_up(now());
        return *ports_->ports[id];
    }
    const roce::QueuePair& qp(unsigned host, std::size_t index) {
        return this->host(host).nic().queue_pairs()[index];
    }
    unsigned hosts() const { return static_cast<unsigned>(ports_->ports.size()); }
    // Until nothing is left to do; then nothing may be left anywhere.
    void drain(Time end);

    roce::QpStatistics sum(unsigned host);  // over its queue pairs
    roce::QpStatistics sum();               // over all
    std::uint64_t digest();

  private:
    HostSwitch(const Config& config, HostPorts* ports, std::string label, unsigned packets, bool checks);

    HostPorts* ports_;
};

}  // namespace sluice::sim
