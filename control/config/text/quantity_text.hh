// Quantities in sentences and tables: rounded, with the unit that keeps them short.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "lib/values/units.hh"

namespace sluice {

// 1234567 -> "1 234 567"
inline std::string grouped_text(std::uint64_t n) {
    const std::string digits = std::to_string(n);
    std::string text;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at != 0 && (digits.size() - at) % 3 == 0) text += ' ';
        text += digits[at];
    }
    return text;
}

inline std::string time_text(std::uint64_t ns) {
    if (ns < 10'000) return fmt::format("{} ns", ns);
    if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
    if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
    return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

// The same of a time that is not negative.
inline std::string time_text(Duration time) { return time_text(static_cast<std::uint64_t>(time.ps) / 1000); }

inline std::string size_text(std::uint64_t bytes) {
    if (bytes < 10'000) return fmt::format("{} B", bytes);
    if (bytes < 10'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// A quantile of a histogram is known to a sixteenth: two digits are all that it has. `longest`, of the same
// histogram, is exact: no quantile is shown above it.
inline std::uint64_t two_digits(std::uint64_t value,
                                std::uint64_t longest = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t step = 1;
    while (value / step >= 100) step *= 10;
    const std::uint64_t below = value / step * step;
    const std::uint64_t nearest = value - below >= step - step / 2 ? below + step : below;
    return nearest > longest ? below : nearest;
}

inline std::string quantile_text(std::uint64_t ns,
                                 std::uint64_t longest = std::numeric_limits<std::uint64_t>::max()) {
    constexpr std::array units{"ns", "us", "ms", "s"};
    auto shown = static_cast<double>(two_digits(ns, longest));
    std::size_t unit = 0;
    for (; shown >= 1000 && unit + 1 < units.size(); ++unit) shown /= 1000;
    return unit != 0 && shown < 10 ? fmt::format("{:.1f} {}", shown, units[unit])
                                   : fmt::format("{:.0f} {}", shown, units[unit]);
}

// The same of a ratio in thousandths, such as a slowdown.
inline std::string quantile_ratio_text(std::uint64_t permille,
                                       std::uint64_t longest = std::numeric_limits<std::uint64_t>::max()) {
    const auto shown = static_cast<double>(two_digits(permille, longest)) / 1e3;
    return shown < 1 ? fmt::format("{:.2f}", shown) : fmt::format("{:.{}f}", shown, shown < 10 ? 1 : 0);
}

}  // namespace sluice
