#include "dataplane/ports/kernel/xdp_socket.hh"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint16_t several_chunks = 1 << 4;  // XDP_USE_SG of sxdp_flags, since Linux 6.6

bool set(int socket, int option, const void* value, socklen_t size) {
    return setsockopt(socket, SOL_XDP, option, value, size) == 0;
}

bool set(int socket, int option, std::uint32_t value) { return set(socket, option, &value, sizeof value); }

template <class Slot>
bool map(XdpRing<Slot>& ring, int socket, const xdp_ring_offset& offsets, std::uint64_t place,
         std::uint32_t slots) {
    Mapping memory(offsets.desc + slots * sizeof(Slot), socket, static_cast<std::int64_t>(place));
    if (memory.at() == nullptr) return false;
    ring = XdpRing<Slot>(std::move(memory), offsets, slots);
    return true;
}

}  // namespace

tl::expected<XdpSocket, std::string> XdpSocket::open(const Wanted& wanted) {
    XdpSocket made;
    made.socket_ = FileDescriptor(socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
    if (!made.socket_)
        return tl::unexpected(because("it takes CAP_NET_RAW and CONFIG_XDP_SOCKETS: no AF_XDP socket"));
    std::string error = made.make_rings(wanted);
    if (error.empty()) error = made.bind(wanted);
    if (!error.empty()) return tl::unexpected(std::move(error));
    return made;
}

std::string XdpSocket::make_rings(const Wanted& wanted) {
    const int socket = socket_.get();
    const std::size_t bytes = std::size_t{wanted.receive_slots + wanted.transmit_slots} * chunk_bytes;
    memory_ = LargePages(bytes);
    if (memory_.at() == nullptr) return because("no memory for its frames");
    xdp_umem_reg frames{};
    frames.addr = reinterpret_cast<std::uintptr_t>(memory_.at());
    frames.len = bytes;
    frames.chunk_size = chunk_bytes;
    const std::uint32_t completions = std::max(wanted.transmit_slots, 1U);
    if (!set(socket, XDP_UMEM_REG, &frames, sizeof frames))
        return because("the kernel does not take its memory for frames (ulimit -l, or CAP_IPC_LOCK)");
    if (!set(socket, XDP_UMEM_FILL_RING, wanted.receive_slots) ||
        !set(socket, XDP_UMEM_COMPLETION_RING, completions) ||
        !set(socket, XDP_RX_RING, wanted.receive_slots) ||
        (wanted.transmit_slots != 0 && !set(socket, XDP_TX_RING, wanted.transmit_slots)))
        return because("the kernel makes no rings for it");
    xdp_mmap_offsets offsets{};
    socklen_t size = sizeof offsets;
    if (getsockopt(socket, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size) != 0)
        return because("its rings do not tell their places");
    if (!map(to_fill, socket, offsets.fr, XDP_UMEM_PGOFF_FILL_RING, wanted.receive_slots) ||
        !map(sent, socket, offsets.cr, XDP_UMEM_PGOFF_COMPLETION_RING, completions) ||
        !map(received, socket, offsets.rx, XDP_PGOFF_RX_RING, wanted.receive_slots) ||
        (wanted.transmit_slots != 0 &&
         !map(to_send, socket, offsets.tx, XDP_PGOFF_TX_RING, wanted.transmit_slots)))
        return because("its rings cannot be mapped");
    return {};
}

// The kernel takes zero copy where the driver has it, and copies otherwise.
std::string XdpSocket::bind(const Wanted& wanted) {
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_ifindex = static_cast<std::uint32_t>(wanted.interface);
    address.sxdp_queue_id = wanted.queue;
    address.sxdp_flags =
        static_cast<std::uint16_t>(XDP_USE_NEED_WAKEUP | (wanted.long_frames ? several_chunks : 0));
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const bool taken = errno == EBUSY;
        return because("its AF_XDP socket does not get receive queue " + std::to_string(wanted.queue)) +
               (taken ? ", another program has it; do: end that one first" : "");
    }
    xdp_options options{};
    socklen_t size = sizeof options;
    zero_copy_ = getsockopt(socket_.get(), SOL_XDP, XDP_OPTIONS, &options, &size) == 0 &&
                 (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
    return {};
}

std::uint64_t XdpSocket::missed() const {
    xdp_statistics counted{};
    socklen_t size = sizeof counted;
    if (getsockopt(socket_.get(), SOL_XDP, XDP_STATISTICS, &counted, &size) != 0) return 0;
    return counted.rx_dropped + counted.rx_ring_full;
}

}  // namespace sluice
