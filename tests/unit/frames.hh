// Frames for tests, layer by layer: each function makes a layer around its payload, right in length and
// checksum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "lib/frame/checksum.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/parse.hh"
#include "lib/values/endian.hh"

namespace sluice::frames {

using Frame = std::vector<std::uint8_t>;

inline constexpr Station station{{{2, 0, 0, 0, 0xFF, 1}}, false};
inline constexpr std::uint32_t v4_host = 0x0A000002;   // 10.0.0.2
inline constexpr std::uint32_t v4_other = 0x0A000102;  // 10.0.1.2

inline void put16(Frame& frame, std::size_t at, unsigned value) {
    store_be<std::uint16_t>(&frame[at], static_cast<std::uint16_t>(value));
}
inline void put32(Frame& frame, std::size_t at, std::uint32_t value) {
    store_be<std::uint32_t>(&frame[at], value);
}

inline Frame joined(std::initializer_list<Frame> parts) {
    Frame all;
    for (const Frame& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

inline Frame ethernet(unsigned type, const Frame& payload, std::initializer_list<unsigned> tags = {}) {
    Frame frame = {2, 0, 0, 0, 0xFF, 1, 2, 0, 0, 0, 0, 1};
    const auto add16 = [&](unsigned value) {
        frame.push_back(static_cast<std::uint8_t>(value >> 8));
        frame.push_back(static_cast<std::uint8_t>(value));
    };
    for (const unsigned tag : tags) {  // TPID in the upper half, TCI in the lower
        add16(tag >> 16);
        add16(tag & 0xFFFF);
    }
    add16(type);
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

inline void fix_checksum(Frame& ip) {
    const std::size_t bytes = std::size_t{ip[0] & 0xFU} * 4;
    put16(ip, 10, 0);
    put16(ip, 10, internet_checksum(std::span<const std::uint8_t>(ip).first(bytes)));
}

struct V4 {
    std::uint32_t source = v4_host;
    std::uint32_t destination = v4_other;
    std::uint8_t protocol = ip_protocol::udp;
    std::uint8_t ttl = 64;
    std::uint8_t tos = 0;
    unsigned fragment = 0;
    unsigned options = 0;  // bytes
};

inline Frame ipv4(const Frame& payload, const V4& set = {}) {
    Frame ip(20 + set.options, 1);  // no-operation
    ip[0] = static_cast<std::uint8_t>(0x40 | ip.size() / 4);
    ip[1] = set.tos;
    put16(ip, 2, static_cast<unsigned>(ip.size() + payload.size()));
    put16(ip, 4, 7);
    put16(ip, 6, set.fragment);
    ip[8] = set.ttl;
    ip[9] = set.protocol;
    put32(ip, 12, set.source);
    put32(ip, 16, set.destination);
    fix_checksum(ip);
    return joined({ip, payload});
}

using V6Address = std::array<std::uint8_t, 16>;
inline constexpr V6Address v6_host{0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
inline constexpr V6Address v6_other{0x20, 1, 0x0D, 0xB8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

inline V6Address v6(std::uint8_t first, std::uint8_t second, std::uint8_t last) {
    V6Address address{};
    address[0] = first;
    address[1] = second;
    address[15] = last;
    return address;
}

struct V6 {
    V6Address source = v6_host;
    V6Address destination = v6_other;
    std::uint8_t next = ip_protocol::udp;
    std::uint8_t hops = 64;
    std::uint8_t traffic_class = 0;
};

inline Frame ipv6(const Frame& payload, const V6& set = {}) {
    Frame ip(40);
    put32(ip, 0, 6U << 28 | std::uint32_t{set.traffic_class} << 20);
    put16(ip, 4, static_cast<unsigned>(payload.size()));
    ip[6] = set.next;
    ip[7] = set.hops;
    std::copy(set.source.begin(), set.source.end(), ip.begin() + 8);
    std::copy(set.destination.begin(), set.destination.end(), ip.begin() + 24);
    return joined({ip, payload});
}

// An extension header of `bytes` (a multiple of 8).
inline Frame extension(std::uint8_t next, unsigned bytes) {
    Frame header(bytes, 0);
    header[0] = next;
    header[1] = static_cast<std::uint8_t>(bytes / 8 - 1);
    return header;
}

inline Frame fragment_header(std::uint8_t next, unsigned offset_and_more) {
    Frame header(8, 0);
    header[0] = next;
    put16(header, 2, offset_and_more);
    return header;
}

inline Frame udp(unsigned source, unsigned destination, const Frame& payload = {}) {
    Frame header(8);
    put16(header, 0, source);
    put16(header, 2, destination);
    put16(header, 4, static_cast<unsigned>(8 + payload.size()));
    return joined({header, payload});
}

inline Frame bth(std::uint8_t opcode, std::uint32_t qp) {
    Frame header(12);
    header[0] = opcode;
    put16(header, 2, 0xFFFF);
    put32(header, 4, 0xFF000000 | qp);  // byte 4 is not part of the QP
    return header;
}

inline Frame roce(std::uint8_t opcode = 4, std::uint32_t qp = 0x123456) {
    return udp(49152, roce_udp_port, joined({bth(opcode, qp), Frame(20)}));
}

inline Frame v4_frame(const Frame& payload = udp(1000, 2000, Frame(18)), const V4& set = {}) {
    return ethernet(ether_type::ipv4, ipv4(payload, set));
}
inline Frame v6_frame(const Frame& payload = udp(1000, 2000, Frame(18)), const V6& set = {}) {
    return ethernet(ether_type::ipv6, ipv6(payload, set));
}

}  // namespace sluice::frames
