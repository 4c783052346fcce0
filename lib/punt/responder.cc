#include "lib/punt/responder.hh"

#include <algorithm>

#include "lib/frame/parse.hh"
#include "lib/punt/icmp_reply.hh"

namespace sluice {
namespace {

using Bytes = std::span<const std::uint8_t>;

bool is_unspecified(const IpAddress& address) { return address.bytes == IpAddress{}.bytes; }

bool is_own(const ResponderPort& port, const IpAddress& address) {
    return std::any_of(port.own.begin(), port.own.end(),
                       [&](const IpPrefix& own) { return own.address == address; });
}

bool is_proxied(const ResponderPort& port, const IpAddress& address) {
    return port.proxied && port.proxied(address);
}

// The port's first address of a family; null: it has none.
const IpAddress* own_address(const ResponderPort& port, bool v6) {
    const auto found = std::find_if(port.own.begin(), port.own.end(),
                                    [&](const IpPrefix& own) { return own.address.is_v6 == v6; });
    return found == port.own.end() ? nullptr : &found->address;
}

bool is_for(const MacAddress& to, const ResponderPort& port) { return to == port.mac || to.is_group(); }

std::vector<std::uint8_t> answer_arp(Bytes frame, std::size_t at, const ResponderPort& port) {
    constexpr std::size_t bytes = 28;
    constexpr std::uint64_t request = 0x0001'0800'0604'0001;  // Ethernet, IPv4, their lengths, request
    if (frame.size() < at + bytes || load_be<std::uint64_t>(frame.data() + at) != request) return {};
    if (!is_for(MacAddress::at(frame.data()), port)) return {};
    const std::uint8_t* arp = frame.data() + at;
    const MacAddress sender = MacAddress::at(arp + 8);
    const IpAddress sender_ip = address_at(false, arp + 14);
    const IpAddress target = address_at(false, arp + 24);
    if (sender.is_group() || sender_ip == target) return {};
    // A proxy does not answer a probe (RFC 5227): it does not have the address.
    if (!is_own(port, target) && (is_unspecified(sender_ip) || !is_proxied(port, target))) return {};
    std::vector<std::uint8_t> body(arp, arp + bytes);
    body[7] = 2;
    std::copy_n(port.mac.bytes.begin(), 6, &body[8]);
    std::copy_n(target.bytes.begin(), 4, &body[14]);
    std::copy_n(arp + 8, 10, &body[18]);  // the asking host
    return reply_frame(frame.first(at), port.mac, sender, body);
}

// RFC 4861 7.1.1: options fill the rest, none without length, no source address where it says there is none.
bool are_options_good(Bytes options, bool has_source) {
    constexpr std::uint8_t source_link_layer = 1;
    while (!options.empty()) {
        if (options.size() < 2) return false;
        const std::size_t bytes = std::size_t{options[1]} * 8;
        if (bytes == 0 || bytes > options.size()) return false;
        if (options[0] == source_link_layer && !has_source) return false;
        options = options.subspan(bytes);
    }
    return true;
}

// ff02::1:ff00:0/104 and the last 24 bits of the target (RFC 4291 2.7.1).
bool is_solicited_node(const IpAddress& group, const IpAddress& target) {
    constexpr std::array<std::uint8_t, 13> prefix{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF};
    return std::equal(prefix.begin(), prefix.end(), group.bytes.begin()) &&
           std::equal(group.bytes.begin() + 13, group.bytes.end(), target.bytes.begin() + 13);
}

std::vector<std::uint8_t> answer_solicitation(Bytes frame, std::size_t at, const ResponderPort& port) {
    constexpr std::size_t ip_bytes = sizeof(Ipv6Header);
    constexpr std::size_t fixed = 24;  // of the message, before its options
    const Bytes packet = frame.subspan(at);
    if (packet.size() < ip_bytes + fixed || !is_for(MacAddress::at(frame.data()), port)) return {};
    const auto& ip = *reinterpret_cast<const Ipv6Header*>(packet.data());
    const std::size_t bytes = ip.payload_length.get();
    if (ip.version_class_flow.get() >> 28 != 6 || ip.next_header != ip_protocol::icmpv6 ||
        ip.hop_limit != 255 || bytes < fixed || packet.size() < ip_bytes + bytes)
        return {};
    const Bytes message = packet.subspan(ip_bytes, bytes);
    const IpAddress source = address_at(true, ip.source.data());
    const IpAddress destination = address_at(true, ip.destination.data());
    const IpAddress target = address_at(true, message.data() + 8);
    const bool probe = is_unspecified(source);
    if (message[0] != icmp6_type::neighbor_solicitation || message[1] != 0 || target.bytes[0] == 0xFF ||
        source.bytes[0] == 0xFF || !are_options_good(message.subspan(fixed), !probe) ||
        icmp6_checksum(ip.source, ip.destination, message) != 0)
        return {};
    if (destination != target && !is_solicited_node(destination, target)) return {};
    if (probe && destination == target) return {};
    const bool own = is_own(port, target);
    const IpAddress* from = own ? &target : own_address(port, true);
    if (!own && (probe || from == nullptr || !is_proxied(port, target))) return {};
    return neighbor_advertisement(
        frame.first(at), port.mac,
        {*from, target, probe ? std::nullopt : std::optional(source), own, MacAddress::at(frame.data() + 6)});
}

bool is_solicitation(const FrameLayers& layers, Bytes frame) {
    const std::size_t type = layers.l3_offset + sizeof(Ipv6Header);
    return layers.type == ether_type::ipv6 && frame.size() > type &&
           frame[layers.l3_offset + offsetof(Ipv6Header, next_header)] == ip_protocol::icmpv6 &&
           frame[type] == icmp6_type::neighbor_solicitation;
}

// A directed broadcast of one of the port's subnets is not a single host (RFC 1812 5.3.5.2).
bool is_subnet_broadcast(const ResponderPort& port, const IpAddress& source) {
    const std::uint32_t address = load_be<std::uint32_t>(source.bytes.data());
    return std::any_of(port.own.begin(), port.own.end(), [&](const IpPrefix& own) {
        if (own.address.is_v6 || own.length > 30) return false;
        const std::uint32_t hosts = 0xFFFF'FFFFU >> own.length;
        return address == (load_be<std::uint32_t>(own.address.bytes.data()) | hosts);
    });
}

struct Received {
    Bytes link;    // Ethernet header and tags
    Bytes packet;  // IP, whole
    bool v6;
    MacAddress from;
    IpAddress source, destination;
};

std::vector<std::uint8_t> error_about(const Received& in, const ResponderPort& port, IcmpError error) {
    const IpAddress* from = own_address(port, in.v6);
    if (from == nullptr || !may_report(in.packet, in.v6)) return {};
    return icmp_error(in.link, port.mac, in.from, *from, in.packet, error);
}

std::vector<std::uint8_t> answer_local(const Received& in, const ResponderPort& port) {
    const IpTransport transport = ip_transport(in.packet, in.v6);
    if (transport.fragment) return {};
    if (transport.protocol == (in.v6 ? ip_protocol::icmpv6 : ip_protocol::icmp))
        return echo_reply(in.link, port.mac, in.from, in.packet);
    if (transport.protocol == ip_protocol::udp)
        return error_about(in, port, {IcmpError::Kind::port_unreachable, 0});
    return {};
}

}  // namespace

std::vector<std::uint8_t> respond(Bytes frame, const ResponderPort& port, std::uint16_t exceeded_mtu) {
    const auto layers = frame_layers(frame);
    if (!layers || frame.size() > max_frame_bytes || MacAddress::at(frame.data() + 6).is_group()) return {};
    if (layers->type == ether_type::arp) return answer_arp(frame, layers->l3_offset, port);
    if (is_solicitation(*layers, frame)) return answer_solicitation(frame, layers->l3_offset, port);
    const Parsed parsed = parse_any(frame.first(std::min(frame.size(), parse_view_bytes)),
                                    static_cast<std::uint32_t>(frame.size()), {port.mac, port.promiscuous});
    const bool sound = parsed.drop == DropReason::none || parsed.drop == DropReason::ttl_expired ||
                       parsed.drop == DropReason::link_local;
    if (!sound || (parsed.kind != FrameKind::ipv4 && parsed.kind != FrameKind::ipv6)) return {};
    const bool v6 = parsed.kind == FrameKind::ipv6;
    const std::uint8_t* ip = frame.data() + parsed.l3_offset;
    const Received in{frame.first(parsed.l3_offset),
                      frame.subspan(parsed.l3_offset, parsed.ip_bytes),
                      v6,
                      MacAddress::at(frame.data() + 6),
                      source_of(v6, ip),
                      destination_of(v6, ip)};
    const auto is_local = [&](const IpAddress& address) {
        return std::binary_search(port.local.begin(), port.local.end(), address);
    };
    if (is_local(in.source) || (!in.v6 && is_subnet_broadcast(port, in.source))) return {};
    if (is_local(in.destination)) return answer_local(in, port);
    if (parsed.drop == DropReason::ttl_expired)
        return error_about(in, port, {IcmpError::Kind::time_exceeded, 0});
    if (parsed.drop == DropReason::none && exceeded_mtu != 0 && parsed.ip_bytes > exceeded_mtu)
        return error_about(in, port, {IcmpError::Kind::too_big, exceeded_mtu});
    return {};
}

}  // namespace sluice
