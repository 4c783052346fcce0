#include "lib/punt/icmp_reply.hh"

#include <algorithm>
#include <array>

#include "lib/frame/ip_header.hh"

namespace sluice {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Frame = std::vector<std::uint8_t>;
using V6 = std::array<std::uint8_t, 16>;

constexpr std::size_t min_frame_bytes = 60;
// Class selector 7, network control (RFC 1812 4.3.2.5); CNPs have 6 to themselves.
constexpr std::uint8_t error_dscp = 56;
constexpr std::uint16_t dont_fragment = 0x4000;
constexpr std::size_t icmp_header_bytes = 8;

namespace icmp_type {
constexpr std::uint8_t echo_reply = 0;
constexpr std::uint8_t unreachable = 3;
constexpr std::uint8_t echo_request = 8;
constexpr std::uint8_t time_exceeded = 11;
}  // namespace icmp_type

const Ipv4Header& v4(Bytes packet) { return *reinterpret_cast<const Ipv4Header*>(packet.data()); }
const Ipv6Header& v6(Bytes packet) { return *reinterpret_cast<const Ipv6Header*>(packet.data()); }
bool is_v6(Bytes packet) { return packet[0] >> 4 == 6; }

Frame icmp_packet(const IpHeader& header, Frame icmp) {
    store_be<std::uint16_t>(&icmp[2], 0);
    store_be<std::uint16_t>(&icmp[2], header.to.is_v6
                                          ? icmp6_checksum(header.from.bytes, header.to.bytes, icmp)
                                          : internet_checksum(icmp));
    Frame packet;
    append_ip_header(packet, header, icmp.size());
    packet.insert(packet.end(), icmp.begin(), icmp.end());
    return packet;
}

std::uint8_t icmp_of(bool of_v6) { return of_v6 ? ip_protocol::icmpv6 : ip_protocol::icmp; }

// The message up to its quotation.
Frame icmp_header(std::uint8_t type, std::uint8_t code, std::uint32_t rest) {
    Frame icmp(icmp_header_bytes);
    icmp[0] = type;
    icmp[1] = code;
    store_be<std::uint32_t>(&icmp[4], rest);
    return icmp;
}

// Empty for an IPv4 packet too big that may be fragmented.
Frame error_message(const IpAddress& from, Bytes packet, const IcmpError& error) {
    struct Code {
        std::uint8_t type, code;
    };
    // By kind; of IPv4, then of IPv6.
    constexpr std::array<std::array<Code, 2>, 3> codes{{{{{icmp_type::time_exceeded, 0}, {3, 0}}},
                                                        {{{icmp_type::unreachable, 4}, {2, 0}}},
                                                        {{{icmp_type::unreachable, 3}, {1, 4}}}}};
    const bool of_v6 = is_v6(packet);
    const bool too_big = error.kind == IcmpError::Kind::too_big;
    if (too_big && !of_v6 && (v4(packet).fragment.get() & dont_fragment) == 0) return {};
    const auto [type, code] = codes[static_cast<std::size_t>(error.kind)][of_v6 ? 1 : 0];
    Frame icmp = icmp_header(type, code, too_big ? error.mtu : 0);
    // RFC 1812 4.3.2.3, RFC 4443 2.4 (c).
    const std::size_t most =
        (of_v6 ? 1280 - sizeof(Ipv6Header) : 576 - sizeof(Ipv4Header)) - icmp_header_bytes;
    const Bytes quoted = packet.first(std::min(packet.size(), most));
    icmp.insert(icmp.end(), quoted.begin(), quoted.end());
    return icmp_packet({from, source_of(of_v6, packet.data()), error_dscp << 2, icmp_of(of_v6)},
                       std::move(icmp));
}

// The queries and answers of RFC 792 and RFC 950; any other type may be an error.
bool is_icmp_query(std::uint8_t type) {
    return type == icmp_type::echo_reply || type == icmp_type::echo_request || (type >= 9 && type <= 10) ||
           (type >= 13 && type <= 18);
}

}  // namespace

Frame reply_frame(Bytes link, const MacAddress& from, const MacAddress& to, Bytes body) {
    Frame frame;
    frame.reserve(std::max(link.size() + body.size(), min_frame_bytes));
    frame.insert(frame.end(), to.bytes.begin(), to.bytes.end());
    frame.insert(frame.end(), from.bytes.begin(), from.bytes.end());
    frame.insert(frame.end(), link.begin() + 12, link.end());
    frame.insert(frame.end(), body.begin(), body.end());
    if (frame.size() < min_frame_bytes) frame.resize(min_frame_bytes);
    return frame;
}

std::uint16_t icmp6_checksum(const V6& source, const V6& destination, Bytes message) {
    Frame all;
    all.reserve(40 + message.size());
    all.insert(all.end(), source.begin(), source.end());
    all.insert(all.end(), destination.begin(), destination.end());
    all.resize(40);
    store_be<std::uint32_t>(&all[32], static_cast<std::uint32_t>(message.size()));
    all[39] = ip_protocol::icmpv6;
    all.insert(all.end(), message.begin(), message.end());
    return internet_checksum(all);
}

Frame neighbor_advertisement(Bytes link, const MacAddress& mac, const Advertisement& what) {
    constexpr std::uint32_t router = 1U << 31;
    constexpr std::uint32_t solicited = 1U << 30;
    constexpr std::uint32_t override_flag = 1U << 29;
    constexpr IpAddress all_nodes{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, true};
    constexpr MacAddress all_nodes_mac{{0x33, 0x33, 0, 0, 0, 1}};
    Frame icmp = icmp_header(icmp6_type::neighbor_advertisement, 0,
                             router | (what.to ? solicited : 0) | (what.overrides ? override_flag : 0));
    icmp.insert(icmp.end(), what.target.bytes.begin(), what.target.bytes.end());
    icmp.insert(icmp.end(), {2, 1});  // target link-layer address, 8 bytes
    icmp.insert(icmp.end(), mac.bytes.begin(), mac.bytes.end());
    const IpHeader header{what.from, what.to.value_or(all_nodes), error_dscp << 2, ip_protocol::icmpv6, 0,
                          255};
    return reply_frame(link, mac, what.to ? what.to_mac : all_nodes_mac,
                       icmp_packet(header, std::move(icmp)));
}

IpTransport ip_transport(Bytes packet, bool of_v6) {
    IpTransport out;
    if (!of_v6) {
        const std::uint16_t fragment = v4(packet).fragment.get();
        out.protocol = v4(packet).protocol;
        out.offset = std::size_t{v4(packet).version_ihl & 0xFU} * 4;
        out.fragment = (fragment & 0x3FFF) != 0;
        out.first = (fragment & 0x1FFF) == 0;
        return out;
    }
    out.protocol = v6(packet).next_header;
    out.offset = sizeof(Ipv6Header);
    while (out.first) {
        std::size_t bytes = 8;
        const bool more = packet.size() >= out.offset + bytes;
        const std::uint8_t* header = packet.data() + out.offset;
        switch (out.protocol) {
            case ip_protocol::hop_by_hop:
            case ip_protocol::routing:
            case ip_protocol::destination_options:
                if (more) bytes = (std::size_t{header[1]} + 1) * 8;
                break;
            case ip_protocol::authentication:
                if (more) bytes = (std::size_t{header[1]} + 2) * 4;
                break;
            case ip_protocol::fragment:
                if (more) {
                    out.fragment = (load_be<std::uint16_t>(header + 2) & 0xFFF9) != 0;
                    out.first = (load_be<std::uint16_t>(header + 2) & 0xFFF8) == 0;
                }
                break;
            default:
                return out;
        }
        if (packet.size() < out.offset + bytes) {
            out.protocol = ip_protocol::no_next;
            return out;
        }
        out.protocol = header[0];
        out.offset += bytes;
    }
    return out;
}

Frame echo_reply(Bytes link, const MacAddress& mac, const MacAddress& to, Bytes packet) {
    const bool of_v6 = is_v6(packet);
    const Bytes message = packet.subspan(ip_transport(packet, of_v6).offset);
    const std::uint8_t request = of_v6 ? icmp6_type::echo_request : icmp_type::echo_request;
    if (message.size() < icmp_header_bytes || message[0] != request || message[1] != 0) return {};
    const IpAddress from = source_of(of_v6, packet.data()), own = destination_of(of_v6, packet.data());
    const std::uint16_t checksum =
        of_v6 ? icmp6_checksum(from.bytes, own.bytes, message) : internet_checksum(message);
    if (checksum != 0) return {};
    Frame icmp(message.begin(), message.end());
    icmp[0] = of_v6 ? icmp6_type::echo_reply : icmp_type::echo_reply;
    const unsigned tos = of_v6 ? v6(packet).version_class_flow.get() >> 20 : v4(packet).tos;
    const IpHeader header{own, from, static_cast<std::uint8_t>(tos & 0xFC), icmp_of(of_v6)};
    return reply_frame(link, mac, to, icmp_packet(header, std::move(icmp)));
}

bool may_report(Bytes packet, bool of_v6) {
    const IpTransport transport = ip_transport(packet, of_v6);
    if (!transport.first) return false;
    if (transport.protocol != icmp_of(of_v6)) return true;
    if (transport.offset >= packet.size()) return false;
    const std::uint8_t type = packet[transport.offset];
    return of_v6 ? type >= 128 && type != icmp6_type::redirect : is_icmp_query(type);
}

Frame icmp_error(Bytes link, const MacAddress& mac, const MacAddress& to, const IpAddress& from, Bytes packet,
                 const IcmpError& error) {
    const Frame body = error_message(from, packet, error);
    return body.empty() ? body : reply_frame(link, mac, to, body);
}

}  // namespace sluice
