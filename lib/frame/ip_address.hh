// Addresses and prefixes of both families, as configuration and control have them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/frame/headers.hh"
#include "lib/frame/martian.hh"

namespace sluice {

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
