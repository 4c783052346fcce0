#include "lib/punt/punt.hh"

namespace sluice {
namespace {

constexpr MacAddress broadcast{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

// Router and neighbor solicitations, advertisements and redirects (RFC 4861 4).
bool is_neighbor_discovery(std::span<const std::uint8_t> packet) {
    return packet.size() > sizeof(Ipv6Header) &&
           packet[offsetof(Ipv6Header, next_header)] == ip_protocol::icmpv6 &&
           packet[sizeof(Ipv6Header)] >= icmp6_type::router_solicitation &&
           packet[sizeof(Ipv6Header)] <= icmp6_type::redirect;
}

// Group destinations that stay on the link: 224.0.0.0/24 (RFC 5771 4), scopes 1 and 2 (RFC 4291 2.7).
std::optional<PuntClass> of_group(std::uint16_t type, std::span<const std::uint8_t> packet,
                                  const MacAddress& to) {
    if (type == ether_type::ipv6) {
        if (is_neighbor_discovery(packet)) return PuntClass::arp_nd;
        if (packet.size() < sizeof(Ipv6Header)) return std::nullopt;
        const std::uint8_t* group = packet.data() + offsetof(Ipv6Header, destination);
        const unsigned scope = group[1] & 0xFU;
        return group[0] == 0xFF && (scope == 1 || scope == 2) ? std::optional(PuntClass::control)
                                                              : std::nullopt;
    }
    if (packet.size() < sizeof(Ipv4Header)) return std::nullopt;
    const std::uint32_t group = load_be<std::uint32_t>(packet.data() + offsetof(Ipv4Header, destination));
    return to == broadcast || group >> 8 == 0xE0'0000 ? std::optional(PuntClass::control) : std::nullopt;
}

}  // namespace

std::optional<PuntClass> punt_class(DropReason reason, std::span<const std::uint8_t> view,
                                    const MacAddress& own) {
    const auto layers = frame_layers(view);
    if (!layers) return std::nullopt;
    const auto packet = view.subspan(layers->l3_offset);
    const MacAddress to = MacAddress::at(view.data());
    switch (reason) {
        case DropReason::not_ip:
            if (to != own && !to.is_group()) return std::nullopt;
            return layers->type == ether_type::arp ? PuntClass::arp_nd : PuntClass::control;
        case DropReason::multicast:
            return of_group(layers->type, packet, to);
        case DropReason::link_local:
        case DropReason::local_address:
            return layers->type == ether_type::ipv6 && is_neighbor_discovery(packet) ? PuntClass::arp_nd
                                                                                     : PuntClass::local;
        case DropReason::ttl_expired:
            return PuntClass::ttl;
        case DropReason::mtu_exceeded:
            return PuntClass::mtu;
        case DropReason::unresolved_next_hop:
            return PuntClass::unresolved;
        default:
            return std::nullopt;
    }
}

}  // namespace sluice
