// A switch under the virtual clock whose ports are SimPorts, made from a Config as RunningSwitch makes one:
// the same compile functions, the same LimitChange. Every instant is followed by the
// invariants; what is broken fails the running test with `label`, which names the seed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/class_changes.hh"
#include "control/compile.hh"
#include "control/limit_change.hh"
#include "control/routes.hh"
#include "dataplane/packet_pool.hh"
#include "dataplane/switch.hh"
#include "dataplane/virtual_runner.hh"
#include "tests/sim/invariants.hh"
#include "tests/sim/sim_port.hh"

namespace sluice::sim {

// `ports` equal ports p0, p1, ..; port i is 10.0.i.1/24, its host 10.0.i.2. Preset `lossless`, peers obey.
Config sim_config(unsigned ports, Rate speed, std::uint32_t cable_m = 5, std::uint32_t mtu = 9100);
PortConfig& port_of(Config& config, unsigned id);

// More samples, many packets: SLUICE_LONG=1.
bool is_long();

class SimSwitch {
  public:
    // `packets`: mbufs; 0: as many as `sluiced` would take.
    explicit SimSwitch(const Config& config, std::string label = "", unsigned packets = 0);
    ~SimSwitch();

    SimPort& port(PortId id) { return *ports_[id]; }
    Switch& device() { return *switch_; }
    const Policy& policy() const { return switch_->policy(); }
    const EffectiveQos& qos() const { return qos_; }
    const Config& config() const { return config_; }
    PriorityGroup& group(PortId port, ClassId n) { return switch_->port(port).group[n]; }
    const GroupLimits& limits(PortId port, ClassId n) const { return policy().ports[port].group[n]; }
    const PoolLimits& pool_of(PortId port, ClassId n) const {
        return policy().ingress_pools[limits(port, n).pool];
    }
    const PoolUse& use_of(PortId port, ClassId n) {
        return switch_->shared().ingress_use[limits(port, n).pool];
    }
    Time now() const { return runner_->now(); }

    // A flow of the sender behind `port`, from now on at the earliest; returns its number.
    std::uint8_t add(PortId port, Flow flow);
    void at(Time time, std::function<void()> action) { actions_.emplace(time.ps, std::move(action)); }
    // Called after every instant, when the invariants hold.
    std::function<void()> on_instant;

    // The next instant; false when there is none, or none up to `end`.
    bool step(Time end = Time{INT64_MAX});
    void run_until(Time end);
    // Until nothing is left to do or `end`, then the invariants of a drained switch.
    void drain(Time end);

    // As an operator; what `sluiced` refuses fails the test, but for apply, which says so.
    void hold(PortId port, ClassId queue, bool on);
    void set_port(PortId port, bool up);
    void run_watchdog(PortId port, bool on);
    void big_red_switch(bool on);
    bool apply(const Config& config);
    bool change_pending() const { return change_->is_pending(); }
    std::int64_t pending_cells() const { return change_->pending_cells(); }
    std::optional<LimitChange::QueueName> fullest_queue() const { return change_->fullest_queue(); }
    // Each wait of a class on its way to lossless that begins or ends.
    std::function<void(const ClassNews&)> on_class;

    std::uint64_t dropped() const;
    std::uint64_t dropped(DropReason reason) const;
    // Everything that is counted and every departure, as one number.
    std::uint64_t digest();
    std::uint64_t instants() const { return instants_; }

    void fail(const std::string& what);

  private:
    std::unique_ptr<Policy> compile(const Config& config, const RouteChanges& changes);
    bool publish(const Config& config);
    void look_at_classes();

    Config config_;
    std::string label_;
    std::uint64_t buffer_cells_;
    EffectiveQos qos_;
    std::unique_ptr<PacketPool> pool_;
    std::unique_ptr<Routes> routes_;
    Routes::Ports port_info_;
    std::vector<std::string> names_;
    std::vector<MacAddress> macs_;
    OperatorState state_;
    std::vector<SimPort*> ports_;
    std::unique_ptr<Switch> switch_;
    std::optional<LimitChange> change_;
    ClassChanges class_changes_;
    std::unique_ptr<VirtualRunner> runner_;
    std::multimap<std::uint64_t, std::function<void()>> actions_;
    Invariants invariants_;
    std::uint64_t instants_ = 0;
};

}  // namespace sluice::sim
