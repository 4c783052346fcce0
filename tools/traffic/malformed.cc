#include "tools/traffic/frame.hh"

#include <algorithm>
#include <array>
#include <vector>

#include "lib/values/endian.hh"
#include "tools/traffic/icrc.hh"

namespace sluice::traffic {
namespace {

using enum Malformation;

constexpr std::uint32_t giant_bytes = 9500;
constexpr std::size_t runt_bytes = 46;
constexpr std::size_t max_tags = 12;
constexpr MacAddress broadcast_mac{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
constexpr MacAddress lldp_mac{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E}};
constexpr MacAddress stranger_mac{{0x02, 0xDE, 0xAD, 0xBE, 0xEF, 0x00}};

IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) { return {{a, b, c, d}, false}; }

IpAddress v6(std::uint8_t first, std::uint8_t second, std::uint8_t last) {
    IpAddress address{{}, true};
    address.bytes[0] = first;
    address.bytes[1] = second;
    address.bytes[15] = last;
    return address;
}

// Storage for the headers that a variant adds; `link` and `ip` point into it.
struct Additions {
    std::array<Tag, max_tags> tags;
    std::array<std::uint8_t, 512> extra{};
};

void add_tags(LinkFields& link, Additions& additions, std::initializer_list<Tag> outer) {
    auto end = std::ranges::copy(outer, additions.tags.begin()).out;
    end = std::ranges::copy(link.tags, end).out;
    link.tags = {additions.tags.begin(), end};
}

// An extension header of `bytes` (8..256) filled with one PadN option; returns its end.
std::size_t put_padding_header(Additions& additions, std::size_t at, std::uint8_t next, std::size_t bytes) {
    additions.extra[at] = next;
    additions.extra[at + 1] = static_cast<std::uint8_t>(bytes / 8 - 1);
    additions.extra[at + 2] = 1;
    additions.extra[at + 3] = static_cast<std::uint8_t>(bytes - 4);
    return at + bytes;
}

void add_headers(IpFields& ip, Additions& additions, Malformation which, std::uint64_t turn) {
    std::size_t end = 0;
    if (which == options) {
        end = 40;
        std::fill_n(additions.extra.begin(), end - 1, std::uint8_t{1});  // no-operation; then end of list
    } else if (which == ipv6_extension || which == long_options_chain) {
        ip.first_extension = ip_protocol::hop_by_hop;
        end = put_padding_header(additions, 0, ip_protocol::destination_options,
                                 which == ipv6_extension ? 8 : 256);
        end = put_padding_header(additions, end, ip_protocol::udp, which == ipv6_extension ? 8 : 64);
    } else if (which == fragment && ip.source.is_v6) {
        ip.first_extension = ip_protocol::fragment;
        end = 8;
        additions.extra[0] = ip_protocol::udp;
        store_be<std::uint16_t>(&additions.extra[2],
                                turn % 2 == 0 ? 0x0001 : 0x0400);  // more to come; at byte 1024
        store_be<std::uint32_t>(&additions.extra[4], static_cast<std::uint32_t>(turn / 2 + 1));
    }
    ip.extra = std::span{additions.extra}.first(end);
}

// Changes made before the frame is built: the rest of it follows them.
void change_fields(Malformation which, LinkFields& link, IpFields& ip, PayloadSpec& spec,
                   Additions& additions) {
    const bool is_v6 = ip.source.is_v6;
    const Tag one{ether_type::vlan, 0x6064};  // PCP 3, VLAN 100
    if (which == ttl_0) ip.ttl = 0;
    if (which == ttl_1) ip.ttl = 1;
    if (which == martian_source) ip.source = is_v6 ? v6(0, 0, 1) : v4(127, 0, 0, 1);
    if (which == group_source_mac) link.source.bytes[0] |= 1;
    if (which == multicast) {
        ip.destination = is_v6 ? v6(0xFF, 0x0E, 1) : v4(239, 1, 2, 3);
        link.destination =
            is_v6 ? MacAddress{{0x33, 0x33, 0, 0, 0, 1}} : MacAddress{{0x01, 0, 0x5E, 1, 2, 3}};
    }
    if (which == broadcast) {
        ip.destination = v4(255, 255, 255, 255);
        link.destination = broadcast_mac;
    }
    if (which == wrong_mac) link.destination = stranger_mac;
    if (which == giant) spec.bytes = std::max(spec.bytes, giant_bytes);
    if (which == tagged) add_tags(link, additions, {one});
    if (which == priority_tagged) add_tags(link, additions, {{ether_type::vlan, 0x6000}});
    if (which == qinq) add_tags(link, additions, {{ether_type::qinq, 0x60C8}, one});
    if (which == three_tags) add_tags(link, additions, {one, one, one});
}

void add_to_be16(std::uint8_t* at, int change) {
    store_be<std::uint16_t>(at, static_cast<std::uint16_t>(load_be<std::uint16_t>(at) + change));
}

// The IP length, at its place in either version.
void set_ip_length(Frame& frame, bool is_v6, int behind_fixed_header) {
    store_be<std::uint16_t>(
        &frame.bytes[frame.network + (is_v6 ? 4 : 2)],
        static_cast<std::uint16_t>(behind_fixed_header + (is_v6 ? 0 : int{sizeof(Ipv4Header)})));
}

// Changes made to the finished frame: nothing else follows them but the IPv4 checksum.
void change_bytes(Frame& frame, Malformation which, bool is_v6, std::uint64_t turn) {
    std::uint8_t* ip = &frame.bytes[frame.network];
    if (which == truncated) frame.captured = frame.length / 2;
    if (which == short_ip) set_ip_length(frame, is_v6, is_v6 ? 4 : -1);
    if (which == bad_checksum) ip[10] ^= 0x55;
    if (which == bad_version) ip[0] = static_cast<std::uint8_t>(0x50 | (ip[0] & 0xF));
    if (which == bad_ihl) ip[0] = 0x44;
    if (which == fragment && !is_v6)
        store_be<std::uint16_t>(ip + 6, turn % 2 == 0 ? 0x2000 : 0x0080);  // more to come; at byte 1024
    if (which == short_bth) {
        constexpr std::size_t length = sizeof(UdpHeader) + sizeof(Bth) / 2;
        set_ip_length(frame, is_v6, length);
        store_be<std::uint16_t>(&frame.bytes[frame.transport + 4], length);
        end_ethernet(frame, frame.transport + length);
    }
    if (which == bad_udp_length) add_to_be16(&frame.bytes[frame.transport + 4], 100);
    if (which == length_beyond_frame) add_to_be16(ip + (is_v6 ? 4 : 2), 100);
    if (which == unknown_ethertype) store_be<std::uint16_t>(ip - 2, 0x88B5);
    if (which == bad_icrc) {
        const std::size_t length = load_be<std::uint16_t>(ip + (is_v6 ? 4 : 2));
        ip[length + (is_v6 ? sizeof(Ipv6Header) : 0) - 1] ^= 0x01;
    }
    if (!is_v6 && which != bad_checksum && which != bad_version) set_ipv4_checksum(frame);
}

void build_arp(Frame& frame, LinkFields link, const IpFields& ip) {
    link.destination = broadcast_mac;
    begin_ethernet(frame, link, ether_type::arp);
    std::uint8_t* at = &frame.bytes[frame.network];
    constexpr std::array<std::uint8_t, 8> request{0, 1, 0x08, 0, 6, 4, 0, 1};
    at = std::ranges::copy(request, at).out;
    at = std::ranges::copy(link.source.bytes, at).out;
    at = std::copy_n(ip.source.bytes.begin(), 4, at);
    at = std::fill_n(at, 6, std::uint8_t{0});
    at = std::copy_n(ip.destination.bytes.begin(), 4, at);
    end_ethernet(frame, static_cast<std::size_t>(at - frame.bytes.data()));
}

void build_lldp(Frame& frame, LinkFields link) {
    link.destination = lldp_mac;
    link.tags = {};
    begin_ethernet(frame, link, ether_type::lldp);
    std::uint8_t* at = &frame.bytes[frame.network];
    at = std::ranges::copy(std::array<std::uint8_t, 3>{0x02, 7, 4}, at).out;  // chassis: MAC
    at = std::ranges::copy(link.source.bytes, at).out;
    // port: name "p0"; time to live 120 s; end
    at = std::ranges::copy(std::array<std::uint8_t, 11>{0x04, 3, 5, 'p', '0', 0x06, 2, 0, 120, 0, 0}, at).out;
    end_ethernet(frame, static_cast<std::size_t>(at - frame.bytes.data()));
}

void build_runt(Frame& frame, LinkFields link, const IpFields& ip, const RoceFields& roce, PayloadSpec spec) {
    link.tags = {};
    spec.bytes = runt_bytes;
    build_udp(frame, link, ip, roce.source_port, roce_udp_port, spec);
    frame.length = frame.captured = runt_bytes;
}

}  // namespace

void build_malformed(Frame& frame, Malformation which, LinkFields link, IpFields ip, const RoceFields& roce,
                     const PayloadSpec& spec, std::uint64_t turn) {
    if (which == arp) return build_arp(frame, link, ip);
    if (which == lldp) return build_lldp(frame, link);
    if (which == runt) return build_runt(frame, link, ip, roce, spec);
    Additions additions;
    PayloadSpec changed = spec;
    add_headers(ip, additions, which, turn);
    change_fields(which, link, ip, changed, additions);
    build_roce(frame, link, ip, roce, changed);
    change_bytes(frame, which, ip.source.is_v6, turn);
}

}  // namespace sluice::traffic
