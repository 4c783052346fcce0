#include "tests/sim/sim_port.hh"

namespace sluice::sim {

std::uint8_t SimPort::add(const Flow& flow) {
    forget_arrival();
    return source_.add(flow);
}

void SimPort::stop_flows() {
    forget_arrival();
    source_.stop_flows();
}

void SimPort::send_pause(Time at, const PauseMap& map) {
    forget_arrival();
    source_.send_pause(at, map);
}

void SimPort::send_pause(Time at, ClassId priority, std::uint16_t quanta) {
    PauseMap map;
    map.class_enable = static_cast<std::uint8_t>(1U << priority);
    map.quanta[priority] = quanta;
    send_pause(at, map);
}

void SimPort::cut(bool down) {
    forget_arrival();
    cut_ = down;
    hears_ = obeys_ && !down;
    if (down) wire_.forget();  // a peer forgets, too
}

void SimPort::inject(Time at, const Flow& flow, const std::vector<std::uint32_t>& sizes) {
    forget_arrival();
    source_.inject(at, flow, sizes);
}

}  // namespace sluice::sim
