// Errors below packets, as a NIC's MAC counts them, and the temperature of its module. A table maps the
// drivers' names of counters to ours. Read by control, never by a worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/values/ids.hh"

namespace sluice {

enum class Physical : std::uint8_t {
    crc_errors,
    symbol_errors,
    alignment_errors,
    length_errors,
    undersize_frames,
    oversize_frames,
    fragments,
    jabbers,
    local_faults,
    remote_faults,
    mac_discards,
    no_buffer_drops,
    rx_pause,  // 802.3x, or all kinds
    tx_pause,
    rx_pfc,  // by priority
    tx_pfc,
    rx_priority_discards,
};
constexpr std::size_t physical_kinds = 17;
constexpr auto first_by_priority = Physical::rx_pfc;
std::string_view to_string(Physical kind);

// Our counter for a driver's; nothing: it does not count errors of the wire.
struct PhysicalPlace {
    Physical kind;
    ClassId priority = 0;
    bool operator==(const PhysicalPlace&) const = default;
};
std::optional<PhysicalPlace> physical_place(std::string_view xstat);

struct PhysicalCounters {
    // Nothing where the driver does not count it.
    std::array<std::array<std::optional<std::uint64_t>, classes>, physical_kinds> value{};
    std::optional<std::int32_t> module_temperature;  // thousandths of a degree Celsius

    std::optional<std::uint64_t> get(Physical kind, ClassId priority = 0) const {
        return value[static_cast<std::size_t>(kind)][priority];
    }
    bool empty() const;
};

// Reads a device's; the names are looked up once.
class PhysicalReader {
  public:
    PhysicalReader() = default;
    explicit PhysicalReader(std::uint16_t device);

    bool has_module() const { return module_bytes_ != 0; }
    // A value that cannot be read now stays as it is.
    void read_counters(PhysicalCounters& counters) const;
    // Slow: over the module's bus.
    void read_module(PhysicalCounters& counters) const;

  private:
    std::uint16_t device_ = 0;
    std::vector<std::uint64_t> ids_;
    std::vector<PhysicalPlace> places_;  // of each
    std::uint32_t module_bytes_ = 0;
};

// The temperature of a pluggable module (SFP, QSFP, QSFP-DD, OSFP) from the bytes of its EEPROM.
//
// The bytes are as ethtool and DPDK give them: of an SFP both of its pages, A0h then A2h; of the others the
// lower page first. Which kind it is says byte 0 (SFF-8024). Sources: SFF-8472 (A2h bytes 96 and 97; 92 of
// A0h says whether they mean something), SFF-8636 (bytes 22 and 23), CMIS (bytes 14 and 15).
//
// Thousandths of a degree Celsius, -128 000 to 128 000; nothing when the module does not say.
std::optional<std::int32_t> module_temperature(std::span<const std::uint8_t> eeprom);

}  // namespace sluice
