// A checked switch whose ports are SimPorts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/path/port_context.hh"
#include "lib/buffer/pool_use.hh"
#include "tests/sim/checked_switch.hh"
#include "tests/sim/sim_port.hh"

namespace sluice::sim {

constexpr ClassId lossless = 3;  // of these tests: priority, group and queue

// `ports` equal ports p0, p1, ..; port i is 10.0.i.1/24, its host 10.0.i.2. Preset `lossless`, peers obey.
Config sim_config(unsigned ports, Rate speed, std::uint32_t cable_m = 5, std::uint32_t mtu = 9100);
PortConfig& port_of(Config& config, unsigned id);

// Behind each port is a SimPort.
class SimPorts final : public Surroundings {
  public:
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::vector<SimPort*> ports;  // in their order; the switch owns them
};

class SimSwitch final : public CheckedSwitch {
  public:
    // `packets`: mbufs; 0: as many as `sluiced` would take.
    explicit SimSwitch(const Config& config, std::string label = "", unsigned packets = 0,
                       unsigned trace_slots = 0);
    ~SimSwitch() override;

    SimPort& port(PortId id) { return *ports_->ports[id]; }
    const Policy& policy() const { return running().device().policy(); }
    const EffectiveQos& qos() const { return running().qos(); }
    const Config& config() const { return running().config(); }
    PriorityGroup& group(PortId port, ClassId n) { return device().port(port).group[n]; }
    const GroupLimits& limits(PortId port, ClassId n) const { return policy().ports[port].group[n]; }
    const PoolLimits& pool_of(PortId port, ClassId n) const {
        return policy().ingress_pools[limits(port, n).pool];
    }
    const PoolUse& use_of(PortId port, ClassId n) { return device().ingress_use(limits(port, n).pool); }

    // A flow of the sender behind `port`, from now on at the earliest; returns its number.
    std::uint8_t add(PortId port, Flow flow);
    // The trace of a port, up to now; the switch has slots.
    const PortTrace& trace(PortId port) {
        loop().settle_traces();
        return *device().port(port).trace;
    }
    void at(Time time, std::function<void()> action) { loop().actions().at(time, std::move(action)); }
    // Until nothing is left to do or `end`, then the invariants of a drained switch.
    void drain(Time end);

    // An operator's commands; one that `sluiced` refuses fails the test, but for apply, which says so.
    void hold(PortId port, ClassId queue, bool on);
    void run_watchdog(PortId port, bool on);
    void big_red_switch(bool on);
    bool apply(const Config& config);
    bool change_pending() const { return running().limit_change().is_pending(); }
    std::int64_t pending_cells() const { return running().limit_change().pending_cells(); }
    std::optional<LimitChange::QueueName> fullest_queue() const {
        return running().limit_change().fullest_queue();
    }
    // Each wait of a class on its way to lossless that begins or ends.
    std::function<void(const ClassNotice&)> on_class;

    using CheckedSwitch::dropped;
    std::uint64_t dropped(DropReason reason) const;
    // Everything that is counted and every departure, as one number.
    std::uint64_t digest();

  private:
    SimSwitch(const Config& config, SimPorts* ports, std::string label, unsigned packets,
              unsigned trace_slots);
    void changed() override;

    SimPorts* ports_;
    std::uint64_t told_ = 0;  // events, to on_class
};

}  // namespace sluice::sim
