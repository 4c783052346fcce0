#include "tools/traffic/dissect.hh"

#include <algorithm>

#include "lib/values/endian.hh"

namespace sluice::traffic {
namespace {

using Bytes = std::span<const std::uint8_t>;

bool has(Bytes frame, std::size_t offset, std::size_t count) {
    return offset <= frame.size() && frame.size() - offset >= count;
}

IpAddress address_at(Bytes frame, std::size_t offset, bool is_v6) {
    IpAddress address;
    address.is_v6 = is_v6;
    std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(offset), is_v6 ? 16 : 4, address.bytes.begin());
    return address;
}

void dissect_ipv4(Bytes frame, Dissection& d) {
    const std::size_t at = d.network;
    if (!has(frame, at, sizeof(Ipv4Header)) || frame[at] >> 4 != 4) return;
    d.ip_version = 4;
    d.tos = frame[at + 1];
    d.source = address_at(frame, at + 12, false);
    d.destination = address_at(frame, at + 16, false);
    const std::size_t header = (frame[at] & 0xFU) * 4;
    const std::size_t total = load_be<std::uint16_t>(&frame[at + 2]);
    const unsigned fragment = load_be<std::uint16_t>(&frame[at + 6]) & 0x3FFFU;
    d.fragment = fragment != 0;
    d.protocol = frame[at + 9];
    if (header < sizeof(Ipv4Header) || total < header) return;
    d.ip_end = at + total;
    if ((fragment & 0x1FFFU) == 0 && has(frame, at, header)) d.transport = at + header;
}

void dissect_ipv6(Bytes frame, Dissection& d) {
    std::size_t at = d.network;
    if (!has(frame, at, sizeof(Ipv6Header)) || frame[at] >> 4 != 6) return;
    d.ip_version = 6;
    d.tos = static_cast<std::uint8_t>((load_be<std::uint16_t>(&frame[at]) >> 4) & 0xFFU);
    d.source = address_at(frame, at + 8, true);
    d.destination = address_at(frame, at + 24, true);
    d.ip_end = at + sizeof(Ipv6Header) + load_be<std::uint16_t>(&frame[at + 4]);
    d.protocol = frame[at + 6];
    at += sizeof(Ipv6Header);
    for (unsigned headers = 0; headers < 16; ++headers) {
        std::size_t length = 0;
        switch (d.protocol) {
            case ip_protocol::hop_by_hop:
            case ip_protocol::routing:
            case ip_protocol::destination_options:
                if (!has(frame, at, 2)) return;
                length = (frame[at + 1] + 1U) * 8;
                break;
            case ip_protocol::fragment: {
                if (!has(frame, at, 8)) return;
                const unsigned offset_flags = load_be<std::uint16_t>(&frame[at + 2]);
                d.fragment = d.fragment || (offset_flags & 0xFFF9U) != 0;
                if ((offset_flags & 0xFFF8U) != 0) return;
                length = 8;
                break;
            }
            default:
                d.transport = at;
                return;
        }
        if (!has(frame, at, length)) return;
        d.protocol = frame[at];
        at += length;
    }
}

}  // namespace

Dissection dissect(Bytes frame) {
    Dissection d;
    std::size_t at = 12;
    while (has(frame, at, 2)) {
        d.ether_type = load_be<std::uint16_t>(&frame[at]);
        const bool tag = d.ether_type == ether_type::vlan || d.ether_type == ether_type::qinq ||
                         d.ether_type == ether_type::qinq_old;
        if (!tag || d.tags == 8) break;
        ++d.tags;
        at += sizeof(VlanTag);
        if (!has(frame, at, 2)) d.ether_type = 0;
    }
    d.network = at + 2;
    if (d.ether_type == ether_type::ipv4) dissect_ipv4(frame, d);
    if (d.ether_type == ether_type::ipv6) dissect_ipv6(frame, d);
    return d;
}

}  // namespace sluice::traffic
