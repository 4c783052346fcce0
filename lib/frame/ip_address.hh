// Addresses and prefixes of both families, as configuration and control have them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/frame/drop_reason.hh"
#include "lib/frame/headers.hh"

namespace sluice {

// The addresses that no packet may come from or go to: one rule for each family.
//
// IPv4: RFC 1812 5.3.7 and RFC 6890 ("this network", loopback, multicast, class E, limited broadcast) and RFC
// 3927 (link-local). IPv6: RFC 4291 2.5 and 2.7 (unspecified, loopback, multicast, link-local). The parser
// drops such packets. A first octet that no rule names needs no more questions: the parser's shortcut asks
// that alone.
using Ipv6Octets = std::array<std::uint8_t, 16>;

// `none`, or why a packet with these addresses is dropped. A martian source counts before the destination.
constexpr DropReason judge_ipv4_by_rules(std::uint32_t source, std::uint32_t destination) {
    const auto first = [](std::uint32_t address) { return address >> 24; };
    if (first(source) == 0 || first(source) == 127 || first(source) >= 224) return DropReason::martian_source;
    if (first(destination) == 0 || first(destination) == 127 || first(destination) >= 240)
        return DropReason::martian_destination;
    if (first(destination) >= 224) return DropReason::multicast;
    if (source >> 16 == 0xA9FE || destination >> 16 == 0xA9FE) return DropReason::link_local;
    return DropReason::none;
}

// The first octets for which the rules may find a reason.
constexpr auto judged_ipv4_octets = [] {
    std::array<bool, 256> judged{};
    for (const unsigned octet : {0U, 127U, 0xA9U}) judged[octet] = true;
    for (unsigned octet = 224; octet < 256; ++octet) judged[octet] = true;
    return judged;
}();

constexpr DropReason judge_ipv4(std::uint32_t source, std::uint32_t destination) {
    if (!judged_ipv4_octets[source >> 24] && !judged_ipv4_octets[destination >> 24]) [[likely]]
        return DropReason::none;
    return judge_ipv4_by_rules(source, destination);
}

constexpr bool is_link_local(const Ipv6Octets& address) {
    return address[0] == 0xFE && (address[1] & 0xC0) == 0x80;
}

constexpr DropReason judge_ipv6(const Ipv6Octets& source, const Ipv6Octets& destination) {
    const auto is_unspecified_or_loopback = [](const Ipv6Octets& address) {
        for (std::size_t i = 0; i < 15; ++i)
            if (address[i] != 0) return false;
        return address[15] <= 1;
    };
    if (source[0] == 0xFF || is_unspecified_or_loopback(source)) return DropReason::martian_source;
    if (destination[0] == 0xFF) return DropReason::multicast;
    if (is_unspecified_or_loopback(destination)) return DropReason::martian_destination;
    if (is_link_local(source) || is_link_local(destination)) return DropReason::link_local;
    return DropReason::none;
}

// The first octets for which `judge_ipv6` may find a reason: 0, 0xFE and 0xFF.
constexpr bool is_judged_ipv6_octet(std::uint8_t first) { return static_cast<std::uint8_t>(first + 2U) <= 2; }

// An octet that is not judged has no reason, with any octets behind it; one that is judged has one somewhere.
static_assert([] {
    for (unsigned octet = 0; octet < 256; ++octet) {
        const std::uint32_t v4 = octet << 24;
        const bool has_v4_reason = judge_ipv4_by_rules(v4, v4) != DropReason::none ||
                                   judge_ipv4_by_rules(v4 | 0xFE'0000, v4 | 0xFE'0000) != DropReason::none;
        if (has_v4_reason != judged_ipv4_octets[octet]) return false;
        Ipv6Octets low{}, high{};
        low[0] = high[0] = static_cast<std::uint8_t>(octet);
        high[1] = 0x80;
        const bool has_v6_reason =
            judge_ipv6(low, low) != DropReason::none || judge_ipv6(high, high) != DropReason::none;
        if (has_v6_reason != is_judged_ipv6_octet(low[0])) return false;
    }
    return true;
}());

// IPv4 in the first 4 bytes, or IPv6, which sorts after all IPv4.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};
    bool is_v6 = false;
    bool operator==(const IpAddress&) const = default;
    std::strong_ordering operator<=>(const IpAddress& other) const {
        return is_v6 != other.is_v6 ? is_v6 <=> other.is_v6 : bytes <=> other.bytes;
    }
};

// RFC 3927 and RFC 4291 2.5.6: of one link, so that each port may have the same one behind it.
inline bool is_link_local(const IpAddress& address) {
    return address.is_v6 ? is_link_local(address.bytes) : address.bytes[0] == 169 && address.bytes[1] == 254;
}

// Where the packet of a whole IP header at `l3` goes.
inline IpAddress destination_of(bool is_v6, const std::uint8_t* l3) {
    IpAddress to;
    to.is_v6 = is_v6;
    if (is_v6)
        std::memcpy(to.bytes.data(), l3 + offsetof(Ipv6Header, destination), 16);
    else
        std::memcpy(to.bytes.data(), l3 + offsetof(Ipv4Header, destination), 4);
    return to;
}

// And where it comes from.
inline IpAddress source_of(bool is_v6, const std::uint8_t* l3) {
    IpAddress from;
    from.is_v6 = is_v6;
    if (is_v6)
        std::memcpy(from.bytes.data(), l3 + offsetof(Ipv6Header, source), 16);
    else
        std::memcpy(from.bytes.data(), l3 + offsetof(Ipv4Header, source), 4);
    return from;
}

// A prefix sorts before those that it contains.
struct IpPrefix {
    IpAddress address;  // host bits kept for an interface address, zero for a route
    std::uint8_t length = 0;
    auto operator<=>(const IpPrefix&) const = default;
};

}  // namespace sluice
