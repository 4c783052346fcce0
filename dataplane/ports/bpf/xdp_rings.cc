#include "dataplane/ports/bpf/xdp_rings.hh"

#include <linux/if_xdp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace sluice {
namespace {

// Of an address in a ring of unaligned chunks; above it is the offset of the data.
constexpr std::uint64_t place_mask = (std::uint64_t{1} << XSK_UNALIGNED_BUF_OFFSET_SHIFT) - 1;

std::uint64_t place_at(const XdpRing& ring, std::uint32_t position) {
    return ring.slots[position & (ring.slots.size() - 1)] & place_mask;
}

// The entries of a ring from a position on; nothing where its positions make no sense.
void add(const XdpRing& ring, std::uint32_t from, std::set<std::uint64_t>& places) {
    if (ring.producer - from > ring.slots.size()) return;
    for (std::uint32_t position = from; position != ring.producer; ++position)
        places.insert(place_at(ring, position));
}

// A ring's memory as libxdp has mapped it.
struct Mapping {
    const std::byte* at = nullptr;
    std::size_t bytes = 0;
};

// By the offset that it was mapped at.
std::map<std::uint64_t, Mapping> mappings_of(int socket) {
    std::map<std::uint64_t, Mapping> found;
    struct stat status {};
    if (fstat(socket, &status) != 0) return found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long first = 0;
        unsigned long end = 0;
        unsigned long long offset = 0;
        unsigned long inode = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx rw-s %llx %*x:%*x %lu", &first, &end, &offset, &inode) == 4 &&
            inode == status.st_ino && line.find("socket:") != line.npos)
            found[offset] = {reinterpret_cast<const std::byte*>(first), end - first};
    }
    return found;
}

std::uint32_t position_at(const std::byte* at) {
    return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(at)))
        .load(std::memory_order_acquire);
}

XdpRing ring_at(const Mapping& mapping, const xdp_ring_offset& offsets, std::size_t slot_bytes) {
    XdpRing ring;
    if (mapping.bytes <= offsets.desc + slot_bytes) return ring;
    // A mapping is whole pages, and a ring a power of two: it takes more than half of the pages it is in.
    ring.slots.resize(std::bit_floor((mapping.bytes - offsets.desc) / slot_bytes));
    ring.producer = position_at(mapping.at + offsets.producer);
    ring.consumer = position_at(mapping.at + offsets.consumer);
    for (std::size_t n = 0; n < ring.slots.size(); ++n)  // a descriptor begins with its address
        ring.slots[n] = *reinterpret_cast<const std::uint64_t*>(mapping.at + offsets.desc + n * slot_bytes);
    return ring;
}

}  // namespace

XdpPackets packets_in(const XdpRings& rings) {
    std::set<std::uint64_t> places;
    add(rings.fill, rings.fill.consumer, places);
    add(rings.receive, rings.receive.consumer, places);
    const std::size_t to_receive = places.size();
    const XdpRing& sending = rings.transmit;
    const XdpRing& sent = rings.completion;
    if (sending.producer - sent.producer <= sending.slots.size()) {
        std::set<std::uint64_t> unsent;
        add(sending, sent.producer, unsent);
        // Sent after the packets that the kernel has reported as read: perhaps one of these, out of order,
        // and free by now.
        if (sent.producer - sending.consumer <= sent.slots.size())
            for (std::uint32_t position = sending.consumer; position != sent.producer; ++position)
                unsent.erase(place_at(sent, position));
        places.merge(unsent);
    }
    add(sent, sent.consumer, places);
    return {{places.begin(), places.end()}, to_receive};
}

XdpRings rings_of(int socket) {
    XdpRings rings;
    xdp_mmap_offsets offsets{};
    socklen_t size = sizeof offsets;
    // A socket that is bound to an interface says something else.
    if (send(socket, nullptr, 0, MSG_DONTWAIT) == 0 || errno != ENXIO ||
        getsockopt(socket, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size) != 0)
        return rings;
    auto mapped = mappings_of(socket);
    rings.fill = ring_at(mapped[XDP_UMEM_PGOFF_FILL_RING], offsets.fr, sizeof(std::uint64_t));
    rings.completion = ring_at(mapped[XDP_UMEM_PGOFF_COMPLETION_RING], offsets.cr, sizeof(std::uint64_t));
    rings.receive = ring_at(mapped[XDP_PGOFF_RX_RING], offsets.rx, sizeof(xdp_desc));
    rings.transmit = ring_at(mapped[XDP_PGOFF_TX_RING], offsets.tx, sizeof(xdp_desc));
    return rings;
}

}  // namespace sluice
