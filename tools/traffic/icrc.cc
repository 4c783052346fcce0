#include "tools/traffic/icrc.hh"

#include <algorithm>
#include <array>

#include "lib/frame/headers.hh"
#include "lib/values/endian.hh"
#include "tools/traffic/dissect.hh"

namespace sluice::traffic {
namespace {

using Bytes = std::span<const std::uint8_t>;
// Takes a byte at a time, from the polynomial: slow, and hard to get wrong.
constexpr auto effect_of_byte = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
        table[b] = crc;
    }
    return table;
}();

std::uint32_t update(std::uint32_t crc, Bytes bytes) {
    for (const std::uint8_t byte : bytes) crc = (crc >> 8) ^ effect_of_byte[(crc ^ byte) & 0xFFU];
    return crc;
}

// The ICRC ends at `ip_end`.
std::optional<Dissection> find_roce(Bytes frame) {
    const Dissection d = dissect(frame);
    if (d.transport == 0 || d.fragment || d.protocol != ip_protocol::udp || d.ip_end > frame.size())
        return std::nullopt;
    if (d.ip_end < d.transport + sizeof(UdpHeader) + sizeof(Bth) + icrc_bytes) return std::nullopt;
    if (load_be<std::uint16_t>(&frame[d.transport + 2]) != roce_udp_port) return std::nullopt;
    if (load_be<std::uint16_t>(&frame[d.transport + 4]) != d.ip_end - d.transport) return std::nullopt;
    return d;
}

std::uint32_t compute(Bytes frame, const Dissection& d) {
    std::array<std::uint8_t, 8 + sizeof(Ipv6Header)> network;
    network.fill(0xFF);
    const bool is_v6 = d.ip_version == 6;
    const std::size_t header = is_v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header);
    std::copy_n(&frame[d.network], header, &network[8]);
    std::uint8_t* ip = &network[8];
    if (is_v6) {
        ip[0] |= 0x0F;
        ip[1] = ip[2] = ip[3] = 0xFF;
        ip[7] = 0xFF;
    } else {
        ip[1] = ip[8] = ip[10] = ip[11] = 0xFF;
    }
    std::array<std::uint8_t, sizeof(UdpHeader) + sizeof(Bth)> transport;
    std::copy_n(&frame[d.transport], transport.size(), transport.begin());
    transport[6] = transport[7] = 0xFF;
    transport[sizeof(UdpHeader) + 4] = 0xFF;

    const std::size_t options = d.network + header;
    const std::size_t rest = d.transport + transport.size();
    std::uint32_t crc = update(0xFFFFFFFF, Bytes{network}.first(8 + header));
    crc = update(crc, frame.subspan(options, d.transport - options));
    crc = update(crc, transport);
    return ~update(crc, frame.subspan(rest, d.ip_end - icrc_bytes - rest));
}

}  // namespace

std::optional<std::uint32_t> icrc_of(Bytes frame) {
    const auto d = find_roce(frame);
    return d ? std::optional(compute(frame, *d)) : std::nullopt;
}

std::optional<std::uint32_t> icrc_carried(Bytes frame) {
    const auto d = find_roce(frame);
    if (!d) return std::nullopt;
    return __builtin_bswap32(load_be<std::uint32_t>(&frame[d->ip_end - icrc_bytes]));
}

bool set_icrc(std::span<std::uint8_t> frame) {
    const auto d = find_roce(frame);
    if (!d) return false;
    const std::size_t carried = d->ip_end - icrc_bytes;
    const auto packet = frame.subspan(d->network, carried - d->network);
    roce::store_icrc(&frame[carried], roce::icrc(packet, d->transport - d->network));
    return true;
}

}  // namespace sluice::traffic
