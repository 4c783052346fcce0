// The shortcut of `parse` for nearly every frame, inline where frames come in.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <array>
#include <cstddef>
#include <cstring>

#include "lib/frame/checksum.hh"
#include "lib/frame/ip_address.hh"
#include "lib/frame/parse.hh"

namespace sluice {

// A pattern for the first 32 octets of a frame, and a mask of the bits that matter.
class UsualOctets {
  public:
    using Octets = std::array<std::uint8_t, 32>;
    constexpr UsualOctets(const Octets& value, const Octets& mask) : value_(value), mask_(mask) {}
    bool are_in(const std::uint8_t* frame) const {
#ifdef __AVX2__
        const auto load = [](const std::uint8_t* octets) {
            return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(octets));
        };
        return _mm256_testz_si256(_mm256_xor_si256(load(frame), load(value_.data())), load(mask_.data())) !=
               0;
#else
        std::uint64_t differ = 0;
        for (std::size_t at = 0; at < 32; at += 8) {
            const auto word = [at](const std::uint8_t* octets) {
                std::uint64_t bits;
                std::memcpy(&bits, octets + at, sizeof bits);
                return bits;
            };
            differ |= (word(frame) ^ word(value_.data())) & word(mask_.data());
        }
        return differ == 0;
#endif
    }

  private:
    alignas(32) Octets value_;
    alignas(32) Octets mask_;
};

// The first bytes of nearly every frame of a station: its MAC (any, where it is promiscuous), no group bit in
// either address, no tag or one of 802.1Q, IPv4 without options and no fragment, or IPv6, with UDP behind it.
template <unsigned tags>
struct UsualFrames {
    explicit constexpr UsualFrames(const Station& station)
        : v4(octets(station, {0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0, 0, 0, ip_protocol::udp},
                    {0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0x3F, 0xFF, 0, 0xFF})),
          v6(octets(station, {0x86, 0xDD, 0x60, 0, 0, 0, 0, 0, ip_protocol::udp},
                    {0xFF, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0xFF})) {}

    static_assert(tags <= 1);
    static constexpr std::size_t l3_offset = sizeof(EthernetHeader) + tags * sizeof(VlanTag);
    UsualOctets v4, v6;

  private:
    using FromType = std::array<std::uint8_t, 12>;  // EtherType and IP header
    static constexpr UsualOctets octets(const Station& station, const FromType& value, const FromType& mask) {
        UsualOctets::Octets all{}, matters{1, 0, 0, 0, 0, 0, 1};
        for (std::size_t i = 0; i < 6 && !station.promiscuous; ++i) {
            all[i] = station.mac.bytes[i];
            matters[i] = 0xFF;
        }
        if (tags == 1) {
            store_be<std::uint16_t>(&all[12], ether_type::vlan);
            matters[12] = matters[13] = 0xFF;
        }
        for (std::size_t i = 0; i < value.size(); ++i) {
            all[l3_offset - 2 + i] = value[i];
            matters[l3_offset - 2 + i] = mask[i];
        }
        return {all, matters};
    }
};

// The answer of parse_usual for every other frame.
constexpr int not_usual = -1;

// The flow of a RoCEv2 packet, whose UDP header and BTH lie at `udp`.
inline FlowFields roce_flow(const std::uint8_t* udp) {
#ifdef __AVX2__
    // The octets of FlowFields' number, the lowest first: protocol, QP and ports, each reversed.
    const __m128i octets = _mm_loadu_si128(reinterpret_cast<const __m128i*>(udp));
    const __m128i order = _mm_set_epi64x(-1, 0x0001'0203'0D0E'0F'FF);
    const __m128i bits = _mm_or_si128(_mm_shuffle_epi8(octets, order), _mm_cvtsi32_si128(ip_protocol::udp));
    return FlowFields(static_cast<std::uint64_t>(_mm_cvtsi128_si64(bits)));
#else
    const auto& bth = *reinterpret_cast<const Bth*>(udp + sizeof(UdpHeader));
    return {load_be<std::uint32_t>(udp), bth.destination_qp(), ip_protocol::udp};
#endif
}

// UDP behind an IP header of `l3_bytes`, in a packet of `total` bytes that is whole in the frame, and long
// enough for RoCE. RoCE data is inline, so that most of its Parsed is one number.
template <FrameKind kind, unsigned tags, std::size_t l3_bytes>
struct UsualUdp {
    static constexpr std::uint32_t l3 = UsualFrames<tags>::l3_offset;
    static constexpr std::size_t l4 = l3 + l3_bytes;
    static constexpr std::size_t bth = l4 + sizeof(UdpHeader);

    [[gnu::always_inline]] static int parse(const std::uint8_t* frame, std::uint32_t frame_bytes,
                                            std::uint32_t total, std::uint8_t tos, Parsed& out) {
        if (total < bth + sizeof(Bth) - l3 || l3 + total > frame_bytes) return not_usual;
        const std::uint8_t opcode = frame[bth];
        if (load_be<std::uint16_t>(frame + l4 + 2) != roce_udp_port || opcode == cnp_opcode) [[unlikely]]
            return parse_other(frame, total, tos, out);
        say<true, false>(frame, total, tos, opcode, out);
        out.flow = roce_flow(frame + l4);
        return static_cast<int>(Parsed::class_key_of(true, false, tos));
    }

  private:
    template <bool roce, bool cnp>
    [[gnu::always_inline]] static void say(const std::uint8_t* frame, std::uint32_t total, std::uint8_t tos,
                                           std::uint8_t opcode, Parsed& out) {
        out.drop = DropReason::none;
        out.kind = kind;
        out.tags = tags;
        out.l3_offset = l3;
        out.protocol = ip_protocol::udp;
        out.fragment = false;
        out.roce = roce;
        out.cnp = cnp;
        out.pcp = tags == 0 ? 0 : frame[sizeof(EthernetHeader)] >> 5;
        out.tos = tos;
        out.opcode = opcode;
        out.ip_bytes = static_cast<std::uint16_t>(total);
    }

    // A CNP, or other UDP.
    [[gnu::noinline]] static int parse_other(const std::uint8_t* frame, std::uint32_t total, std::uint8_t tos,
                                             Parsed& out) {
        if (load_be<std::uint16_t>(frame + l4 + 2) == roce_udp_port) {
            say<true, true>(frame, total, tos, cnp_opcode, out);
            out.flow = roce_flow(frame + l4);
        } else {
            say<false, false>(frame, total, tos, 0, out);
            out.flow = {load_be<std::uint32_t>(frame + l4), 0, ip_protocol::udp};
        }
        return static_cast<int>(out.class_key());
    }
};

// Parses the frame of which `here` bytes lie at `frame`. If it is usual, whole, and UDP long enough for
// RoCEv2, `out` is the result of `parse_any`; returns its class_key(), or `not_usual`. `usual`: of the port's
// station.
template <unsigned tags>
[[gnu::always_inline]] inline int parse_usual(const std::uint8_t* frame, std::uint32_t here,
                                              std::uint32_t frame_bytes, const UsualFrames<tags>& usual,
                                              Parsed& out) {
    constexpr std::size_t l3 = UsualFrames<tags>::l3_offset;
    constexpr std::size_t transport = sizeof(UdpHeader) + sizeof(Bth);
    constexpr std::size_t min_v4 = l3 + sizeof(Ipv4Header) + transport;
    constexpr std::size_t min_v6 = l3 + sizeof(Ipv6Header) + transport;
    if (here < min_v4 || frame_bytes > max_frame_bytes) return not_usual;
    if (usual.v4.are_in(frame)) [[likely]] {
        const auto& ip = *reinterpret_cast<const Ipv4Header*>(frame + l3);
        const bool judged =
            judged_ipv4_octets[ip.source.bytes[0]] || judged_ipv4_octets[ip.destination.bytes[0]];
        if (judged || ip.ttl <= 1 || !checksum_is_right_20(frame + l3)) return not_usual;
        return UsualUdp<FrameKind::ipv4, tags, sizeof(Ipv4Header)>::parse(frame, frame_bytes,
                                                                          ip.total_length.get(), ip.tos, out);
    }
    if (!usual.v6.are_in(frame) || here < min_v6) return not_usual;
    const auto& ip = *reinterpret_cast<const Ipv6Header*>(frame + l3);
    const bool judged = is_judged_ipv6_octet(ip.source[0]) || is_judged_ipv6_octet(ip.destination[0]);
    const auto tos = static_cast<std::uint8_t>(load_be<std::uint16_t>(frame + l3) >> 4);
    if (judged || ip.hop_limit <= 1) return not_usual;
    return UsualUdp<FrameKind::ipv6, tags, sizeof(Ipv6Header)>::parse(
        frame, frame_bytes, sizeof(Ipv6Header) + ip.payload_length.get(), tos, out);
}

}  // namespace sluice
