// The frames of `respond`, byte by byte: Ethernet, IP and ICMP headers, with their checksums.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"

namespace sluice {

// Tags and EtherType are those of `link`. At least 60 bytes.
std::vector<std::uint8_t> reply_frame(std::span<const std::uint8_t> link, const MacAddress& from,
                                      const MacAddress& to, std::span<const std::uint8_t> body);

// Over a message whose stored checksum is right: 0.
std::uint16_t icmp6_checksum(const std::array<std::uint8_t, 16>& source,
                             const std::array<std::uint8_t, 16>& destination,
                             std::span<const std::uint8_t> message);

struct Advertisement {
    IpAddress from;
    IpAddress target;
    std::optional<IpAddress> to;  // the host that asked; nothing: all nodes
    bool overrides;               // false: as a proxy
    MacAddress to_mac;
};
std::vector<std::uint8_t> neighbor_advertisement(std::span<const std::uint8_t> link, const MacAddress& mac,
                                                 const Advertisement& what);

// The part behind a valid IP header. `fragment`: any at all.
struct IpTransport {
    std::uint8_t protocol = 0;
    std::size_t offset = 0;  // at most the packet's length
    bool fragment = false;
    bool first = true;  // of a fragmented packet; else the bytes at `offset` are payload
};
IpTransport ip_transport(std::span<const std::uint8_t> packet, bool v6);

// Empty unless the packet, whole and of either family, is an echo request with the right checksum.
std::vector<std::uint8_t> echo_reply(std::span<const std::uint8_t> link, const MacAddress& mac,
                                     const MacAddress& to, std::span<const std::uint8_t> packet);

struct IcmpError {
    enum class Kind : std::uint8_t { time_exceeded, too_big, port_unreachable };
    Kind kind;
    std::uint16_t mtu;  // of too_big, in bytes of an IP packet
};

// True when an error about this packet of unicast addresses is allowed: it is not itself an ICMP error, nor a
// later fragment.
bool may_report(std::span<const std::uint8_t> packet, bool v6);
// Empty for an IPv4 packet too big that may be fragmented.
std::vector<std::uint8_t> icmp_error(std::span<const std::uint8_t> link, const MacAddress& mac,
                                     const MacAddress& to, const IpAddress& from,
                                     std::span<const std::uint8_t> packet, const IcmpError& error);

}  // namespace sluice
