#include "dataplane/ports/kernel/packet_port.hh"

#include <utility>

#include "lib/frame/headers.hh"

namespace sluice {

tl::expected<std::unique_ptr<DevicePort>, std::string> PacketPort::start(DeviceSpec spec) {
    auto device = parse_packet_device(spec.device);
    if (!device) return tl::unexpected("device \"" + spec.device + "\": " + device.error());
    std::unique_ptr<PacketPort> port(new PacketPort(std::move(spec), std::move(*device)));
    if (std::string error = port->open(); !error.empty()) return tl::unexpected(std::move(error));
    port->poll_link();
    return port;
}

std::string PacketPort::open_sockets() {
    const unsigned queues = device_.queues;
    if (queues != spec_.nic.receive_queues)
        return "it has qpairs=" + std::to_string(queues) + ", which all get frames; do: set rx_queues to " +
               std::to_string(queues);
    auto sender = PacketSender::open(interface_->index(), device_.slots, !device_.qdisc_bypass);
    if (!sender) return std::move(sender.error());
    auto receivers = PacketReceiver::open(interface_->index(), queues, device_.slots);
    if (!receivers) return std::move(receivers.error());
    sender_ = std::move(*sender);
    queues_ = std::move(*receivers);
    can_.driver = "net_af_packet";
    can_.pfc = can_.pfc.why.empty() ? pfc_ability(can_.driver, {}) : can_.pfc;
    can_.max_mtu = max_mtu;
    can_.scattered_receive = can_.multi_segment_transmit = true;
    can_.receive_queues = static_cast<std::uint16_t>(queues);
    can_.receive_spread = queues == 1 ? "1 queue" : std::to_string(queues) + " queues by the kernel (fanout)";
    can_.receive_ring = can_.transmit_ring = static_cast<std::uint16_t>(device_.slots);
    can_.tells_ring_fill = true;
    return {};
}

void PacketPort::close_sockets() {
    sender_->finish();
    sender_.reset();
    queues_.clear();
}

PortAccount PacketPort::count() const {
    PortAccount account;
    for (const auto& queue : queues_) {
        account.uncut += queue->uncut();
        account.missed += queue->beyond_ring();
    }
    account.missed += account.uncut;
    account.beyond_mtu = sender_->beyond_mtu();
    return account;
}

unsigned PacketPort::receive(std::span<Packet*> out, Time now) {
    sender_->try_again();
    return receive_from(0, out, now);
}

unsigned PacketPort::receive_from(std::uint16_t number, std::span<Packet*> out, Time now) {
    const unsigned count = queues_[number]->receive(out, spec_.nic.pool);
    for (unsigned i = 0; i < count; ++i) meta(out[i]).arrival = now;
    return count;
}

unsigned PacketPort::transmit(std::span<Packet* const> frames) {
    return sender_->send(frames, interface_mtu());
}

}  // namespace sluice
