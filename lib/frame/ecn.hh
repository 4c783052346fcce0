// The facts of a packet that decide whether its queue marks or drops it: ECN on arrival (RFC 3168), the drop
// precedence of its DSCP (RFC 2597), and whether it is exempt.
#pragma once

#include <array>
#include <cstdint>

#include "lib/frame/headers.hh"

namespace sluice {

enum class Color : std::uint8_t { green, yellow, red };
constexpr unsigned colors = 3;

// Assured forwarding, AFxy with x in 1..4 (RFC 2597): the drop precedence y. All other code points are green.
constexpr auto color_by_dscp = [] {
    std::array<Color, 64> color{};
    for (unsigned af_class = 1; af_class <= 4; ++af_class)
        for (unsigned precedence = 1; precedence <= 3; ++precedence)
            color[af_class << 3 | precedence << 1] = static_cast<Color>(precedence - 1);
    return color;
}();
constexpr Color color_of(std::uint8_t dscp) { return color_by_dscp[dscp & 63U]; }

// In one byte that travels with the packet through its queue.
struct EcnBits {
    std::uint8_t bits = 0;

    static constexpr std::uint8_t exempt_bit = 16;
    static constexpr unsigned values = 32;  // of bits
    static constexpr EcnBits of(Ecn ecn, Color color, bool exempt) {
        return {static_cast<std::uint8_t>(static_cast<unsigned>(ecn) | static_cast<unsigned>(color) << 2 |
                                          (exempt ? exempt_bit : 0U))};
    }
    constexpr Ecn ecn() const { return static_cast<Ecn>(bits & 3U); }
    constexpr Color color() const { return static_cast<Color>(bits >> 2 & 3U); }
    constexpr bool is_exempt() const {
        return (bits & exempt_bit) != 0;
    }  // a CNP: neither marked nor dropped
    constexpr bool may_be_marked() const {
        return !is_exempt() && (ecn() == Ecn::ect0 || ecn() == Ecn::ect1);
    }
};
constexpr unsigned ecn_kinds = 16;  // values of bits & 15: color and ECN on arrival

}  // namespace sluice
