// The temperature of a pluggable module (SFP, QSFP, QSFP-DD, OSFP) from the bytes of its EEPROM.
//
// The bytes are as ethtool and DPDK give them: of an SFP both of its pages, A0h then A2h; of the others the
// lower page first. Which kind it is says byte 0 (SFF-8024). Sources: SFF-8472 (A2h bytes 96 and 97; 92 of
// A0h says whether they mean something), SFF-8636 (bytes 22 and 23), CMIS (bytes 14 and 15).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// Thousandths of a degree Celsius, -128 000 to 128 000; nothing when the module does not say.
std::optional<std::int32_t> module_temperature(std::span<const std::uint8_t> eeprom);

}  // namespace sluice
