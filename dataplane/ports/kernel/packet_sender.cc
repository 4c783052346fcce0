#include "dataplane/ports/kernel/packet_sender.hh"

#include <rte_memcpy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "dataplane/ports/kernel/interface_mtu.hh"

namespace sluice {
namespace {

// Where the kernel reads a slot of a ring to send: behind its header, without the address.
constexpr std::size_t data_at = TPACKET2_HDRLEN - sizeof(sockaddr_ll);
// Of frames in the kernel's hands. The default holds ten frames of 9000 bytes.
constexpr int send_buffer_bytes = 4 << 20;

void put(tpacket2_hdr* slot, const Packet* packet) {
    auto* at = reinterpret_cast<std::uint8_t*>(slot) + data_at;
    SegmentHeader told{};
    told.hdr_len = static_cast<std::uint16_t>(packet->pkt_len);
    std::memcpy(at, &told, sizeof told);
    at += sizeof told;
    for (const Packet* segment = packet; segment != nullptr; segment = segment->next) {
        rte_memcpy(at, rte_pktmbuf_mtod(segment, const std::uint8_t*), segment->data_len);
        at += segment->data_len;
    }
    slot->tp_len = packet->pkt_len + static_cast<std::uint32_t>(sizeof told);
}

}  // namespace

tl::expected<std::unique_ptr<PacketSender>, std::string> PacketSender::open(int interface, unsigned slots,
                                                                            bool queue) {
    auto socket = PacketSocket::open(interface, PacketSocket::Direction::transmit, slots);
    if (!socket) return tl::unexpected(std::move(socket.error()));
    if (std::string error; !queue) {
        error = socket->set(PACKET_QDISC_BYPASS, 1, "way past the queues");
        if (!error.empty()) return tl::unexpected(std::move(error));
    }
    const int wanted = send_buffer_bytes;
    if (setsockopt(socket->get(), SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) != 0)
        static_cast<void>(setsockopt(socket->get(), SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted));
    return std::unique_ptr<PacketSender>(new PacketSender(std::move(*socket)));
}

unsigned PacketSender::send(std::span<Packet* const> frames, std::uint32_t mtu) {
    unsigned taken = 0;
    for (Packet* packet : frames) {
        if (!fits(packet, mtu)) [[unlikely]] {
            beyond_mtu_.add(1);
            ++taken;
            continue;
        }
        tpacket2_hdr* slot = socket_.slot(next_);
        if (PacketSocket::status(slot) != TP_STATUS_AVAILABLE) break;
        put(slot, packet);
        PacketSocket::set_status(slot, TP_STATUS_SEND_REQUEST);
        next_ = socket_.after(next_);
        ++taken;
    }
    kick();
    rte_pktmbuf_free_bulk(const_cast<Packet**>(frames.data()), taken);
    return taken;
}

void PacketSender::kick() { is_waiting_ = ::send(socket_.get(), nullptr, 0, MSG_DONTWAIT) < 0; }

void PacketSender::finish() {
    constexpr int tries = 100;
    constexpr useconds_t pause_us = 100;
    for (int n = 0; is_waiting_ && n < tries; ++n) {
        kick();
        if (is_waiting_) usleep(pause_us);
    }
}

}  // namespace sluice
