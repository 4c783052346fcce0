// The ports of two switches with a cable between them: p0 to p2 are the first switch's, p3 to p5 the
// second's. Simulated ports are behind the first two of each, the cable's ends are the third.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "control/config/compile/compile.hh"
#include "dataplane/peers/link_port.hh"
#include "tests/sim/sim_switch.hh"

namespace sluice::sim {

class LinkedPorts final : public Surroundings {
  public:
    static constexpr PortId ports_each = 3;

    // `at_end`: the cable hands frames over at their end.
    explicit LinkedPorts(bool at_end = false) : at_end_(at_end) {}
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override {
        const auto id = static_cast<PortId>(std::stoul(name.substr(1)));
        if (id % ports_each == ports_each - 1) {
            LinkSpec spec{cable_delay(port), peer_delay(port)->reaction, port.speed,
                          config.virtual_ring_frames};
            spec.at_end = at_end_;
            auto io = std::make_unique<LinkPort>(spec);
            link = io.get();
            return io;
        }
        auto io = std::make_unique<SimPort>(
            SimPort::Spec{id, port.speed, *port.mac, pool, peer_delay(port), config.virtual_ring_frames});
        hosts[id % ports_each] = io.get();
        return io;
    }
    LinkPort* link = nullptr;
    std::array<SimPort*, ports_each - 1> hosts{};

  private:
    bool at_end_;
};

}  // namespace sluice::sim
