// The ECMP hash: 32 bits from bounds-checked headers and a per-switch seed, never from the NIC.
//
// Two or three rounds of a 64 x 64 -> 128 bit multiply with the halves folded (the mixer of wyhash). A CRC
// would be as cheap but is linear: two switches with different seeds would then split their flows alike
// (polarisation).
#pragma once

#include <cstdint>

#include "lib/frame/headers.hh"
#include "lib/frame/parse.hh"

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

// The hash under one key, for many packets.
class FlowHash {
  public:
    // Small seeds differ in a few low bits: spread them first.
    explicit FlowHash(const HashKey& key)
        : seed_(key.seed * c0),
          last_(seed_ ^ c2),
          fields_(key.roce_qp ? ~std::uint64_t{0} : ~FlowFields::qp_bits) {}

    // `l3` points at the IP header that `parse` accepted.
    std::uint32_t operator()(const Parsed& parsed, const std::uint8_t* l3) const {
        const std::uint64_t flow = (parsed.flow.bits() & fields_) ^ seed_;
        std::uint64_t hash = 0;
        if (parsed.kind == FrameKind::ipv4) {
            hash = mix(load_be<std::uint64_t>(l3 + 12) ^ c1, flow);  // source and destination
        } else {
            hash = mix(load_be<std::uint64_t>(l3 + 8) ^ c1, load_be<std::uint64_t>(l3 + 16) ^ flow);
            hash = mix(load_be<std::uint64_t>(l3 + 24) ^ c2, load_be<std::uint64_t>(l3 + 32) ^ hash);
        }
        hash = mix(hash ^ c0, last_);  // nothing that flows differ in goes through one round only
        return static_cast<std::uint32_t>(hash >> 32 ^ hash);
    }

  private:
    static constexpr std::uint64_t c0 =
        0xA076'1D64'78BD'642F;  // odd constants with balanced bits, as in wyhash
    static constexpr std::uint64_t c1 = 0xE703'7ED1'A0B4'28DB;
    static constexpr std::uint64_t c2 = 0x8EBC'6AF0'9C88'C6E3;

    std::uint64_t seed_;
    std::uint64_t last_;    // of the last round
    std::uint64_t fields_;  // those that take part
};

inline std::uint32_t flow_hash(const Parsed& parsed, const std::uint8_t* l3, const HashKey& key) {
    return FlowHash(key)(parsed, l3);
}

}  // namespace sluice
