// parse() as the switch calls it, with the exact bytes so that a sanitizer sees a read beyond the view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "lib/frame/parse.hh"
#include "tests/unit/exact_copy.hh"
#include "tests/unit/frames.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::frames {

inline Frame cut(Frame frame, std::size_t bytes) {
    frame.resize(bytes);
    return frame;
}
inline Frame with(Frame frame, std::size_t at, unsigned value) {
    frame[at] = static_cast<std::uint8_t>(value);
    return frame;
}

// Parses as the switch does: the first 256 bytes, in a heap block of exactly that size.
inline Parsed parse_exact(const Frame& frame, const Station& where = station) {
    const ExactCopy copy(
        std::span<const std::uint8_t>(frame).first(std::min(frame.size(), parse_view_bytes)));
    return parse(copy.view(), static_cast<std::uint32_t>(frame.size()), where);
}

inline void refuses(DropReason reason, const Frame& frame) {
    STRCMP_EQUAL(std::string(to_string(reason)).c_str(),
                 std::string(to_string(parse_exact(frame).drop)).c_str());
}

inline Parsed accepts(const Frame& frame, const Station& where = station) {
    const Parsed parsed = parse_exact(frame, where);
    STRCMP_EQUAL("none", std::string(to_string(parsed.drop)).c_str());
    CHECK_TRUE(parsed.l3_offset + parsed.ip_bytes <= frame.size());
    return parsed;
}

inline constexpr unsigned vlan = 0x8100U << 16;
inline constexpr unsigned qinq = 0x88A8U << 16;
inline constexpr unsigned old = 0x9100U << 16;

}  // namespace sluice::frames
