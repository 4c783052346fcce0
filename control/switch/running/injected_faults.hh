// Injects the faults of a configuration or a command at a switch's ports, under the virtual clock.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/values.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

struct rte_mempool;

namespace sluice {

class FaultPort;
class Switch;

class InjectedFaults {
  public:
    // `seed`: the switch's own in a run. `pool`: of the packet buffers.
    InjectedFaults(Switch& device, std::uint64_t seed, rte_mempool* pool);

    // Sets the port's `fault`. `lossless`: its lossless classes.
    void configure(PortId id, const std::string& name, const PortConfig& port, std::uint8_t lossless,
                   Time now);
    // Null: the port never had one.
    const FaultPort* at(PortId id) const { return ports_[id]; }
    // A sentence for each port whose lossless classes a fault may have hit during the run.
    std::vector<std::string> broken_promises() const;

  private:
    Switch& device_;
    std::uint64_t seed_;
    rte_mempool* pool_;
    std::vector<FaultPort*> ports_;  // the switch owns them; null: not wrapped
    std::map<std::string, std::set<std::string_view>, NaturalOrder> against_lossless_;  // by port
};

}  // namespace sluice
