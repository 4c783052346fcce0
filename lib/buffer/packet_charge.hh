// What a packet is charged by, as one number: a load that spans several stores waits for them, so those who
// keep these fields write and read them together.
#pragma once

#include <cstdint>

#include "lib/values/ids.hh"

namespace sluice {

// From the lowest bits up: 16 of frame bytes, 16 of cells (0: nothing is charged), 16 of ingress port, 8 of
// priority group, 8 of flags. In this order a little-endian machine has them in memory.
constexpr std::uint64_t packet_charge(std::uint16_t frame_bytes, std::uint16_t cells, PortId ingress_port,
                                      ClassId priority_group, std::uint8_t flags) {
    return std::uint64_t{frame_bytes} | std::uint64_t{cells} << 16 | std::uint64_t{ingress_port} << 32 |
           std::uint64_t{priority_group} << 48 | std::uint64_t{flags} << 56;
}

}  // namespace sluice
