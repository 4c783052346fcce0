// Packets as they come in to an end point, for tests that make them one by one.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lib/roce/packet.hh"

namespace sluice::roce {

inline constexpr std::array<std::uint8_t, 4096> some_bytes{};
constexpr std::uint32_t incoming_mtu = 256;

inline Incoming packet(Opcode opcode, std::uint32_t psn, std::uint32_t bytes = incoming_mtu,
                       std::uint32_t length = 0) {
    Incoming in;
    in.refusal = Incoming::Refusal::none;
    in.opcode = opcode;
    in.psn = psn;
    in.reth = {0, 0, length};
    in.payload = std::span(some_bytes).first(bytes);
    return in;
}
inline Incoming send_only(std::uint32_t psn) { return packet(Opcode::send_only, psn); }

// Which requests are taken (`o`) within nothing, a SEND, a WRITE that has as much left.
inline constexpr std::array request_opcodes{Opcode::send_first, Opcode::send_middle, Opcode::send_last,
                                            Opcode::send_only,  Opcode::write_first, Opcode::write_middle,
                                            Opcode::write_last, Opcode::write_only,  Opcode::read_request};
inline constexpr std::array taken_within{"o--oo--oo", "-oo------", "-----oo--"};

}  // namespace sluice::roce
