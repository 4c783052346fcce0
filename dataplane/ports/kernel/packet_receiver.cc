#include "dataplane/ports/kernel/packet_receiver.hh"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <rte_prefetch.h>
#include <sys/socket.h>

#include <utility>

#include "dataplane/base/because.hh"
#include "dataplane/ports/kernel/frame_copy.hh"
#include "dataplane/ports/kernel/packet_frame.hh"

namespace sluice {
namespace {

// Until all sockets of a port are ready none of them takes anything.
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

}  // namespace

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
    // The kernel finds the number of a new group. A full queue's frames go to another one.
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

}  // namespace sluice
