// The ECMP hash: 32 bits from bounds-checked headers and a per-switch seed, never from the NIC.
//
// Two or three rounds of a 64 x 64 -> 128 bit multiply with the halves folded (the mixer of wyhash). A CRC
// would be as cheap but is linear: two switches with different seeds would then split their flows alike
// (polarisation).
#pragma once

#include <cstdint>

#include "lib/headers.hh"
#include "lib/parse.hh"

namespace sluice {

struct HashKey {
    std::uint64_t seed = 1;
    bool roce_qp = false;  // the destination QP of RoCEv2 takes part
};

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// `l3` points at the IP header that `parse` accepted.
inline std::uint32_t flow_hash(const Parsed& parsed, const std::uint8_t* l3, const HashKey& key) {
    constexpr std::uint64_t c0 = 0xA076'1D64'78BD'642F;  // odd constants with balanced bits, as in wyhash
    constexpr std::uint64_t c1 = 0xE703'7ED1'A0B4'28DB;
    constexpr std::uint64_t c2 = 0x8EBC'6AF0'9C88'C6E3;
    const std::uint64_t qp = key.roce_qp && parsed.roce ? parsed.destination_qp : 0;
    // All fragments of a packet take one path; of IPv6 only the first tells what stands behind its options.
    const std::uint64_t protocol = parsed.fragment ? 0 : parsed.protocol;
    const std::uint64_t ports = std::uint64_t{parsed.source_port} << 48 |
                                std::uint64_t{parsed.destination_port} << 32 | qp << 8 | protocol;
    const std::uint64_t seed = key.seed * c0;  // small seeds differ in a few low bits: spread them first
    std::uint64_t hash = 0;
    if (parsed.kind == FrameKind::ipv4) {
        hash = mix(load_be<std::uint64_t>(l3 + 12) ^ c1, ports ^ seed);  // source and destination
    } else {
        hash = mix(load_be<std::uint64_t>(l3 + 8) ^ c1, load_be<std::uint64_t>(l3 + 16) ^ ports ^ seed);
        hash = mix(load_be<std::uint64_t>(l3 + 24) ^ c2, load_be<std::uint64_t>(l3 + 32) ^ hash);
    }
    hash = mix(hash ^ c0, seed ^ c2);  // nothing that flows differ in goes through one round only
    return static_cast<std::uint32_t>(hash >> 32 ^ hash);
}

}  // namespace sluice
