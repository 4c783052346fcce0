#include "dataplane/ports/kernel/packet_port.hh"

#include <algorithm>
#include <charconv>
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

namespace {

std::optional<unsigned> number_in(std::string_view text, unsigned least, unsigned most) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most)
        return std::nullopt;
    return number;
}

// An error's text, or empty.
std::string take(PacketDevice& device, std::string_view key, std::string_view value) {
    if (key == "iface") {
        device.interface = value;
        return {};
    }
    struct Range {
        std::string_view key;
        unsigned least, most;
    };
    constexpr Range ranges[] = {{"qpairs", 1, 16},
                                {"framecnt", 16, PacketDevice::max_slots},
                                {"qdisc_bypass", 0, 1},
                                {"blocksz", 1, 1U << 30},
                                {"framesz", 1, 1U << 30}};
    const auto* range = std::find_if(std::begin(ranges), std::end(ranges),
                                     [&](const Range& candidate) { return candidate.key == key; });
    if (range == std::end(ranges))
        return "it has no argument \"" + std::string(key) +
               "\"; do: write iface=NAME, and qpairs, framecnt or qdisc_bypass where they are wanted";
    const auto number = number_in(value, range->least, range->most);
    if (!number)
        return std::string(key) + "=" + std::string(value) + " is not a number from " +
               std::to_string(range->least) + " to " + std::to_string(range->most) + "; do: write " +
               std::string(key) + "=" + std::to_string(std::max(range->least, 1U));
    if (key == "qpairs") device.queues = *number;
    if (key == "framecnt") device.slots = *number;
    if (key == "qdisc_bypass") device.qdisc_bypass = *number != 0;
    return {};
}

}  // namespace

tl::expected<PacketDevice, std::string> parse_packet_device(std::string_view text) {
    PacketDevice device;
    std::string_view rest = text.substr(std::min(text.find(','), text.size()));
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view argument = rest.substr(0, rest.find(','));
        rest.remove_prefix(argument.size());
        const auto equals = std::min(argument.find('='), argument.size());
        const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
        if (std::string error = take(device, argument.substr(0, equals), value); !error.empty())
            return tl::unexpected(std::move(error));
    }
    if (device.interface.empty())
        return tl::unexpected(std::string("it names no interface; do: write net_af_packet0,iface=NAME"));
    return device;
}

}  // namespace sluice
