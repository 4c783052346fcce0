// The shortcut of `parse` for what nearly every frame is, inline where frames come in.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

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

// Eight octets of a frame that have to be so, and those of their bits that matter; in the order of the wire.
class UsualOctets {
  public:
    using Octets = std::array<std::uint8_t, 8>;
    constexpr UsualOctets(Octets value, Octets mask)
        : value_(std::bit_cast<std::uint64_t>(value)), mask_(std::bit_cast<std::uint64_t>(mask)) {}
    // Zero when they are so; several may be put together by |.
    std::uint64_t differ(const std::uint8_t* bytes) const {
        std::uint64_t word;
        std::memcpy(&word, bytes, sizeof word);
        return (word ^ value_) & mask_;
    }

  private:
    std::uint64_t value_, mask_;
};

// A destination that the station takes for its own and no group bit in either address: octets 0 to 7.
constexpr UsualOctets usual_addresses(const Station& station) {
    UsualOctets::Octets value{}, mask{1, 0, 0, 0, 0, 0, 1, 0};
    for (std::size_t i = 0; i < 6 && !station.promiscuous; ++i) {
        value[i] = station.mac.bytes[i];
        mask[i] = 0xFF;
    }
    return {value, mask};
}

// UDP at `l4` of a packet of `total` bytes; false when it is not whole or too short for RoCE.
template <FrameKind kind, std::size_t l4>
[[gnu::always_inline]] inline bool parse_usual_udp(const std::uint8_t* frame, std::uint32_t frame_bytes,
                                                   std::size_t total, unsigned tos, Parsed& out) {
    constexpr std::size_t l3 = sizeof(EthernetHeader);
    constexpr std::size_t bth = l4 + sizeof(UdpHeader);
    if (total < bth + sizeof(Bth) - l3 || l3 + total > frame_bytes) return false;
    const std::uint32_t ports = load_be<std::uint32_t>(frame + l4);
    out.drop = DropReason::none;
    out.kind = kind;
    out.tags = 0;
    out.pcp = 0;
    out.protocol = ip_protocol::udp;
    out.fragment = false;
    out.l3_offset = l3;
    out.dscp = static_cast<std::uint8_t>(tos >> 2);
    out.ecn = static_cast<Ecn>(tos & 3U);
    out.ip_bytes = static_cast<std::uint16_t>(total);
    out.source_port = static_cast<std::uint16_t>(ports >> 16);
    out.destination_port = static_cast<std::uint16_t>(ports);
    out.roce = out.destination_port == roce_udp_port;
    out.opcode = out.roce ? frame[bth] : std::uint8_t{0};
    out.cnp = out.opcode == cnp_opcode;
    out.destination_qp = out.roce ? load_be<std::uint32_t>(frame + bth + 4) & 0xFF'FFFFU : 0;
    return true;
}

// What nearly every frame is: untagged, for this port, IPv4 without options or IPv6 without extension
// headers, whole, and UDP, RoCEv2 or not. `out` is then what `parse_any` says of it, and the answer true;
// else nothing is said. `addresses` is usual_addresses() of the port's station. Conditions that do not depend
// on each other are one branch.
inline bool parse_usual(std::span<const std::uint8_t> view, std::uint32_t frame_bytes,
                        const UsualOctets& addresses, Parsed& out) {
    constexpr std::size_t l3 = sizeof(EthernetHeader);
    constexpr std::size_t l4_v4 = l3 + sizeof(Ipv4Header);
    constexpr std::size_t l4_v6 = l3 + sizeof(Ipv6Header);
    constexpr std::size_t transport = sizeof(UdpHeader) + sizeof(Bth);
    // EtherType, version and header length, from octet 8 on; what a fragment's flags and offset leave open,
    // and the protocol, from octet 16 on.
    constexpr UsualOctets v4_type{{0, 0, 0, 0, 0x08, 0x00, 0x45}, {0, 0, 0, 0, 0xFF, 0xFF, 0xFF}};
    constexpr UsualOctets v4_protocol{{0, 0, 0, 0, 0, 0, 0, ip_protocol::udp},
                                      {0, 0, 0, 0, 0x3F, 0xFF, 0, 0xFF}};
    constexpr UsualOctets v6_type{{0, 0, 0, 0, 0x86, 0xDD, 0x60}, {0, 0, 0, 0, 0xFF, 0xFF, 0xF0}};
    constexpr UsualOctets v6_protocol{{0, 0, 0, 0, ip_protocol::udp}, {0, 0, 0, 0, 0xFF}};
    if (view.size() < l4_v4 + transport || frame_bytes > max_frame_bytes) return false;
    const std::uint8_t* const frame = view.data();
    const std::uint64_t not_ours = addresses.differ(frame);
    if ((not_ours | v4_type.differ(frame + 8) | v4_protocol.differ(frame + 16)) == 0) [[likely]] {
        const auto& ip = *reinterpret_cast<const Ipv4Header*>(frame + l3);
        const bool judged = judged_octets[ip.source.bytes[0]] || judged_octets[ip.destination.bytes[0]];
        return !judged && ip.ttl > 1 && checksum_is_right_20(frame + l3) &&
               parse_usual_udp<FrameKind::ipv4, l4_v4>(frame, frame_bytes, ip.total_length.get(), ip.tos,
                                                       out);
    }
    if ((not_ours | v6_type.differ(frame + 8) | v6_protocol.differ(frame + 16)) != 0 ||
        view.size() < l4_v6 + transport)
        return false;
    const auto& ip = *reinterpret_cast<const Ipv6Header*>(frame + l3);
    // Rules speak of addresses whose first octet is 0, 0xFE or 0xFF (RFC 4291 2.5 and 2.7).
    const auto judged = [](std::uint8_t first) { return static_cast<std::uint8_t>(first + 2U) <= 2; };
    const unsigned tos = unsigned{load_be<std::uint16_t>(frame + l3)} >> 4 & 0xFFU;
    return !judged(ip.source[0]) && !judged(ip.destination[0]) && ip.hop_limit > 1 &&
           parse_usual_udp<FrameKind::ipv6, l4_v6>(frame, frame_bytes,
                                                   sizeof(Ipv6Header) + ip.payload_length.get(), tos, out);
}

}  // namespace sluice
