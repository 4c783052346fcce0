#include "lib/frame/trim.hh"

#include <algorithm>

#include "lib/frame/checksum.hh"
#include "lib/frame/headers.hh"

namespace sluice {
namespace {

constexpr unsigned ecn_mask = 3;  // of IPv4's TOS and IPv6's traffic class; DSCP is the rest

// The IP packet within the frame, and the bytes of it that may stay.
struct IpPacket {
    std::span<std::uint8_t> head;
    std::uint32_t room;   // of the frame, behind its Ethernet header
    std::uint32_t stays;  // likewise, by the policy

    std::uint32_t cut(std::uint32_t header_bytes) const {
        return std::min(room, std::max(stays, header_bytes));
    }
};

bool is_trimmable(const TrimPolicy& policy, unsigned tos) {
    return (policy.trimmable >> (tos >> 2) & 1U) != 0;
}

std::uint8_t trimmed_tos(const TrimPolicy& policy, unsigned tos) {
    return static_cast<std::uint8_t>(unsigned{policy.dscp} << 2 | (tos & ecn_mask));
}

std::optional<std::uint32_t> trim_ipv4(const IpPacket& packet, const TrimPolicy& policy) {
    if (packet.head.size() < sizeof(Ipv4Header)) return std::nullopt;
    auto& ip = *reinterpret_cast<Ipv4Header*>(packet.head.data());
    constexpr std::uint32_t first_group = 0xE000'0000;  // 224.0.0.0
    const std::uint32_t header_bytes = (ip.version_ihl & 0xFU) * 4U;
    const std::uint16_t length = ip.total_length.get();
    if (ip.version_ihl >> 4 != 4 || header_bytes < sizeof ip || length < header_bytes ||
        length > packet.room || ip.destination.get() >= first_group || !is_trimmable(policy, ip.tos))
        return std::nullopt;
    const std::uint32_t stays = packet.cut(header_bytes);
    const auto first_word = [&] { return static_cast<std::uint16_t>(ip.version_ihl << 8 | ip.tos); };
    const std::uint16_t before = first_word();
    ip.tos = trimmed_tos(policy, ip.tos);
    ip.total_length.set(static_cast<std::uint16_t>(std::min<std::uint32_t>(length, stays)));
    ip.checksum.set(updated_checksum(updated_checksum(ip.checksum.get(), before, first_word()), length,
                                     ip.total_length.get()));
    return stays;
}

std::optional<std::uint32_t> trim_ipv6(const IpPacket& packet, const TrimPolicy& policy) {
    if (packet.head.size() < sizeof(Ipv6Header)) return std::nullopt;
    auto& ip = *reinterpret_cast<Ipv6Header*>(packet.head.data());
    constexpr unsigned class_at = 20;  // bits of version_class_flow below the traffic class
    const std::uint32_t word = ip.version_class_flow.get();
    const unsigned tos = word >> class_at & 0xFF;
    const std::uint16_t length = ip.payload_length.get();
    if (word >> 28 != 6 || length > packet.room - std::min<std::uint32_t>(packet.room, sizeof ip) ||
        ip.destination[0] == 0xFF || !is_trimmable(policy, tos))
        return std::nullopt;
    const std::uint32_t stays = packet.cut(sizeof ip);
    ip.version_class_flow.set((word & ~(0xFFU << class_at)) | std::uint32_t{trimmed_tos(policy, tos)}
                                                                  << class_at);
    ip.payload_length.set(
        static_cast<std::uint16_t>(std::min<std::uint32_t>(length, stays - std::uint32_t{sizeof ip})));
    return stays;
}

}  // namespace

std::optional<std::uint32_t> trim_headers(std::span<std::uint8_t> head, std::uint32_t frame_bytes,
                                          const TrimPolicy& policy) {
    const auto layers = frame_layers(head);
    if (!layers || MacAddress::at(head.data()).is_group()) return std::nullopt;
    const auto link_bytes = static_cast<std::uint32_t>(layers->l3_offset);
    const IpPacket packet{head.subspan(link_bytes), frame_bytes - link_bytes, policy.bytes - link_bytes};
    const auto stays = layers->type == ether_type::ipv4   ? trim_ipv4(packet, policy)
                       : layers->type == ether_type::ipv6 ? trim_ipv6(packet, policy)
                                                          : std::nullopt;
    if (!stays) return std::nullopt;
    if (link_bytes > sizeof(EthernetHeader))  // PCP from the class, as of a routed packet
        head[14] = static_cast<std::uint8_t>((head[14] & 0x1FU) | policy.traffic_class << 5U);
    return link_bytes + *stays;
}

}  // namespace sluice
