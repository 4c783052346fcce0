#include "dataplane/ports/kernel/packet_socket.hh"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <rte_ip.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "dataplane/ports/kernel/frame_copy.hh"
#include "lib/frame/headers.hh"

namespace sluice {
namespace {

// A slot holds the kernel's headers, a frame one byte longer than the switch takes, to detect longer ones,
// and a tag. Its number of lines is not a multiple of four, so that slots' heads spread over a cache's sets.
constexpr std::uint32_t slot_bytes = 146 * 64;
constexpr std::uint32_t kernel_bytes = 96;
static_assert(slot_bytes >= kernel_bytes + max_frame_bytes + 1 + 4);
constexpr std::uint32_t block_bytes = 65536;  // pages that lie together
constexpr std::uint32_t slots_a_block = block_bytes / slot_bytes;

struct FrameInSlot {
    std::span<std::uint8_t> bytes;
    bool is_uncut;  // of several segments
};

constexpr std::size_t mac_bytes = 12;
constexpr std::size_t tag_bytes = 4;
static_assert(sizeof(SegmentHeader) >= tag_bytes, "a tag goes where the kernel's header was");

// Sums the bytes from csum_start on; the sender left the pseudo header's sum in the checksum's place.
void complete_checksum(std::span<std::uint8_t> frame, const SegmentHeader& told) {
    const std::size_t start = told.csum_start;
    const std::size_t place = start + told.csum_offset;
    if (place + 2 > frame.size()) return;
    const auto sum = static_cast<std::uint16_t>(~rte_raw_cksum(frame.data() + start, frame.size() - start));
    const std::uint16_t checksum = sum == 0 ? 0xFFFF : sum;  // of UDP 0 means none
    std::memcpy(frame.data() + place, &checksum, sizeof checksum);
}

std::span<std::uint8_t> with_tag(std::span<std::uint8_t> frame, const tpacket2_hdr& slot) {
    if (frame.size() < mac_bytes) return frame;
    std::uint8_t* first = frame.data() - tag_bytes;
    std::memmove(first, frame.data(), mac_bytes);
    const bool says_type = (slot.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    store_be<std::uint16_t>(first + mac_bytes, says_type ? slot.tp_vlan_tpid : ether_type::vlan);
    store_be<std::uint16_t>(first + mac_bytes + 2, slot.tp_vlan_tci);
    return {first, frame.size() + tag_bytes};
}

// Puts tag and checksum back into the slot's frame, in place.
FrameInSlot frame_in(tpacket2_hdr* slot) {
    auto* at = reinterpret_cast<std::uint8_t*>(slot) + slot->tp_mac;
    SegmentHeader told;
    std::memcpy(&told, at - sizeof told, sizeof told);
    std::span<std::uint8_t> bytes(at, slot->tp_snaplen);
    if ((told.flags & SegmentHeader::needs_checksum) != 0) [[unlikely]]
        complete_checksum(bytes, told);
    if ((slot->tp_status & TP_STATUS_VLAN_VALID) != 0) [[unlikely]]
        bytes = with_tag(bytes, *slot);
    return {bytes, told.gso_type != SegmentHeader::one_segment};
}

// No socket of a port takes frames before all of them are ready.
bool close_ears(int socket) {
    sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
    const sock_fprog program{1, &nothing};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

bool open_ears(int socket) {
    const int unused = 0;
    return setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) == 0;
}

bool is_filled(tpacket2_hdr* slot) { return (PacketSocket::status(slot) & TP_STATUS_USER) != 0; }

// The kernel reads a slot to send from here: behind its header, without the address.
constexpr std::size_t data_at = TPACKET2_HDRLEN - sizeof(sockaddr_ll);
// Room for frames that the kernel has; its default holds ten of 9000 bytes.
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

tl::expected<PacketSocket, std::string> PacketSocket::open(int interface, Direction direction,
                                                           unsigned slots) {
    PacketSocket made;
    made.socket_ = FileDescriptor(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));  // of no protocol: deaf
    if (!made.socket_) return tl::unexpected(because("it takes CAP_NET_RAW: no packet socket"));
    std::string error = made.set(PACKET_VERSION, TPACKET_V2, "TPACKET_V2");
    if (error.empty()) error = made.set(PACKET_VNET_HDR, 1, "a header before each frame");
    // A frame that the interface refuses does not stop those behind it.
    if (error.empty() && direction == Direction::transmit)
        error = made.set(PACKET_LOSS, 1, "way past a frame");
    if (error.empty()) error = made.make_ring(direction, slots);
    if (error.empty() && direction == Direction::transmit) error = made.bind(interface, 0);
    if (!error.empty()) return tl::unexpected(std::move(error));
    return made;
}

std::string PacketSocket::make_ring(Direction direction, unsigned slots) {
    tpacket_req wanted{};
    wanted.tp_block_size = block_bytes;
    wanted.tp_block_nr = (slots + slots_a_block - 1) / slots_a_block;
    wanted.tp_frame_size = slot_bytes;
    wanted.tp_frame_nr = wanted.tp_block_nr * slots_a_block;
    const int option = direction == Direction::receive ? PACKET_RX_RING : PACKET_TX_RING;
    if (setsockopt(socket_.get(), SOL_PACKET, option, &wanted, sizeof wanted) != 0)
        return because("the kernel makes no ring of " + std::to_string(wanted.tp_frame_nr) + " frames");
    const std::size_t bytes = std::size_t{wanted.tp_block_nr} * block_bytes;
    memory_ = Mapping(bytes, socket_.get(), 0);
    if (memory_.at() == nullptr) return because("its ring cannot be mapped");
    slots_.reserve(wanted.tp_frame_nr);
    for (std::size_t block = 0; block < bytes; block += block_bytes)
        for (unsigned n = 0; n < slots_a_block; ++n)
            slots_.push_back(
                reinterpret_cast<tpacket2_hdr*>(memory_.at() + block + std::size_t{n} * slot_bytes));
    return {};
}

std::string PacketSocket::set(int option, std::uint32_t value, const char* what) {
    if (setsockopt(socket_.get(), SOL_PACKET, option, &value, sizeof value) == 0) return {};
    return because(std::string("the kernel's packet sockets know no ") + what);
}

std::string PacketSocket::bind(int interface, std::uint16_t protocol) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = interface;
    address.sll_protocol = htons(protocol);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {};
    return because("its packet socket cannot be bound");
}

tl::expected<PacketReceiver::All, std::string> PacketReceiver::open(int interface, unsigned queues,
                                                                    unsigned slots) {
    All made;
    std::uint16_t group = 0;
    for (unsigned queue = 0; queue < queues; ++queue) {
        auto socket = PacketSocket::open(interface, PacketSocket::Direction::receive, slots);
        if (!socket) return tl::unexpected(std::move(socket.error()));
        made.emplace_back(new PacketReceiver(std::move(*socket)));
        if (std::string error = made.back()->listen(interface, group, queues > 1, queue == 0); !error.empty())
            return tl::unexpected(std::move(error));
    }
    for (const auto& receiver : made)
        if (!open_ears(receiver->socket_.get()))
            return tl::unexpected(because("its packet socket cannot be opened for frames"));
    return made;
}

std::string PacketReceiver::listen(int interface, std::uint16_t& group, bool several, bool first) {
    const int socket = socket_.get();
    if (!close_ears(socket)) return because("its packet socket takes no filter");
    std::string error = socket_.set(PACKET_IGNORE_OUTGOING, 1, "way to leave outgoing frames out");
    if (error.empty()) error = socket_.bind(interface, ETH_P_ALL);
    if (!error.empty()) return error;
    packet_mreq all{};
    all.mr_ifindex = interface;
    all.mr_type = PACKET_MR_PROMISC;
    if (setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0)
        return because("its interface does not become promiscuous");
    if (!several) return {};
    // The kernel numbers a new group. Frames of a full queue go to another.
    const std::uint32_t how = PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_ROLLOVER;
    const std::uint32_t wanted = first ? (how | PACKET_FANOUT_FLAG_UNIQUEID) << 16 : how << 16 | group;
    error = socket_.set(PACKET_FANOUT, wanted, "way to divide flows");
    std::uint32_t joined = 0;
    socklen_t size = sizeof joined;
    if (error.empty() && getsockopt(socket, SOL_PACKET, PACKET_FANOUT, &joined, &size) != 0)
        error = because("its group of packet sockets does not tell its number");
    group = static_cast<std::uint16_t>(joined);
    return error;
}

unsigned PacketReceiver::receive(std::span<Packet*> out, rte_mempool* pool) {
    unsigned there = 0;
    for (std::size_t at = next_; there < out.size() && is_filled(socket_.slot(at)); at = socket_.after(at)) {
        rte_prefetch0(reinterpret_cast<const std::uint8_t*>(socket_.slot(at)) + 64);
        ++there;
    }
    last_burst_was_full_ = there == out.size();
    if (there == 0 || rte_pktmbuf_alloc_bulk(pool, out.data(), there) != 0) return 0;
    unsigned taken = 0;
    unsigned uncut = 0;
    for (; taken + uncut < there; next_ = socket_.after(next_)) {
        tpacket2_hdr* slot = socket_.slot(next_);
        const FrameInSlot frame = frame_in(slot);
        if (frame.is_uncut) [[unlikely]]
            ++uncut;
        else if (FrameCopy(out[taken]).add(frame.bytes)) [[likely]]
            ++taken;
        else
            break;
        PacketSocket::set_status(slot, TP_STATUS_KERNEL);
    }
    if (taken != there) [[unlikely]]
        rte_pktmbuf_free_bulk(out.data() + taken, there - taken);
    if (uncut != 0) [[unlikely]]
        uncut_.add(uncut);
    return taken;
}

bool PacketReceiver::falls_behind() const {
    if (!last_burst_was_full_) [[likely]]
        return false;
    const std::size_t middle = next_ + socket_.slots() / 2;
    return is_filled(socket_.slot(middle < socket_.slots() ? middle : middle - socket_.slots()));
}

std::uint64_t PacketReceiver::beyond_ring() const {
    tpacket_stats counted{};
    socklen_t size = sizeof counted;
    if (getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &size) == 0)
        beyond_ring_ += counted.tp_drops;
    return beyond_ring_;
}

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
