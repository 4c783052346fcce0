// Internet checksum (RFC 1071) and its incremental update (RFC 1624, equation 3), and the two changes that a
// router makes to an IP header: TTL minus one and ECT to CE. Both leave the RoCEv2 ICRC valid.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lib/frame/headers.hh"

namespace sluice {

// Checksum to store, in host order; 0 over a header whose stored checksum is right.
inline std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) {
    std::uint32_t sum = 0;
    std::size_t i = 0;
    for (; i + 1 < bytes.size(); i += 2) sum += load_be<std::uint16_t>(bytes.data() + i);
    if (i < bytes.size()) sum += std::uint32_t{bytes[i]} << 8;
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

// True when an IPv4 header of exactly 20 bytes, not all of them 0, has the right checksum. A ones-complement
// sum does not depend on byte order, so native words are added; 2^16 and so 2^64 is 1 modulo 0xFFFF, so
// carries come back in, and folding is a remainder.
inline bool checksum_is_right_20(const std::uint8_t* header) {
    std::uint64_t sum = 0, second = 0;
    std::uint32_t last = 0;
    std::memcpy(&sum, header, 8);
    std::memcpy(&second, header + 8, 8);
    std::memcpy(&last, header + 16, 4);
    sum += second;
    sum += sum < second;
    sum += last;
    sum += sum < last;
    // sum % 0xFFFF == 0, without the division that compilers may take for it.
    constexpr std::uint64_t inverse = 0xFFFE'FFFE'FFFE'FFFF;
    static_assert(inverse * 0xFFFF == 1);
    return sum * inverse <= UINT64_MAX / 0xFFFF;
}

// RFC 1624 eqn 3: HC' = ~(~HC + ~m + m'), for one 16-bit word that changes from `before` to `after`.
constexpr std::uint16_t updated_checksum(std::uint16_t checksum, std::uint16_t before, std::uint16_t after) {
    std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
    sum += static_cast<std::uint16_t>(~before);
    sum += after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

// TTL minus one; TTL > 1. TTL is the upper octet of its word, so the word falls by 0x100 and the checksum
// rises by as much, with end-around carry; 0xFFFF becomes 0, as in equation 3. In wire order, which does not
// matter to a ones-complement sum, that is a 1 in the first octet. TTL, protocol and checksum change as one
// number, whose lowest octet is TTL.
inline void decrement_ttl(Ipv4Header& ip) {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::size_t at = offsetof(Ipv4Header, ttl);
    static_assert(offsetof(Ipv4Header, checksum) == at + 2);
    auto* octets = reinterpret_cast<std::uint8_t*>(&ip) + at;
    std::uint32_t word = 0;
    std::memcpy(&word, octets, sizeof word);
    constexpr std::uint32_t one = 1U << 16;  // of the checksum
    const bool carries = word >= 0xFFFE * one;
    word += one - 1;
    if (carries) [[unlikely]]
        word += one;
    std::memcpy(octets, &word, sizeof word);
}

// ECT to CE in the IP header at `l3`, IPv4 or IPv6. IPv6: ECN is bits 5:4 of byte 1, and there is no
// checksum.
inline void set_ce(std::uint8_t* l3) {
    if (l3[0] >> 4 == 6) {
        l3[1] = static_cast<std::uint8_t>(l3[1] | 0x30U);
        return;
    }
    auto& ip = *reinterpret_cast<Ipv4Header*>(l3);
    const auto before = static_cast<std::uint16_t>(ip.version_ihl << 8 | ip.tos);
    ip.tos = static_cast<std::uint8_t>(ip.tos | 3U);
    const auto after = static_cast<std::uint16_t>(ip.version_ihl << 8 | ip.tos);
    ip.checksum.set(updated_checksum(ip.checksum.get(), before, after));
}

}  // namespace sluice
