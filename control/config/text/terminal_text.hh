// Text as a terminal may have it. U+0080 to U+009F are controls there, one of them as good as ESC [, and a
// stranger's file may have any of them: they become escapes such as \u009b, which JSON and TOML read as the
// same characters.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <utility>

namespace sluice {

// Bytes of the character that begins with `first`; 1 for what begins none.
inline std::size_t character_bytes(unsigned char first) {
    return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
}

inline void escape_controls(fmt::memory_buffer& text) {
    const auto is_high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    std::size_t at = 0;
    while (at < text.size() && !is_high(text[at])) ++at;
    if (at == text.size()) return;
    fmt::memory_buffer out;
    out.append(text.data(), text.data() + at);
    while (at < text.size()) {
        const auto first = static_cast<unsigned char>(text[at]);
        std::size_t bytes = 1;
        while (bytes < character_bytes(first) && at + bytes < text.size() &&
               (static_cast<unsigned char>(text[at + bytes]) & 0xC0U) == 0x80U)
            ++bytes;
        const unsigned code = bytes == 2 ? static_cast<unsigned char>(text[at + 1]) : first;
        // A byte alone is a control where the terminal knows no UTF-8.
        if ((bytes == 1 || first == 0xC2) && code >= 0x80 && code < 0xA0)
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
        else
            out.append(text.data() + at, text.data() + at + bytes);
        at += bytes;
    }
    text = std::move(out);
}

}  // namespace sluice
