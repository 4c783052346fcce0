// A PCI address as people write it, "3:00.0" or "0000:03:00.0", and in full, as the kernel and DPDK do.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// "0000:03:00.0"; nothing when it is not a PCI address: [domain:]bus:device.function in hexadecimal.
inline std::optional<std::string> full_pci_address(std::string_view text) {
    struct Part {
        char end;
        unsigned most;
    };
    std::array<Part, 4> parts{{{':', 0xFFFF}, {':', 0xFF}, {'.', 0x1F}, {'\0', 7}}};
    std::array<unsigned, 4> number{};
    const auto colons = static_cast<std::size_t>(text.find(':') != text.rfind(':'));
    for (std::size_t n = 1 - colons; n < parts.size(); ++n) {
        const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number[n], 16);
        if (error != std::errc{} || number[n] > parts[n].most) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(last - text.data()));
        if (parts[n].end == '\0') break;
        if (text.empty() || text.front() != parts[n].end) return std::nullopt;
        text.remove_prefix(1);
    }
    if (!text.empty()) return std::nullopt;
    const auto hexadecimal = [](unsigned value, unsigned digits) {
        std::string out(digits, '0');
        for (; digits != 0; value /= 16) out[--digits] = "0123456789abcdef"[value % 16];
        return out;
    };
    return hexadecimal(number[0], 4) + ":" + hexadecimal(number[1], 2) + ":" + hexadecimal(number[2], 2) +
           "." + hexadecimal(number[3], 1);
}

}  // namespace sluice
