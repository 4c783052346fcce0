// The PFC mode of a port, as masks of priorities: the pauses that it sends, and those that it obeys.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

enum class PfcMode : std::uint8_t {
    symmetric,      // the lossless ones, both ways
    asymmetric,     // sends for the lossless ones, obeys all eight
    semi_lossless,  // obeys, never sends
    off,
};
constexpr std::string_view to_string(PfcMode mode) {
    constexpr std::array<std::string_view, 4> names{"symmetric", "asymmetric", "semi-lossless", "off"};
    return names[static_cast<std::size_t>(mode)];
}

struct PfcMasks {
    std::uint8_t may_send = 0;
    std::uint8_t honors = 0;
    bool operator==(const PfcMasks&) const = default;
};

constexpr PfcMasks pfc_masks(PfcMode mode, std::uint8_t lossless) {
    switch (mode) {
        case PfcMode::symmetric:
            return {lossless, lossless};
        case PfcMode::asymmetric:
            return {lossless, 0xFF};
        case PfcMode::semi_lossless:
            return {0, lossless};
        case PfcMode::off:
            break;
    }
    return {0, 0};
}

}  // namespace sluice
