// Control characters, which a terminal obeys: C0, DEL, and in UTF-8 C1 (U+0080 to U+009F).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

// The bytes of the control character at `at`; 0: there is another.
inline std::size_t control_bytes(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    if (byte(at) < 0x20 || byte(at) == 0x7F) return 1;
    const bool is_c1 =
        byte(at) == 0xC2 && at + 1 < text.size() && byte(at + 1) >= 0x80 && byte(at + 1) < 0xA0;
    return is_c1 ? 2 : 0;
}

inline bool has_controls(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at)
        if (control_bytes(text, at) != 0) return true;
    return false;
}

// One line for a terminal, with `instead` for each.
inline std::string without_controls(std::string_view text, char instead = '?') {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = control_bytes(text, at);
        out += bytes == 0 ? text[at] : instead;
        at += bytes == 0 ? 1 : bytes;
    }
    return out;
}

}  // namespace sluice
