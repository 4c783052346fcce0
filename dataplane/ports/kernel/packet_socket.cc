#include "dataplane/ports/kernel/packet_socket.hh"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <sys/socket.h>

#include <utility>

#include "dataplane/base/because.hh"

namespace sluice {
namespace {

// A slot has the kernel's headers, a frame one byte longer than the switch takes, so that a longer one shows,
// and the room for a tag. A number of lines that is not a multiple of four: the heads of slots then spread
// over a cache's sets.
constexpr std::uint32_t slot_bytes = 146 * 64;
constexpr std::uint32_t kernel_bytes = 96;
static_assert(slot_bytes >= kernel_bytes + max_frame_bytes + 1 + 4);
constexpr std::uint32_t block_bytes = 65536;  // pages that lie together
constexpr std::uint32_t slots_a_block = block_bytes / slot_bytes;

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

}  // namespace sluice
