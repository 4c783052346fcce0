// The blocks of a pcapng file (draft-ietf-opsawg-pcapng, section version 1.0): a section header, an interface
// description for each port, then enhanced packet blocks, whose comments describe the packet's event.
// Timestamps are nanoseconds since the epoch.
//
// Every function appends a block to `out`, whole and padded. Integers are in the machine's byte order, which
// the section header tells. Texts are UTF-8, cut to an option's length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::pcapng {

constexpr std::uint32_t section_block = 0x0A0D0D0A;  // the first four bytes of every file
constexpr std::uint32_t interface_block = 1, packet_block = 6;
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::uint16_t ethernet = 1;                        // LINKTYPE_ETHERNET
constexpr std::uint16_t end_of_options = 0, if_tsresol = 9;  // codes of options

enum class Direction : std::uint8_t { unknown, inbound, outbound };  // of a packet, at its interface

void add_section(std::string& out, std::string_view application);
// Its number is that of interfaces before it in the section. `snap_length`: of its packets, at most.
void add_interface(std::string& out, std::string_view name, std::uint32_t snap_length,
                   std::uint64_t bits_per_second);

struct PacketBlock {
    std::uint32_t interface = 0;
    std::uint64_t timestamp_ns = 0;
    std::uint32_t wire_bytes = 0;         // of the frame, without FCS
    std::span<const std::uint8_t> bytes;  // the first of them
    Direction direction = Direction::unknown;
    std::string_view comment;
};
void add_packet(std::string& out, const PacketBlock& packet);

}  // namespace sluice::pcapng
