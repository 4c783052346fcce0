// The opcodes of BTH (IBTA 9.2): transport in the high three bits, operation in the low five, and the headers
// of each operation, for end points and the traffic generator.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::roce {

enum class Transport : std::uint8_t { rc = 0, uc = 1, ud = 3 };

struct Operation {
    std::string_view name;      // as recipes spell it
    std::uint8_t code;          // low five bits
    bool payload;               // carries data; the others have one fixed size
    bool reth = false;          // 16 bytes: address, key, length
    bool aeth = false;          // 4 bytes: syndrome, message sequence number
    bool immediate = false;     // 4 bytes: immediate data, or the key to invalidate
    std::uint8_t atomic = 0;    // 28 bytes of a request or 8 of a reply
    bool ends_message = false;  // a last or only packet, or a request: asks for an acknowledgement
};

// The RC opcodes of our end points; the whole byte of BTH.
enum class Opcode : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_only = 0x04,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    write_only = 0x0A,
    read_request = 0x0C,
    read_response_first = 0x0D,
    read_response_middle = 0x0E,
    read_response_last = 0x0F,
    read_response_only = 0x10,
    acknowledge = 0x11,
    cnp = 0x81,
};

std::span<const Operation> operations();
const Operation* find_operation(std::string_view name);  // null if there is none
const Operation* find_operation(std::uint8_t code);      // by the low five bits; null if there is none
bool allowed(Transport transport, const Operation& operation);

// Bytes between BTH and payload, a UD packet's DETH included.
std::uint32_t extension_bytes(Transport transport, const Operation& operation);

// A packet of a requester, or a READ response: not an answer that a notification point leaves out.
constexpr bool is_data(Opcode opcode) { return opcode != Opcode::acknowledge && opcode != Opcode::cnp; }

}  // namespace sluice::roce
