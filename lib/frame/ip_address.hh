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

// Addresses that no packet may come from or go to: a rule for each family.
//
// IPv4: RFC 1812 5.3.7 and RFC 6890 ("this network", loopback, multicast, class E, limited broadcast) and RFC
// 3927 (link-local). IPv6: RFC 4291 2.5 and 2.7 (unspecified, loopback, multicast, link-local). The parser
// drops such packets. Its shortcut tests the first octet only.
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

// IPv4 in the first 4 bytes, or IPv6, which sorts after all IPv4.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};
    bool is_v6 = false;
    bool operator==(const IpAddress&) const = default;
    std::strong_ordering operator<=>(const IpAddress& other) const {
        return is_v6 != other.is_v6 ? is_v6 <=> other.is_v6 : bytes <=> other.bytes;
    }
};

// RFC 3927 and RFC 4291 2.5.6: several ports may have the same one behind them.
inline bool is_link_local(const IpAddress& address) {
    return address.is_v6 ? is_link_local(address.bytes) : address.bytes[0] == 169 && address.bytes[1] == 254;
}

// The address at `bytes`, in network order.
inline IpAddress address_at(bool is_v6, const std::uint8_t* bytes) {
    IpAddress address;
    address.is_v6 = is_v6;
    std::memcpy(address.bytes.data(), bytes, is_v6 ? 16 : 4);
    return address;
}

// The addresses of a whole IP header at `l3`.
inline IpAddress destination_of(bool is_v6, const std::uint8_t* l3) {
    return address_at(is_v6,
                      l3 + (is_v6 ? offsetof(Ipv6Header, destination) : offsetof(Ipv4Header, destination)));
}

inline IpAddress source_of(bool is_v6, const std::uint8_t* l3) {
    return address_at(is_v6, l3 + (is_v6 ? offsetof(Ipv6Header, source) : offsetof(Ipv4Header, source)));
}

// A prefix sorts before those that it contains.
struct IpPrefix {
    IpAddress address;  // host bits kept for an interface address, zero for a route
    std::uint8_t length = 0;
    auto operator<=>(const IpPrefix&) const = default;
};

}  // namespace sluice
