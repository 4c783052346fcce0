// Control characters, which a terminal obeys: C0, DEL, and in UTF-8 C1 (U+0080 to U+009F; U+009B is ESC [).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

// Bytes of the character that begins at `at`, as many as are there; 1 for a byte that begins none.
inline std::size_t character_bytes(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    const std::size_t wanted = byte(at) >= 0xF0 ? 4 : byte(at) >= 0xE0 ? 3 : byte(at) >= 0xC2 ? 2 : 1;
    std::size_t bytes = 1;
    while (bytes < wanted && at + bytes < text.size() && (byte(at + bytes) & 0xC0U) == 0x80U) ++bytes;
    return bytes;
}

struct Control {
    std::size_t bytes = 0;  // of it; 0: there is another character
    unsigned code = 0;
};

inline Control control_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    const auto is_c1 = [](unsigned code) { return code >= 0x80 && code < 0xA0; };
    const std::size_t bytes = character_bytes(text, at);
    // A byte alone is a control where the terminal knows no UTF-8.
    if (bytes == 1 && (byte(at) < 0x20 || byte(at) == 0x7F || is_c1(byte(at)))) return {1, byte(at)};
    if (bytes == 2 && byte(at) == 0xC2 && is_c1(byte(at + 1))) return {2, byte(at + 1)};
    return {};
}

inline bool has_controls(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at += character_bytes(text, at))
        if (control_at(text, at).bytes != 0) return true;
    return false;
}

// The text as a line for a terminal, with `instead` for each control character.
inline std::string without_controls(std::string_view text, char instead = '?') {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = character_bytes(text, at);
        if (control_at(text, at).bytes != 0)
            out += instead;
        else
            out += text.substr(at, bytes);
        at += bytes;
    }
    return out;
}

}  // namespace sluice
