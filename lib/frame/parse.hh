// Parses a frame: one pass over its first bytes, every bound checked, nothing copied.
//
// `parse` reads `view`, the first min(frame_bytes, parse_view_bytes) bytes of a frame of `frame_bytes`
// (Ethernet header to payload, no FCS). It applies the checks of RFC 1812 5.2 and 5.3 in the order of
// drop_reasons.def and stops at the first that fails. A fragment other than the first has no transport
// header: it is IP, never RoCE.
#pragma once

#include <cstdint>
#include <span>

#include "lib/frame/drop_reason.hh"
#include "lib/frame/headers.hh"
#include "lib/values/ids.hh"

namespace sluice {

constexpr std::size_t parse_view_bytes = 256;

// The destination MAC that a port accepts.
struct Station {
    MacAddress mac;
    bool promiscuous = false;  // any unicast destination
};

enum class FrameKind : std::uint8_t { other, mac_control, ipv4, ipv6 };

// The fields that distinguish flows between two hosts, in one number, as the flow hash takes it.
class FlowFields {
  public:
    constexpr FlowFields() = default;
    // `ports`: the source's in the upper half. `qp`: 24 bits.
    constexpr FlowFields(std::uint32_t ports, std::uint32_t qp, std::uint8_t protocol)
        : bits_(std::uint64_t{ports} << 32 | std::uint64_t{qp} << 8 | protocol) {}
    constexpr explicit FlowFields(std::uint64_t bits) : bits_(bits) {}
    constexpr std::uint16_t source_port() const { return static_cast<std::uint16_t>(bits_ >> 48); }
    constexpr std::uint16_t destination_port() const { return static_cast<std::uint16_t>(bits_ >> 32); }
    constexpr std::uint32_t destination_qp() const { return bits_ >> 8 & 0xFF'FFFF; }
    constexpr std::uint64_t bits() const { return bits_; }
    static constexpr std::uint64_t qp_bits = std::uint64_t{0xFF'FFFF} << 8;
    bool operator==(const FlowFields&) const = default;

  private:
    std::uint64_t bits_ = 0;
};

struct alignas(32) Parsed {  // its index is a shift
    // The first eight are alike in nearly all frames, and are written as one number.
    DropReason drop = DropReason::none;
    FrameKind kind = FrameKind::other;
    std::uint8_t tags = 0;       // VLAN tags, 0..max_vlan_tags
    std::uint8_t l3_offset = 0;  // bytes from the start of the frame
    std::uint8_t protocol = 0;   // of the transport header, behind IPv6 extension headers
    bool fragment = false;       // any fragment, the first included
    bool roce = false;           // UDP 4791 with a whole BTH
    bool cnp = false;            // RoCEv2 opcode 0x81
    std::uint8_t pcp = 0;        // of the outer tag; 0 without
    std::uint8_t tos = 0;        // IPv4's TOS, IPv6's traffic class: DSCP and ECN
    std::uint8_t opcode = 0;     // BTH opcode
    std::uint16_t ip_bytes = 0;  // IP packet, header included; never beyond the frame
    FlowFields flow;             // ports of TCP and UDP, QP of a BTH, protocol; 0 in a fragment

    std::uint8_t dscp() const { return tos >> 2; }
    Ecn ecn() const { return static_cast<Ecn>(tos & 3U); }
    // Everything that decides the class of an untagged frame, as one number.
    static constexpr unsigned class_keys = 3 * 256;
    static constexpr unsigned class_key_of(bool roce, bool cnp, std::uint8_t tos) {
        return (unsigned{roce} + unsigned{cnp}) << 8 | tos;  // a CNP is RoCE, too
    }
    unsigned class_key() const { return class_key_of(roce, cnp, tos); }
    bool operator==(const Parsed&) const = default;
};

Parsed parse(std::span<const std::uint8_t> view, std::uint32_t frame_bytes, const Station& station);
// The same header by header, without the shortcut of parse_usual.hh.
Parsed parse_any(std::span<const std::uint8_t> view, std::uint32_t frame_bytes, const Station& station);

}  // namespace sluice
