// Text of many lines as a terminal may have it: a stranger's file may have any C1 control character, and they
// become escapes such as \u009b, which JSON and TOML read as the same characters.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "control/config/text/controls.hh"

namespace sluice {

inline void escape_controls(fmt::memory_buffer& text) {
    const std::string_view all(text.data(), text.size());
    const auto is_high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    std::size_t at = 0;
    while (at < all.size() && !is_high(all[at])) ++at;
    if (at == all.size()) return;
    fmt::memory_buffer out;
    out.append(all.substr(0, at));
    while (at < all.size()) {
        const std::string_view character = all.substr(at, character_bytes(all, at));
        if (const unsigned code = control_at(all, at).code; code >= 0x80)
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
        else
            out.append(character);
        at += character.size();
    }
    text = std::move(out);
}

}  // namespace sluice
