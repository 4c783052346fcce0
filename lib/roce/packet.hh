// Frames of an RC end point and of its notification point, written from a few fields and read back: Ethernet
// with at most one tag of ours (two of others), IPv4 or IPv6, UDP 4791, BTH, RETH or AETH, payload and pad,
// ICRC (IBTA 9.2, annex A17). No FCS. A CNP is 74 bytes over IPv4: opcode 0x81, BECN, 16 bytes of zeros.
//
// A described frame carries its first bytes, with all headers; the others follow from them: payload is a
// function of stream and offset, and the ICRC of the frame. Sizes and lengths are bytes. Nothing allocates; a
// PacketWriter belongs to one sender.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/roce/opcode.hh"
#include "lib/roce/payload.hh"

namespace sluice::roce {

// Packet sequence numbers: 24 bits on the wire, compared by signed difference over the wrap (IBTA 9.7), as
// long as two of them are less than 2^23 apart.
//
// Both end points count in 64 bits and send the low 24. A number from the wire is extended by one that is
// near it. The count starts at 2^24 + the first PSN, so that there are numbers before the first.
inline constexpr std::uint32_t psn_mask = 0xFF'FFFF;
inline constexpr std::uint64_t max_outstanding_psns = std::uint64_t{1} << 23;

// How far `psn` is ahead of `reference`: -2^23 to 2^23 - 1.
constexpr std::int32_t psn_difference(std::uint32_t psn, std::uint32_t reference) {
    return static_cast<std::int32_t>((psn - reference) << 8) >> 8;
}

constexpr std::uint32_t psn_of(std::uint64_t sequence) {
    return static_cast<std::uint32_t>(sequence) & psn_mask;
}

constexpr std::uint64_t first_sequence(std::uint32_t first_psn) {
    return (std::uint64_t{1} << 24) + (first_psn & psn_mask);
}

// The sequence number nearest to `near` whose PSN this is.
constexpr std::uint64_t sequence_of(std::uint32_t psn, std::uint64_t near) {
    return near + static_cast<std::uint64_t>(std::int64_t{psn_difference(psn, psn_of(near))});
}

// Each packet's payload has a place in its queue pair's stream, an MTU long, so the PSN alone gives it.
constexpr std::uint64_t payload_place(std::uint64_t sequence, std::uint32_t first_psn, std::uint32_t mtu) {
    return (sequence - first_sequence(first_psn)) * mtu;
}

inline constexpr std::uint32_t max_path_mtu = 4096;
inline constexpr std::uint32_t min_path_mtu = 256;
// Ethernet, tag, IPv6, UDP, BTH, RETH, payload, ICRC.
inline constexpr std::uint32_t max_packet_bytes = 14 + 4 + 40 + 8 + 12 + 16 + max_path_mtu + 4;

struct Reth {
    std::uint64_t address = 0;  // here: the offset of the message in its stream
    std::uint32_t key = 0;
    std::uint32_t length = 0;
    bool operator==(const Reth&) const = default;
};

// Syndromes of the AETH (IBTA 9.7). The low five bits of RNR name a time.
inline constexpr std::uint8_t syndrome_ack = 0x1F;  // no credits: they limit nothing
inline constexpr std::uint8_t syndrome_rnr = 0x20;
inline constexpr std::uint8_t syndrome_sequence_error = 0x60;
inline constexpr std::uint8_t syndrome_invalid_request = 0x61;

struct Aeth {
    std::uint8_t syndrome = 0;
    std::uint32_t msn = 0;  // 24 bits
    bool operator==(const Aeth&) const = default;
};

// A packet that an end point sends; the PacketWriter adds the rest.
struct Outgoing {
    Opcode opcode = Opcode::send_only;
    bool ack_request = false;
    std::uint32_t psn = 0;
    std::uint32_t payload_bytes = 0;
    std::uint64_t offset = 0;  // of the payload in its stream
    Reth reth{};
    Aeth aeth{};
    bool operator==(const Outgoing&) const = default;
};

// The bytes of a described frame behind its head: payload from an offset of its stream on, pad, ICRC.
struct FrameTail {
    PayloadStream stream;
    std::uint64_t offset = 0;  // of the first byte of payload behind the head
};

struct DescribedFrame {
    std::span<const std::uint8_t> head;  // all headers, and payload
    std::uint32_t frame_bytes;           // the head's among them, and at least one of payload behind it
    FrameTail tail;
};
// Bytes at most behind the payload of a frame.
inline constexpr std::uint32_t max_trailer_bytes = 3 + 4;

// Writes the bytes behind the first `head` of a described frame, which a router may have changed.
void write_tail(std::span<std::uint8_t> frame, std::size_t head, const FrameTail& tail);

struct Route {
    MacAddress source_mac;
    MacAddress destination_mac;
    std::optional<std::uint16_t> vlan_tci;
    IpAddress source;  // of the same family as the destination
    IpAddress destination;
    std::uint8_t dscp = 0;
    Ecn ecn = Ecn::ect0;
    std::uint8_t hop_limit = 64;
    bool port_of_qp = true;
};

// Writes the packets to one QP; constant headers are made once. The UDP source port comes from the QP's
// identity, so that ECMP spreads QPs, unless port_of_qp is false (49152); IPv4 identifications count from 0.
class PacketWriter {
  public:
    PacketWriter(const Route& route, std::uint32_t destination_qp);

    std::uint32_t frame_bytes(const Outgoing& packet) const;
    // Returns frame_bytes(packet), or 0 and writes nothing where `out` is too small.
    std::uint32_t write(const Outgoing& packet, std::span<std::uint8_t> out);
    // Writes the head of a described frame, which ends in the payload.
    FrameTail write_head(const Outgoing& packet, std::span<std::uint8_t> head);
    const PayloadStream& stream() const { return stream_; }

  private:
    // Everything before the payload; returns where that begins.
    std::uint8_t* write_headers(const Outgoing& packet, std::uint8_t* out);

    std::array<std::uint8_t, 14 + 4 + 40 + 8 + 12> headers_{};
    std::uint8_t network_;    // offset of the IP header
    std::uint8_t transport_;  // and of UDP
    std::uint16_t next_identification_ = 0;
    std::uint32_t checksum_base_ = 0;  // sum of the IPv4 header's words without length and identification
    PayloadStream stream_;
};

// A packet that has arrived; `payload` lies within the frame.
struct Incoming {
    // Why an end point drops it silently.
    enum class Refusal : std::uint8_t {
        none,
        not_roce,         // not IP, a fragment, IPv6 with extension headers, not UDP port 4791
        cut,              // a length goes beyond what holds it
        header_checksum,  // of IPv4
        icrc,
        opcode,     // none of `Opcode`
        malformed,  // headers or pad that its opcode cannot have
        trimmed,    // a switch has cut its payload off: only its headers up to the BTH are known, unproved
    };
    Refusal refusal = Refusal::not_roce;
    Opcode opcode{};
    bool ack_request = false;
    bool becn = false;
    Ecn ecn{};
    std::uint8_t dscp = 0;
    std::uint16_t source_port = 0;
    std::uint32_t qp = 0;  // the destination's
    std::uint32_t psn = 0;
    IpAddress source;
    IpAddress destination;
    Reth reth{};
    Aeth aeth{};
    std::span<const std::uint8_t> payload;
    // In a described frame: payload behind those bytes.
    std::uint32_t payload_behind = 0;
    FrameTail tail{};

    std::uint32_t payload_bytes() const {
        return static_cast<std::uint32_t>(payload.size()) + payload_behind;
    }
    // All of the payload is the stream's from `offset` on.
    bool has_payload_of(PayloadStream stream, std::uint64_t offset) const {
        return !first_wrong(payload, stream, offset) &&
               (payload_behind == 0 ||
                (tail.stream.seed == stream.seed && tail.offset == offset + payload.size()));
    }
};

// Takes any bytes. Checks all lengths and the ICRC; the caller checks addresses and QP, the end point lengths
// against the MTU. A packet is trimmed when its UDP length exceeds its IP payload, and its opcode has
// payload: then addresses, DSCP, ECN, opcode, QP and PSN are as they came, without ICRC.
Incoming read_packet(std::span<const std::uint8_t> frame);
// For an undisturbed described frame: its ICRC is right.
Incoming read_packet(const DescribedFrame& frame);

// A guess for prefetches, from any frame: right for an untagged packet without IP options.
std::uint32_t guess_destination_qp(std::span<const std::uint8_t> frame);

}  // namespace sluice::roce
