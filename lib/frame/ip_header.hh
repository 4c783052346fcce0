// Builds the IP header of a packet that the switch itself sends, of either family and without options.
#pragma once

#include <algorithm>
#include <vector>

#include "lib/frame/checksum.hh"
#include "lib/frame/ip_address.hh"

namespace sluice {

struct IpHeader {
    IpAddress from, to;  // of one family
    std::uint8_t tos = 0;
    std::uint8_t protocol = 0;
    std::uint16_t flags = 0;  // IPv4's, with the fragment offset
    std::uint8_t hop_limit = 64;
};

template <class Header>
void append_header(std::vector<std::uint8_t>& packet, const Header& header) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&header);
    packet.insert(packet.end(), bytes, bytes + sizeof header);
}

inline void append_ip_header(std::vector<std::uint8_t>& packet, const IpHeader& header,
                             std::size_t payload_bytes) {
    if (header.to.is_v6) {
        Ipv6Header ip{};
        ip.version_class_flow.set(6U << 28 | std::uint32_t{header.tos} << 20);
        ip.payload_length.set(static_cast<std::uint16_t>(payload_bytes));
        ip.next_header = header.protocol;
        ip.hop_limit = header.hop_limit;
        ip.source = header.from.bytes;
        ip.destination = header.to.bytes;
        return append_header(packet, ip);
    }
    Ipv4Header ip{};
    ip.version_ihl = 0x45;
    ip.tos = header.tos;
    ip.total_length.set(static_cast<std::uint16_t>(sizeof ip + payload_bytes));
    ip.fragment.set(header.flags);
    ip.ttl = header.hop_limit;
    ip.protocol = header.protocol;
    std::copy_n(header.from.bytes.begin(), 4, ip.source.bytes.begin());
    std::copy_n(header.to.bytes.begin(), 4, ip.destination.bytes.begin());
    ip.checksum.set(internet_checksum({reinterpret_cast<const std::uint8_t*>(&ip), sizeof ip}));
    append_header(packet, ip);
}

}  // namespace sluice
