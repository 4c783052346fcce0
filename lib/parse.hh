// What a frame is: one pass over its first bytes, every bound checked, nothing copied.
//
// `parse` looks at `view`, the first min(frame_bytes, parse_view_bytes) bytes of a frame of `frame_bytes`
// (Ethernet header to payload, no FCS). It applies the checks of RFC 1812 5.2 and 5.3 in the order of
// drop_reasons.def and stops at the first that fails. It knows nothing of ports, routes or queues.
// A fragment other than the first has no transport header: it is IP, never RoCE.
#pragma once

#include <cstdint>
#include <span>

#include "lib/drop_reason.hh"
#include "lib/headers.hh"
#include "lib/ids.hh"

namespace sluice {

constexpr std::size_t parse_view_bytes = 256;

// Which destination MAC a port takes for its own.
struct Station {
    MacAddress mac;
    bool promiscuous = false;  // any unicast destination
};

enum class FrameKind : std::uint8_t { other, mac_control, ipv4, ipv6 };

struct Parsed {
    // The first eight bytes are the same in nearly all frames, and written as one.
    DropReason drop = DropReason::none;
    FrameKind kind = FrameKind::other;
    std::uint8_t tags = 0;        // VLAN tags, 0..2
    std::uint8_t pcp = 0;         // of the outer tag; 0 without
    std::uint8_t protocol = 0;    // of the transport header, behind IPv6 extension headers
    bool fragment = false;        // any fragment, the first included
    std::uint16_t l3_offset = 0;  // bytes from the start of the frame
    std::uint8_t dscp = 0;        // 0..63
    Ecn ecn = Ecn::not_ect;
    bool roce = false;                   // UDP 4791 with a whole BTH
    bool cnp = false;                    // RoCEv2 opcode 0x81
    std::uint8_t opcode = 0;             // BTH opcode
    std::uint16_t ip_bytes = 0;          // IP packet, header included; never beyond the frame
    std::uint16_t destination_port = 0;  // TCP and UDP, 0 in a fragment
    std::uint16_t source_port = 0;
    std::uint32_t destination_qp = 0;  // 24 bits; 0 without a BTH
};

Parsed parse(std::span<const std::uint8_t> view, std::uint32_t frame_bytes, const Station& station);
// The same header by header, without the shortcut of parse_usual.hh.
Parsed parse_any(std::span<const std::uint8_t> view, std::uint32_t frame_bytes, const Station& station);

}  // namespace sluice
