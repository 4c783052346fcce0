#include "dataplane/ports/module_eeprom.hh"

#include <algorithm>
#include <cstddef>

namespace sluice {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::int64_t smallest = -128'000;
constexpr std::int64_t largest = 128'000;

std::int32_t signed_word(Bytes bytes, std::size_t at) {
    return static_cast<std::int16_t>(bytes[at] << 8 | bytes[at + 1]);
}

// 256ths of a degree.
std::int32_t thousandths(std::int64_t word) {
    return static_cast<std::int32_t>(std::clamp(word * 1000 / 256, smallest, largest));
}

std::optional<std::int32_t> of_sfp(Bytes eeprom) {
    constexpr std::size_t a2 = 256;
    constexpr std::size_t monitoring = 92;
    constexpr unsigned implemented = 0x40;
    constexpr unsigned externally_calibrated = 0x10;
    if (eeprom.size() < a2 + 98 || (eeprom[monitoring] & implemented) == 0) return std::nullopt;
    std::int64_t word = signed_word(eeprom, a2 + 96);
    if ((eeprom[monitoring] & externally_calibrated) != 0) {
        // Slope: unsigned, in 256ths; offset: in 256ths of a degree.
        const std::int64_t slope = eeprom[a2 + 84] << 8 | eeprom[a2 + 85];
        word = word * slope / 256 + signed_word(eeprom, a2 + 86);
    }
    return thousandths(word);
}

// A module without a sensor, as copper cables are, has zeros there.
std::optional<std::int32_t> of_word(Bytes eeprom, std::size_t at) {
    if (eeprom.size() < at + 2 || signed_word(eeprom, at) == 0) return std::nullopt;
    return thousandths(signed_word(eeprom, at));
}

}  // namespace

std::optional<std::int32_t> module_temperature(Bytes eeprom) {
    if (eeprom.empty()) return std::nullopt;
    switch (eeprom[0]) {
        case 0x03:  // SFP, SFP+, SFP28
            return of_sfp(eeprom);
        case 0x0C:  // QSFP
        case 0x0D:  // QSFP+
        case 0x11:  // QSFP28
            return of_word(eeprom, 22);
        case 0x18:  // QSFP-DD
        case 0x19:  // OSFP
        case 0x1E:  // QSFP+ or later with CMIS
        case 0x1F:  // SFP-DD with CMIS
        case 0x20:  // SFP+ or later with CMIS
            return of_word(eeprom, 14);
        default:
            return std::nullopt;
    }
}

}  // namespace sluice
