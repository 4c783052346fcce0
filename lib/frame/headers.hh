// Wire formats: Ethernet, 802.1Q, IPv4, IPv6, UDP, BTH, PFC. Layouts only; `parse` checks the bounds.
// Sources: IEEE 802.3 and 802.1Q, RFC 791, RFC 8200, RFC 768, IBTA RoCEv2 annex A17, IEEE 802.3 Annex 31D.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "lib/values/endian.hh"
#include "lib/values/ids.hh"

namespace sluice {

struct MacAddress {
    std::array<std::uint8_t, 6> bytes{};

    auto operator<=>(const MacAddress&) const = default;
    // In two words: each frame is compared with its port's address, and memcmp is a call.
    constexpr bool operator==(const MacAddress& other) const {
        if (std::is_constant_evaluated()) return bytes == other.bytes;
        return load<std::uint32_t>(0) == other.load<std::uint32_t>(0) &&
               load<std::uint16_t>(4) == other.load<std::uint16_t>(4);
    }
    static MacAddress at(const std::uint8_t* octets) {
        MacAddress mac;
        std::memcpy(mac.bytes.data(), octets, sizeof mac.bytes);
        return mac;
    }
    // Group bit of the first octet: multicast and broadcast.
    constexpr bool is_group() const { return (bytes[0] & 1U) != 0; }

  private:
    template <class Word>
    Word load(std::size_t at) const {
        Word word;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        return word;
    }
};

constexpr MacAddress mac_control_address{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};

namespace ether_type {
constexpr std::uint16_t ipv4 = 0x0800;
constexpr std::uint16_t arp = 0x0806;
constexpr std::uint16_t vlan = 0x8100;
constexpr std::uint16_t ipv6 = 0x86DD;
constexpr std::uint16_t mac_control = 0x8808;
constexpr std::uint16_t qinq = 0x88A8;
constexpr std::uint16_t lldp = 0x88CC;
constexpr std::uint16_t qinq_old = 0x9100;  // seen before 802.1ad settled on 0x88A8
}  // namespace ether_type

namespace ip_protocol {
constexpr std::uint8_t hop_by_hop = 0;
constexpr std::uint8_t icmp = 1;
constexpr std::uint8_t tcp = 6;
constexpr std::uint8_t udp = 17;
constexpr std::uint8_t routing = 43;
constexpr std::uint8_t fragment = 44;
constexpr std::uint8_t gre = 47;
constexpr std::uint8_t authentication = 51;
constexpr std::uint8_t icmpv6 = 58;
constexpr std::uint8_t no_next = 59;
constexpr std::uint8_t destination_options = 60;
}  // namespace ip_protocol

// RFC 4443 and RFC 4861.
namespace icmp6_type {
constexpr std::uint8_t echo_request = 128;
constexpr std::uint8_t echo_reply = 129;
constexpr std::uint8_t router_solicitation = 133;
constexpr std::uint8_t neighbor_solicitation = 135;
constexpr std::uint8_t neighbor_advertisement = 136;
constexpr std::uint8_t redirect = 137;
}  // namespace icmp6_type

namespace mac_control_opcode {
constexpr std::uint16_t pause = 0x0001;
constexpr std::uint16_t pfc = 0x0101;
}  // namespace mac_control_opcode

constexpr std::uint16_t roce_udp_port = 4791;
constexpr std::uint8_t cnp_opcode = 0x81;

// ECN field of IPv4 TOS and IPv6 traffic class (RFC 3168).
enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };

struct EthernetHeader {
    MacAddress destination;
    MacAddress source;
    Be16 type;
};
static_assert(sizeof(EthernetHeader) == 14);

struct VlanTag {
    Be16 tci;   // PCP 3 bits, DEI 1, VID 12
    Be16 type;  // of the next header
};
static_assert(sizeof(VlanTag) == 4);
constexpr unsigned max_vlan_tags = 2;  // of a frame on arrival: more are too_many_tags
// In front of an IP packet, at most.
constexpr std::uint32_t link_header_bytes = sizeof(EthernetHeader) + max_vlan_tags * sizeof(VlanTag);
static_assert(max_frame_bytes == max_mtu + link_header_bytes);

struct Ipv4Header {
    std::uint8_t version_ihl;
    std::uint8_t tos;
    Be16 total_length;
    Be16 identification;
    Be16 fragment;  // flags 3 bits, offset 13 bits in units of 8 bytes
    std::uint8_t ttl;
    std::uint8_t protocol;
    Be16 checksum;
    Be32 source;
    Be32 destination;
};
static_assert(sizeof(Ipv4Header) == 20);

struct Ipv6Header {
    Be32 version_class_flow;  // version 4 bits, traffic class 8, flow label 20
    Be16 payload_length;
    std::uint8_t next_header;
    std::uint8_t hop_limit;
    std::array<std::uint8_t, 16> source;
    std::array<std::uint8_t, 16> destination;
};
static_assert(sizeof(Ipv6Header) == 40);

struct UdpHeader {
    Be16 source_port;
    Be16 destination_port;
    Be16 length;
    Be16 checksum;
};
static_assert(sizeof(UdpHeader) == 8);

// Base transport header of RoCEv2 (IBTA 1.2.1, 9.2).
struct Bth {
    std::uint8_t opcode;  // transport 3 bits, operation 5
    std::uint8_t flags;   // SE, M, pad count 2, tver 4
    Be16 partition_key;
    Be32 destination;  // FECN, BECN, 6 reserved bits; destination QP 24
    std::uint8_t ack_request;
    std::array<std::uint8_t, 3> psn;

    std::uint32_t destination_qp() const { return destination.get() & 0xFF'FFFF; }
};
static_assert(sizeof(Bth) == 12);

// IEEE 802.3 Annex 31D; zeros follow to 60 bytes.
struct PfcFrame {
    EthernetHeader ethernet;
    Be16 opcode;
    Be16 class_enable;  // bit n: priority n; the upper byte is zero
    std::array<Be16, 8> quanta;
};
static_assert(sizeof(PfcFrame) == 34);

// The network header of any frame, also of those that `parse` refuses.
inline bool is_vlan_tag(std::uint16_t type) {
    return type == ether_type::vlan || type == ether_type::qinq || type == ether_type::qinq_old;
}

struct FrameLayers {
    std::uint16_t type = 0;     // behind the tags
    std::size_t l3_offset = 0;  // at most the frame's length
};

// Nothing: shorter than its Ethernet header and tags, or more than two tags.
inline std::optional<FrameLayers> frame_layers(std::span<const std::uint8_t> frame) {
    FrameLayers layers;
    layers.l3_offset = sizeof(EthernetHeader);
    for (unsigned tags = 0; tags <= 2; ++tags) {
        if (frame.size() < layers.l3_offset) return std::nullopt;
        layers.type = load_be<std::uint16_t>(frame.data() + layers.l3_offset - 2);
        if (!is_vlan_tag(layers.type)) return layers;
        layers.l3_offset += sizeof(VlanTag);
    }
    return std::nullopt;
}

// A packet's facts for WRED: ECN on arrival (RFC 3168), the drop precedence of its DSCP (RFC 2597), and
// whether it is exempt.
enum class Color : std::uint8_t { green, yellow, red };
constexpr unsigned colors = 3;

// Assured forwarding, AFxy with x in 1..4 (RFC 2597): the drop precedence y. All other code points are green.
constexpr auto color_by_dscp = [] {
    std::array<Color, 64> color{};
    for (unsigned af_class = 1; af_class <= 4; ++af_class)
        for (unsigned precedence = 1; precedence <= 3; ++precedence)
            color[af_class << 3 | precedence << 1] = static_cast<Color>(precedence - 1);
    return color;
}();
constexpr Color color_of(std::uint8_t dscp) { return color_by_dscp[dscp & 63U]; }

// In a byte that travels with the packet through its queue.
struct EcnBits {
    std::uint8_t bits = 0;

    static constexpr std::uint8_t exempt_bit = 16;
    static constexpr unsigned values = 32;  // of bits
    static constexpr EcnBits of(Ecn ecn, Color color, bool exempt) {
        return {static_cast<std::uint8_t>(static_cast<unsigned>(ecn) | static_cast<unsigned>(color) << 2 |
                                          (exempt ? exempt_bit : 0U))};
    }
    constexpr Ecn ecn() const { return static_cast<Ecn>(bits & 3U); }
    constexpr Color color() const { return static_cast<Color>(bits >> 2 & 3U); }
    constexpr bool is_exempt() const {
        return (bits & exempt_bit) != 0;
    }  // a CNP: neither marked nor dropped
    constexpr bool may_be_marked() const {
        return !is_exempt() && (ecn() == Ecn::ect0 || ecn() == Ecn::ect1);
    }
};
constexpr unsigned ecn_kinds = 16;  // values of bits & 15: color and ECN on arrival

}  // namespace sluice
