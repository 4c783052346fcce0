// Builds frames byte by byte from the values of their fields: Ethernet with tags, IPv4 or IPv6, then RoCEv2,
// UDP or TCP with right lengths, checksums and ICRC; PFC and PAUSE. One `Frame` is used again for every
// frame; no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/values/rng.hh"
#include "tools/traffic/recipe.hh"

namespace sluice::traffic {

struct Frame {
    // A greatest frame, more tags and extension headers, and some.
    std::array<std::uint8_t, max_recipe_frame_bytes + 1024> bytes;
    std::size_t captured = 0;  // bytes that go to the file
    std::size_t length = 0;    // bytes that were on the wire, >= captured
    std::size_t network = 0;   // offsets of the IP and transport headers
    std::size_t transport = 0;

    std::span<std::uint8_t> all() { return std::span{bytes}.first(length); }
};

struct LinkFields {
    MacAddress destination;
    MacAddress source;
    std::span<const Tag> tags;
};

struct IpFields {
    IpAddress source;
    IpAddress destination;
    std::uint8_t tos = 0;
    std::uint8_t ttl = 64;
    std::uint16_t id = 0;
    // IPv4 options (a multiple of 4), or IPv6 extension headers whose last names the transport protocol.
    std::span<const std::uint8_t> extra{};
    std::uint8_t first_extension = 0;  // IPv6: type of the first of `extra`
};

struct RoceFields {
    std::uint16_t source_port = 0;
    Transport transport = Transport::rc;
    const Operation* operation = nullptr;
    std::uint32_t qp = 0;
    std::uint32_t psn = 0;
    std::uint32_t message_sequence = 0;  // of the AETH
    std::uint32_t packets_in_message = 1;
};

// Sizes are of the whole frame. One smaller than its headers gives the headers alone, and RoCEv2 takes the
// next smaller size that its 4-byte grid allows. Frames are filled up with zeros to 60 bytes.
struct PayloadSpec {
    std::uint32_t bytes = 0;
    bool is_payload = false;    // RoCEv2: `bytes` of payload; the pad comes on top
    std::uint64_t pattern = 0;  // the payload is made from it
};

void build_roce(Frame& frame, const LinkFields& link, const IpFields& ip, const RoceFields& roce,
                const PayloadSpec& spec);
void build_cnp(Frame& frame, const LinkFields& link, const IpFields& ip, const RoceFields& roce);
void build_udp(Frame& frame, const LinkFields& link, const IpFields& ip, std::uint16_t source_port,
               std::uint16_t destination_port, const PayloadSpec& spec);
// Returns the payload's bytes, by which the next sequence number advances.
std::uint32_t build_tcp(Frame& frame, const LinkFields& link, const IpFields& ip, std::uint16_t source_port,
                        std::uint16_t destination_port, std::uint32_t sequence, const PayloadSpec& spec);
void build_pfc(Frame& frame, const LinkFields& link, std::span<const std::optional<std::uint16_t>, 8> quanta);
void build_pause(Frame& frame, const LinkFields& link, std::uint16_t quanta);

// An out-of-the-ordinary frame: a right RoCEv2 frame with one thing changed, so that a switch that misses
// that thing would forward it; those with no IP at all are made from nothing. `turn` counts this flow's
// frames; variants with two forms alternate by it.
void build_malformed(Frame& frame, Malformation which, LinkFields link, IpFields ip, const RoceFields& roce,
                     const PayloadSpec& spec, std::uint64_t turn);

// Ethernet header and tags alone; `frame.network` is where the rest goes.
void begin_ethernet(Frame& frame, const LinkFields& link, std::uint16_t type);
// Fills up with zeros to 60 bytes; the frame ends at `end` or there.
void end_ethernet(Frame& frame, std::size_t end);
// After a change to the IPv4 header at `frame.network`.
void set_ipv4_checksum(Frame& frame);

// A well mixed function of its arguments: the generator behind random sizes, payload and entropy.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return scramble(a + b * 0x9E37'79B9'7F4A'7C15);
}

}  // namespace sluice::traffic
