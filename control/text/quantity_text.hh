// Quantities in sentences and tables: rounded, with the unit that keeps them short.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace sluice {

inline std::string time_text(std::uint64_t ns) {
    if (ns < 10'000) return fmt::format("{} ns", ns);
    if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
    if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
    return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

inline std::string size_text(std::uint64_t bytes) {
    if (bytes < 10'000) return fmt::format("{} B", bytes);
    if (bytes < 10'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace sluice
