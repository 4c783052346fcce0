// The invariant CRC of RoCEv2 (IBTA annex A17): CRC-32 over what a router may not change. 8 bytes of ones
// stand for the routing header that RoCEv2 does not have; then IP header to pad, with these set to ones: IPv4
// TOS, TTL and checksum; IPv6 traffic class, flow label and hop limit; UDP checksum; BTH byte 4 (FECN, BECN).
// It stands behind the pad, least significant byte first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice::traffic {

inline constexpr std::uint32_t icrc_bytes = 4;

// A frame begins at its destination MAC and may have tags, IPv4 options, IPv6 extension headers, and Ethernet
// padding. Nothing if it is not a whole, unfragmented RoCEv2 packet (UDP destination port 4791, room for BTH
// and ICRC).
std::optional<std::uint32_t> icrc_of(std::span<const std::uint8_t> frame);       // what it ought to carry
std::optional<std::uint32_t> icrc_carried(std::span<const std::uint8_t> frame);  // what it does carry

// Writes the right ICRC into a RoCEv2 frame. False, and nothing written, where `icrc_of` gives nothing.
bool set_icrc(std::span<std::uint8_t> frame);

}  // namespace sluice::traffic
