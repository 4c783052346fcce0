// The shortcut of `parse` for what nearly every frame is, inline where frames come in.
#pragma once

#include <array>

#include "lib/checksum.hh"
#include "lib/parse.hh"

namespace sluice {

// First octets of IPv4 addresses that a rule speaks of (RFC 1812 5.3.7, RFC 6890): a packet with another one
// in source and in destination is neither martian nor multicast nor link-local.
constexpr auto judged_octets = [] {
    std::array<bool, 256> judged{};
    for (const unsigned octet : {0U, 127U, 0xA9U}) judged[octet] = true;
    for (unsigned octet = 224; octet < 256; ++octet) judged[octet] = true;
    return judged;
}();

// What nearly every frame is: untagged, for this port, IPv4 without options, whole, and UDP, RoCEv2 or not.
// `out` is then what `parse_any` says of it, and the answer true; else nothing is said. All conditions that
// do not depend on each other are one branch.
inline bool parse_usual(std::span<const std::uint8_t> view, std::uint32_t frame_bytes, const Station& station,
                        Parsed& out) {
    constexpr std::size_t l3 = sizeof(EthernetHeader);
    constexpr std::size_t l4 = l3 + sizeof(Ipv4Header);
    constexpr std::size_t bth = l4 + sizeof(UdpHeader);
    if (view.size() < bth + sizeof(Bth) || frame_bytes > max_frame_bytes) return false;
    const std::uint8_t* const frame = view.data();
    const auto& ip = *reinterpret_cast<const Ipv4Header*>(frame + l3);
    const std::uint32_t total = ip.total_length.get();
    // EtherType, version and header length; group bits of both addresses; what the flags and the offset of a
    // fragment leave open; TTL, then the protocol.
    const std::uint32_t type_version = load_be<std::uint32_t>(frame + l3 - 2) >> 8;
    const unsigned group_bits = (frame[0] | frame[6]) & 1U;
    const unsigned fragment = ip.fragment.get() & 0x3FFFU;
    const bool usual =
        ((type_version ^ 0x0800'45U) | group_bits | fragment | (ip.protocol ^ ip_protocol::udp)) == 0;
    const bool fits = total >= bth + sizeof(Bth) - l3 && l3 + total <= frame_bytes;
    const bool judged = judged_octets[ip.source.bytes[0]] || judged_octets[ip.destination.bytes[0]];
    const bool ours = station.promiscuous || *reinterpret_cast<const MacAddress*>(frame) == station.mac;
    if (!usual || !fits || judged || !ours || ip.ttl <= 1 || !checksum_is_right_20(frame + l3)) return false;
    const std::uint32_t ports = load_be<std::uint32_t>(frame + l4);
    out.drop = DropReason::none;
    out.kind = FrameKind::ipv4;
    out.tags = 0;
    out.pcp = 0;
    out.protocol = ip_protocol::udp;
    out.fragment = false;
    out.l3_offset = l3;
    out.dscp = static_cast<std::uint8_t>(ip.tos >> 2);
    out.ecn = static_cast<Ecn>(ip.tos & 3U);
    out.ip_bytes = static_cast<std::uint16_t>(total);
    out.source_port = static_cast<std::uint16_t>(ports >> 16);
    out.destination_port = static_cast<std::uint16_t>(ports);
    out.roce = out.destination_port == roce_udp_port;
    out.opcode = out.roce ? frame[bth] : std::uint8_t{0};
    out.cnp = out.opcode == cnp_opcode;
    out.destination_qp = out.roce ? load_be<std::uint32_t>(frame + bth + 4) & 0xFF'FFFFU : 0;
    return true;
}

}  // namespace sluice
