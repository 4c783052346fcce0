// The PFC mode of a port, as two masks of priorities (bit n: priority n): the pauses it sends, those it
// obeys.
#pragma once

#include <cstdint>

namespace sluice {

enum class PfcMode : std::uint8_t {
    symmetric,      // the lossless ones, both ways
    asymmetric,     // sends for the lossless ones, obeys all eight
    semi_lossless,  // obeys, never sends
    off,
};

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
