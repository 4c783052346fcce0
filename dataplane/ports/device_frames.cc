#include "dataplane/ports/device_frames.hh"

#include <rte_ether.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cstdlib>

#include "dataplane/base/packet_pool.hh"

namespace sluice {
namespace {

std::string number(std::uint64_t n) { return std::to_string(n); }

// net_null fills one mbuf with as many bytes as it is told, whether they fit or not.
std::uint64_t null_frame_bytes(const std::string& device) {
    constexpr std::string_view key = ",size=";
    std::uint64_t most = 0;
    for (std::size_t at = device.find(key); at != std::string::npos; at = device.find(key, at + 1))
        most = std::max<std::uint64_t>(most, std::strtoull(device.c_str() + at + key.size(), nullptr, 0));
    return most;
}

// The kernel writes into a packet buffer behind DPDK's headroom and its own 256 bytes; a buffer lies within a
// page (v22.11, net_af_xdp's xdp_umem_configure).
struct XdpRoom {
    std::uint32_t overhead;  // of a buffer's bytes
    std::uint32_t buffer;    // bytes from one to the next
    explicit XdpRoom(std::uint32_t data_bytes)
        : buffer(static_cast<std::uint32_t>(PacketPool::bytes_each(data_bytes))) {
        rte_mempool_objsz size{};
        rte_mempool_calc_obj_size(1, 0, &size);
        overhead = size.header_size + static_cast<std::uint32_t>(sizeof(rte_mbuf)) + RTE_PKTMBUF_HEADROOM;
    }
    static constexpr std::uint32_t page = 4096;
    static constexpr std::uint32_t kernel_headroom = 256;
    static constexpr std::uint32_t ethernet = RTE_ETHER_HDR_LEN + 2 * 4;
    std::uint32_t mtu_of(std::uint32_t bytes) const { return bytes - overhead - kernel_headroom - ethernet; }
};

}  // namespace

std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t mtu, std::uint32_t data_bytes) {
    using Key = FramesRefused::Key;
    std::uint32_t most = mtu;
    std::string more;
    if (text.has("net_null") && null_frame_bytes(device) > data_bytes)
        return FramesRefused{
            Key::device, "makes frames larger than a packet buffer",
            "set size to at most " + number(data_bytes) + ", or buffer.packet_buffer to more"};
    if (text.has("xdp")) {
        const XdpRoom room(data_bytes);
        const std::uint32_t largest = (XdpRoom::page - room.overhead) / 64 * 64;
        if (room.buffer > XdpRoom::page)
            return FramesRefused{Key::packet_buffer, "needs a packet buffer within a page",
                                 "set buffer.packet_buffer to at most " + number(largest)};
        most = room.mtu_of(room.buffer);
        more = ", or buffer.packet_buffer to " + number(largest) + " for an MTU of " +
               number(room.mtu_of(XdpRoom::page));
    }
    if (mtu <= most) return std::nullopt;
    return FramesRefused{Key::mtu, "takes no frame of MTU " + number(mtu),
                         "set mtu to at most " + number(most) + more};
}

}  // namespace sluice
