#include "control/switch/running/injected_faults.hh"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "control/config/compile/compile.hh"
#include "dataplane/peers/fault_port.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

InjectedFaults::InjectedFaults(Switch& device, std::uint64_t seed, rte_mempool* pool)
    : device_(device), seed_(seed), pool_(pool), ports_(device.port_count()) {}

void InjectedFaults::configure(PortId id, const std::string& name, const PortConfig& port,
                               std::uint8_t lossless, Time now) {
    if (ports_[id] == nullptr)
        device_.wrap_port(id, [&](std::unique_ptr<Port> inner) {
            auto wrapped = std::make_unique<FaultPort>(
                std::move(inner), FaultPort::Spec{seed_, id, port.speed, cable_delay(port), pool_});
            ports_[id] = wrapped.get();
            return wrapped;
        });
    ports_[id]->configure(port.fault, lossless, now);
    if (lossless == 0) return;
    for (const std::string_view broken : faults_against_lossless(port.fault))
        against_lossless_[name].insert(broken);
}

std::vector<std::string> InjectedFaults::broken_promises() const {
    std::vector<std::string> broken;
    for (const auto& [name, faults] : against_lossless_)
        broken.push_back(
            fmt::format("not promised: fault injected on {}: {}", name, fmt::join(faults, ", ")));
    return broken;
}

}  // namespace sluice
