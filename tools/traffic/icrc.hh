// The ICRC of whole frames. The expected value is computed here plainly, bit pattern by bit pattern from the
// standard, and shares nothing with lib/roce/icrc.hh, which makes the ICRCs that are sent: so each checks the
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/roce/icrc.hh"

namespace sluice::traffic {

using roce::icrc_bytes;

// A frame begins at its destination MAC and may have tags, IPv4 options, IPv6 extension headers, and Ethernet
// padding. Nothing if it is not a whole, unfragmented RoCEv2 packet (UDP destination port 4791, room for BTH
// and ICRC).
std::optional<std::uint32_t> icrc_of(std::span<const std::uint8_t> frame);       // the right value
std::optional<std::uint32_t> icrc_carried(std::span<const std::uint8_t> frame);  // the frame's value

// Writes the right ICRC into a RoCEv2 frame. False, and nothing written, where `icrc_of` gives nothing.
bool set_icrc(std::span<std::uint8_t> frame);

}  // namespace sluice::traffic
