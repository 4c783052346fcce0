// The opcodes of RoCEv2's BTH: transport in the high three bits, operation in the low
// five.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sluice::traffic {

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

std::span<const Operation> operations();
const Operation* find_operation(std::string_view name);  // null if there is none
bool allowed(Transport transport, const Operation& operation);

// Bytes between BTH and payload, a UD packet's DETH included.
std::uint32_t extension_bytes(Transport transport, const Operation& operation);

}  // namespace sluice::traffic
