#include "dataplane/ports/kernel/xdp_port.hh"

#include <rte_prefetch.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "dataplane/ports/kernel/frame_copy.hh"
#include "dataplane/ports/ring_size.hh"
#include "lib/frame/headers.hh"

namespace sluice {
namespace {

constexpr std::uint32_t max_frame_in_a_chunk = XdpSocket::chunk_bytes - XdpSocket::kernel_headroom;
constexpr std::uint32_t max_mtu_in_a_chunk = max_frame_in_a_chunk - link_header_bytes;

constexpr std::uint32_t chunk_bytes = XdpSocket::chunk_bytes;
constexpr std::uint64_t first_of_chunk = ~std::uint64_t{chunk_bytes - 1};

std::uint32_t chunks_of(std::uint32_t bytes) { return (bytes + chunk_bytes - 1) / chunk_bytes; }

bool goes_on(const xdp_desc& piece) { return (piece.options & XdpSocket::continues) != 0; }

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

// The usual number of slots, each for a frame of the port's MTU.
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
    const SteerPlace place = steering_.place();
    if (place == SteerPlace::here) return LinkCause::none;
    return place == SteerPlace::removed ? LinkCause::program_removed : LinkCause::program_replaced;
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

tl::expected<std::unique_ptr<XdpQueue>, std::string> XdpQueue::open(const XdpSocket::Wanted& wanted) {
    auto socket = XdpSocket::open(wanted);
    if (!socket) return tl::unexpected(std::move(socket.error()));
    return std::unique_ptr<XdpQueue>(new XdpQueue(std::move(*socket), wanted));
}

XdpQueue::XdpQueue(XdpSocket socket, const XdpSocket::Wanted& wanted)
    : socket_(std::move(socket)), long_frames_(wanted.long_frames) {
    for (std::uint32_t n = 0; n < wanted.receive_slots; ++n)
        socket_.to_fill.slot(n) = std::uint64_t{n} * chunk_bytes;
    socket_.to_fill.produce(wanted.receive_slots);
    for (std::uint32_t n = 0; n < wanted.transmit_slots; ++n)
        free_.push_back(std::uint64_t{wanted.receive_slots + n} * chunk_bytes);
}

// Counts whole frames, and prefetches their first bytes.
std::uint32_t XdpQueue::frames_there(unsigned most) {
    const std::uint32_t pieces = socket_.received.filled();
    std::uint32_t frames = 0;
    for (std::uint32_t n = 0; n < pieces && frames < most; ++n) {
        const xdp_desc& piece = socket_.received.slot(n);
        rte_prefetch0(socket_.at(piece.addr));
        frames += goes_on(piece) ? 0U : 1U;
    }
    return frames;
}

bool XdpQueue::take_frame(Packet* packet, std::uint32_t& descriptors) {
    FrameCopy copy(packet);
    for (std::uint32_t n = descriptors;; ++n) {
        const xdp_desc& piece = socket_.received.slot(n);
        if (!copy.add({socket_.at(piece.addr), piece.len})) return false;
        if (goes_on(piece)) continue;
        for (std::uint32_t m = descriptors; m <= n; ++m)
            socket_.to_fill.slot(m) = socket_.received.slot(m).addr & first_of_chunk;
        descriptors = n + 1;
        return true;
    }
}

unsigned XdpQueue::receive(std::span<Packet*> out, rte_mempool* pool) {
    if (socket_.to_fill.wants_wakeup()) [[unlikely]]
        static_cast<void>(recv(socket_.get(), nullptr, 0, MSG_DONTWAIT));
    const std::uint32_t there = frames_there(static_cast<unsigned>(out.size()));
    last_burst_was_full_ = there == out.size();
    if (there == 0 || rte_pktmbuf_alloc_bulk(pool, out.data(), there) != 0) return 0;
    unsigned taken = 0;
    std::uint32_t descriptors = 0;
    while (taken < there && take_frame(out[taken], descriptors)) ++taken;
    socket_.received.consume(descriptors);
    socket_.to_fill.produce(descriptors);  // a chunk of each: there is always room
    if (taken != there) [[unlikely]]
        rte_pktmbuf_free_bulk(out.data() + taken, there - taken);
    return taken;
}

void XdpQueue::reclaim() {
    const std::uint32_t count = socket_.sent.filled();
    if (count == 0) return;
    for (std::uint32_t n = 0; n < count; ++n) free_.push_back(socket_.sent.slot(n) & first_of_chunk);
    socket_.sent.consume(count);
}

// Writes a frame into chunks and descriptors, for which there is room; returns how many.
std::uint32_t XdpQueue::put(const Packet* packet) {
    const std::uint32_t chunks = chunks_of(packet->pkt_len);
    const Packet* segment = packet;
    std::uint32_t from = 0;  // of the segment, bytes that are copied
    for (std::uint32_t n = 0; n < chunks; ++n) {
        const std::uint64_t address = free_.back();
        free_.pop_back();
        const std::uint32_t bytes = std::min(packet->pkt_len - n * chunk_bytes, chunk_bytes);
        for (std::uint32_t done = 0; done < bytes;) {
            const std::uint32_t count = std::min(bytes - done, segment->data_len - from);
            rte_memcpy(socket_.at(address) + done,
                       rte_pktmbuf_mtod_offset(segment, const std::uint8_t*, from), count);
            done += count;
            from += count;
            if (from == segment->data_len) segment = segment->next, from = 0;
        }
        socket_.to_send.slot(n) = {address, bytes, n + 1 < chunks ? XdpSocket::continues : 0};
    }
    return chunks;
}

unsigned XdpQueue::send(std::span<Packet* const> frames, std::uint32_t mtu) {
    reclaim();
    unsigned taken = 0;
    std::uint32_t room =
        std::min<std::uint32_t>(socket_.to_send.room(), static_cast<std::uint32_t>(free_.size()));
    for (Packet* packet : frames) {
        const std::uint32_t chunks = chunks_of(packet->pkt_len);
        if (!fits(packet, mtu) || (chunks > 1 && !long_frames_)) [[unlikely]] {
            beyond_mtu_.add(1);
            ++taken;
            continue;
        }
        if (room < chunks) break;
        room -= chunks;
        socket_.to_send.produce(put(packet));
        ++taken;
    }
    kick();
    rte_pktmbuf_free_bulk(const_cast<Packet**>(frames.data()), taken);
    return taken;
}

// The kernel copies 32 descriptors at a time, and counts a frame that the interface drops as sent.
void XdpQueue::kick() {
    std::uint32_t left = socket_.to_send.in_use();
    while (left != 0 && socket_.to_send.wants_wakeup()) {
        const bool failed = ::send(socket_.get(), nullptr, 0, MSG_DONTWAIT) < 0;
        if (failed && errno == EBUSY) refused_.add(1);
        if (const std::uint32_t now = socket_.to_send.in_use(); failed && now < left)
            left = now;
        else
            break;
    }
    is_waiting_ = socket_.to_send.in_use() != 0;
}

}  // namespace sluice
