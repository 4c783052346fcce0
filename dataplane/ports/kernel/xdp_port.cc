#include "dataplane/ports/kernel/xdp_port.hh"

#include <bit>
#include <cstdint>
#include <utility>

#include "dataplane/ports/ring_size.hh"
#include "lib/frame/headers.hh"

namespace sluice {
namespace {

constexpr std::uint32_t max_frame_in_a_chunk = XdpSocket::chunk_bytes - XdpSocket::kernel_headroom;
constexpr std::uint32_t max_mtu_in_a_chunk = max_frame_in_a_chunk - link_header_bytes;

}  // namespace

tl::expected<std::unique_ptr<DevicePort>, std::string> XdpPort::start(DeviceSpec spec) {
    std::unique_ptr<XdpPort> port(new XdpPort(std::move(spec)));
    if (std::string error = port->open(); !error.empty()) return tl::unexpected(std::move(error));
    port->poll_link();
    return port;
}

std::string XdpPort::open_sockets() {
    const bool long_frames = spec_.nic.mtu > max_mtu_in_a_chunk;
    std::string error =
        steering_.load(interface_name_, interface_->index(), long_frames ? UINT32_MAX : max_frame_in_a_chunk);
    if (error.empty()) error = open_queues();
    for (std::uint32_t n = 0; error.empty() && n < queues_.size(); ++n)
        error = steering_.listen(n, queues_[n]->socket().get());
    if (error.empty()) error = steering_.attach();
    if (!error.empty()) {
        queues_.clear();
        steering_.let_go();
        return error;
    }
    can_.driver = std::string("af_xdp, ") + (steering_.is_native() ? "native, " : "generic, ") +
                  (queues_.front()->socket().is_zero_copy() ? "zero-copy" : "copied");
    can_.max_mtu = long_frames ? std::uint16_t{max_mtu} : std::uint16_t{max_mtu_in_a_chunk};
    can_.scattered_receive = can_.multi_segment_transmit = true;
    can_.receive_queues = spec_.nic.receive_queues;
    can_.receive_spread =
        queues_.size() == 1 ? "1 queue" : std::to_string(queues_.size()) + " queues by the interface itself";
    can_.receive_ring = static_cast<std::uint16_t>(queues_.front()->socket().received.size());
    can_.transmit_ring = static_cast<std::uint16_t>(queues_.front()->socket().to_send.size());
    can_.tells_ring_fill = true;
    return {};
}

// A frame of the port's MTU in each of the usual number of places.
std::string XdpPort::open_queues() {
    const std::uint32_t largest = spec_.nic.mtu + link_header_bytes;
    const bool long_frames = spec_.nic.mtu > max_mtu_in_a_chunk;
    const std::uint32_t slots =
        ring_descriptors * std::bit_ceil((largest + XdpSocket::chunk_bytes - 1) / XdpSocket::chunk_bytes);
    for (std::uint16_t n = 0; n < spec_.nic.receive_queues; ++n) {
        auto queue = XdpQueue::open({interface_->index(), n, slots, n == 0 ? slots : 0, long_frames});
        if (queue) {
            queues_.push_back(std::move(*queue));
            continue;
        }
        std::string error = std::move(queue.error());
        if (long_frames)
            error +=
                "; this kernel, or the interface's driver, may not know frames of several buffers (Linux "
                "6.6 does); do: set mtu to at most " +
                std::to_string(max_mtu_in_a_chunk);
        else if (n != 0)
            error += "; do: set rx_queues to at most the interface's (ethtool -l " + interface_name_ + ")";
        return error;
    }
    return {};
}

void XdpPort::close_sockets() {
    steering_.let_go();
    queues_.clear();
}

LinkCause XdpPort::obstacle() const {
    switch (steering_.place()) {
        case SteerPlace::here:
            break;
        case SteerPlace::removed:
            return LinkCause::program_removed;
        case SteerPlace::replaced:
            return LinkCause::program_replaced;
    }
    return LinkCause::none;
}

PortAccount XdpPort::count() const {
    PortAccount account;
    for (const auto& queue : queues_) account.missed += queue->socket().missed();
    account.beyond_mtu_in = steering_.too_long();
    account.beyond_mtu = account.beyond_mtu_in + queues_.front()->beyond_mtu();
    account.refused = queues_.front()->refused();
    return account;
}

unsigned XdpPort::receive(std::span<Packet*> out, Time now) {
    queues_.front()->try_again();
    return receive_from(0, out, now);
}

unsigned XdpPort::receive_from(std::uint16_t number, std::span<Packet*> out, Time now) {
    const unsigned count = queues_[number]->receive(out, spec_.nic.pool);
    for (unsigned i = 0; i < count; ++i) meta(out[i]).arrival = now;
    return count;
}

}  // namespace sluice
