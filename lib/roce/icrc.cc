#include "lib/roce/icrc.hh"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>

#include "lib/frame/headers.hh"

namespace sluice::roce {
namespace {

// Continues the CRC `crc` of the bytes before; 0 at the beginning.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    return crc32_gzip_refl(crc, bytes.data(), bytes.size());
}

}  // namespace

std::uint32_t icrc(std::span<const std::uint8_t> packet, std::size_t udp) {
    constexpr std::size_t ones = 8;
    constexpr std::size_t transport_bytes = sizeof(UdpHeader) + sizeof(Bth);
    std::array<std::uint8_t, ones + sizeof(Ipv6Header) + transport_bytes> masked;
    std::fill_n(masked.begin(), ones, std::uint8_t{0xFF});
    std::uint8_t* ip = &masked[ones];
    std::size_t fixed = 0;
    if (packet[0] >> 4 == 6) {
        fixed = sizeof(Ipv6Header);
        std::copy_n(packet.begin(), sizeof(Ipv6Header), ip);
        ip[0] |= 0x0F;
        ip[1] = ip[2] = ip[3] = ip[7] = 0xFF;
    } else {
        fixed = sizeof(Ipv4Header);
        std::copy_n(packet.begin(), sizeof(Ipv4Header), ip);
        ip[1] = ip[8] = ip[10] = ip[11] = 0xFF;
    }
    std::uint32_t crc = 0;
    std::size_t head = ones + fixed;
    if (udp != fixed) [[unlikely]] {
        crc = crc32(crc, std::span(masked).first(head));
        crc = crc32(crc, packet.subspan(fixed, udp - fixed));
        head = 0;
    }
    std::uint8_t* transport = &masked[head];
    std::copy_n(&packet[udp], transport_bytes, transport);
    transport[6] = transport[7] = 0xFF;
    transport[sizeof(UdpHeader) + 4] = 0xFF;
    crc = crc32(crc, std::span(masked).first(head + transport_bytes));
    return crc32(crc, packet.subspan(udp + transport_bytes));
}

std::uint32_t load_icrc(const std::uint8_t* at) { return __builtin_bswap32(load_be<std::uint32_t>(at)); }

void store_icrc(std::uint8_t* at, std::uint32_t value) {
    store_be<std::uint32_t>(at, __builtin_bswap32(value));
}

}  // namespace sluice::roce
