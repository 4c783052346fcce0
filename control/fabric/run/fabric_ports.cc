#include "control/fabric/run/fabric_ports.hh"

#include "control/config/compile/compile.hh"

namespace sluice::fabric {

LinkPort* FabricPorts::link(const std::string& port) const { return ends_[ids_.at(port)]; }

void FabricPorts::detect(const std::string& port, bool up) {
    const PortId id = ids_.at(port);
    ends_[id]->detect(up);
    running_->watch().note_link(id);
}

tl::expected<std::unique_ptr<Port>, std::string> FabricPorts::open(const std::string& name,
                                                                   const PortConfig& port,
                                                                   const Config& config, rte_mempool* pool) {
    ids_[name] = static_cast<PortId>(ends_.size());
    if (hosts_.has(name)) {
        ends_.push_back(nullptr);
        return hosts_.open(name, port, pool, timeline());
    }
    const auto obeys = peer_delay(port);
    LinkSpec spec{cable_delay(port), obeys ? obeys->reaction : Duration{}, port.speed,
                  config.virtual_ring_frames};
    spec.at_end = true;
    auto end = std::make_unique<LinkPort>(spec);
    ends_.push_back(end.get());
    return end;
}

}  // namespace sluice::fabric
