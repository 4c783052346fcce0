#include "lib/roce/opcode.hh"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice::roce {
namespace {

constexpr Operation operation_table[] = {
    {.name = "send_first", .code = 0x00, .payload = true},
    {.name = "send_middle", .code = 0x01, .payload = true},
    {.name = "send_last", .code = 0x02, .payload = true, .ends_message = true},
    {.name = "send_last_immediate", .code = 0x03, .payload = true, .immediate = true, .ends_message = true},
    {.name = "send_only", .code = 0x04, .payload = true, .ends_message = true},
    {.name = "send_only_immediate", .code = 0x05, .payload = true, .immediate = true, .ends_message = true},
    {.name = "write_first", .code = 0x06, .payload = true, .reth = true},
    {.name = "write_middle", .code = 0x07, .payload = true},
    {.name = "write_last", .code = 0x08, .payload = true, .ends_message = true},
    {.name = "write_last_immediate", .code = 0x09, .payload = true, .immediate = true, .ends_message = true},
    {.name = "write_only", .code = 0x0A, .payload = true, .reth = true, .ends_message = true},
    {.name = "write_only_immediate",
     .code = 0x0B,
     .payload = true,
     .reth = true,
     .immediate = true,
     .ends_message = true},
    {.name = "read_request", .code = 0x0C, .payload = false, .reth = true, .ends_message = true},
    {.name = "read_response_first", .code = 0x0D, .payload = true, .aeth = true},
    {.name = "read_response_middle", .code = 0x0E, .payload = true},
    {.name = "read_response_last", .code = 0x0F, .payload = true, .aeth = true},
    {.name = "read_response_only", .code = 0x10, .payload = true, .aeth = true},
    {.name = "ack", .code = 0x11, .payload = false, .aeth = true},
    {.name = "atomic_ack", .code = 0x12, .payload = false, .aeth = true, .atomic = 8},
    {.name = "compare_swap", .code = 0x13, .payload = false, .atomic = 28, .ends_message = true},
    {.name = "fetch_add", .code = 0x14, .payload = false, .atomic = 28, .ends_message = true},
    {.name = "send_last_invalidate", .code = 0x16, .payload = true, .immediate = true, .ends_message = true},
    {.name = "send_only_invalidate", .code = 0x17, .payload = true, .immediate = true, .ends_message = true},
};

constexpr std::size_t codes = 32;
constexpr auto operation_of_code = [] {
    std::array<const Operation*, codes> of{};
    for (const Operation& operation : operation_table) of[operation.code] = &operation;
    return of;
}();

}  // namespace

std::span<const Operation> operations() { return operation_table; }

const Operation* find_operation(std::string_view name) {
    const auto* found = std::ranges::find(operation_table, name, &Operation::name);
    return found == std::end(operation_table) ? nullptr : found;
}

const Operation* find_operation(std::uint8_t code) { return operation_of_code[code % codes]; }

bool allowed(Transport transport, const Operation& operation) {
    switch (transport) {
        case Transport::rc:
            return true;
        case Transport::uc:
            return operation.code <= 0x0B;
        case Transport::ud:
            return operation.code == 0x04 || operation.code == 0x05;
    }
    return false;
}

std::uint32_t extension_bytes(Transport transport, const Operation& operation) {
    return (transport == Transport::ud ? 8U : 0U) + (operation.reth ? 16U : 0U) + (operation.aeth ? 4U : 0U) +
           (operation.immediate ? 4U : 0U) + operation.atomic;
}

}  // namespace sluice::roce
