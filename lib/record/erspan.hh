// Mirrored frames on their way to a remote collector: ERSPAN type III (draft-foschiano-erspan-03) behind GRE
// with a sequence number (RFC 2784, RFC 2890), in IPv4 or IPv6.
//
// The header has the time of day in nanoseconds (granularity "IEEE 1588": nanoseconds in the timestamp,
// seconds in a subheader of platform 5), port and direction, the traffic class as COS, the session, and
// whether the frame was cut. The unused security group tag carries the event (erspan_tag). The egress port of
// a dropped frame, its ingress sequence, and its wait have no field.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/record/mirror.hh"

namespace sluice {

constexpr std::uint16_t max_erspan_session = 0x3FF;
// Bytes of the IP packet in front of the mirrored frame.
constexpr std::size_t gre_header_bytes = 8, erspan_header_bytes = 20;
constexpr std::size_t erspan_packet_bytes(bool v6) {
    return (v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header)) + gre_header_bytes + erspan_header_bytes;
}

struct ErspanPath {
    std::span<const std::uint8_t> link;  // Ethernet header and tags, the last EtherType left open
    IpAddress from, to;                  // of one family
    std::uint8_t dscp = 0;
    std::uint16_t session = 0;   // at most max_erspan_session
    std::uint32_t sequence = 0;  // of its packets
};

// 0xEQRR. E: 1 a drop, 2 a delay, 3 a pause; Q: its queue, 0xF without one; RR: the reason's number in
// lib/frame/drop_reasons.def, from 1.
std::uint16_t erspan_tag(const MirrorHead& head);

// The whole frame. `bytes`: the mirrored frame's first; `stamp_ns`: since 1970.
std::vector<std::uint8_t> erspan_frame(const MirrorHead& head, std::span<const std::uint8_t> bytes,
                                       std::uint64_t stamp_ns, const ErspanPath& path);

// True when a frame that begins with `bytes`, which may be invalid, is ERSPAN of any type.
bool is_erspan(std::span<const std::uint8_t> bytes);

}  // namespace sluice
