#include "control/config/compile/port_headroom.hh"

#include "lib/frame/headers.hh"

namespace sluice {

Headroom port_headroom(const Config& config, const PortConfig& port) {
    const bool is_virtual = config.clock == ClockKind::virtual_time;
    HeadroomInputs inputs;
    inputs.rate = port.speed;
    inputs.cable_m = port.cable_m;
    inputs.reaction = port.reaction;
    inputs.mtu_any = inputs.mtu_lossless = port.mtu;
    inputs.cell_bytes = config.cell_bytes;
    // Every port accepts tagged frames, and a neighbor with `vlan` may be added later.
    inputs.peer_tags = max_vlan_tags;
    inputs.own_tags = 1;
    // Frames arrive before our turn sees them, and our PFC frame waits in our own ring.
    inputs.own_turn_max = is_virtual ? config.virtual_turn * 2 : config.turn_max + modeled_ring;
    // A frame that another worker received waits for ours; all receive queues together bring the link's rate.
    if (!is_virtual && port.rx_queues > 1) inputs.hand_over_max = config.turn_max;
    return headroom(inputs);
}

}  // namespace sluice
