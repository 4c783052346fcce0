#include "control/fabric/advise/grids.hh"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/scenario/points.hh"

namespace sluice::fabric {
namespace {

constexpr double most_exact = 9007199254740992.0;  // 2^53

std::optional<double> plain_number(std::string_view value) {
    if (value.empty() || value.find_first_not_of("-0123456789.") != value.npos) return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
    return number;
}

}  // namespace

std::optional<Quantity> Quantity::read(std::string_view value) {
    if (const auto number = plain_number(value)) return Quantity{Unit::plain, *number};
    if (const auto time = parse_time(value)) return Quantity{Unit::time, static_cast<double>(time->ps)};
    if (const auto rate = parse_rate(value))
        return Quantity{Unit::rate, static_cast<double>(rate->bits_per_second)};
    if (const auto size = parse_size(value)) return Quantity{Unit::size, static_cast<double>(*size)};
    return std::nullopt;
}

std::string Quantity::text() const {
    const double within = std::clamp(number, unit == Unit::plain ? -most_exact : 0.0, most_exact);
    const auto whole = static_cast<std::uint64_t>(std::llround(std::max(within, 0.0)));
    switch (unit) {
        case Unit::size:
            return print_size(whole);
        case Unit::rate:
            return print_rate({whole});
        case Unit::time:
            return print_time({static_cast<std::int64_t>(whole)});
        case Unit::plain:
            break;
    }
    if (within == std::floor(within)) return fmt::format("{}", static_cast<std::int64_t>(within));
    return fmt::format("{}", within);
}

std::string per_cent_text(Chance chance) {
    return Quantity{Quantity::Unit::plain, chance.parts_per_billion / double{Chance::one_percent}}.text();
}

std::uint64_t rounded(double value, std::uint64_t step) {
    constexpr double most = 9e18;  // of llround
    value = std::clamp(value, 0.0, most);
    if (step == 0) {
        step = 1;
        for (double rest = value; rest >= 1000; rest /= 10) step *= 10;
    }
    return std::max<std::uint64_t>(
        static_cast<std::uint64_t>(std::llround(value / static_cast<double>(step))) * step, step);
}

std::vector<std::uint64_t> root_two_grid(std::uint64_t low, std::uint64_t high, std::uint64_t step) {
    std::vector<std::uint64_t> grid{low};
    const double last = static_cast<double>(high) / std::pow(2.0, 0.25);
    double exact = static_cast<double>(low) * std::numbers::sqrt2;
    for (; exact < last; exact *= std::numbers::sqrt2)
        if (const std::uint64_t value = rounded(exact, step); value > grid.back() && value < high)
            grid.push_back(value);
    if (high > low) grid.push_back(high);
    return grid;
}

std::vector<std::uint64_t> grid_around(std::uint64_t middle) {
    constexpr int steps_each_way = 4;
    std::vector<std::uint64_t> grid;
    for (int step = -steps_each_way; step <= steps_each_way; ++step) {
        const double exact = static_cast<double>(middle) * std::pow(2.0, 0.5 * step);
        const std::uint64_t value = step == 0 ? middle : rounded(exact, 0);
        if (grid.empty() || value > grid.back()) grid.push_back(value);
    }
    return grid;
}

tl::expected<std::vector<std::string>, std::string> grid_of(const ValueRange& range,
                                                            std::uint64_t cell_bytes) {
    const auto refused = [](std::string text) { return tl::unexpected(std::move(text)); };
    std::vector<std::uint64_t> values;
    if (range.has_count()) {
        values = range.points();
    } else if (range.is_integer() && !range.is_logarithmic()) {
        if (range.high() - range.low() >= AdviseConfig::max_values)
            return refused(fmt::format("it has {} integers; write xN or log behind it, or a list",
                                       range.high() - range.low() + 1));
        for (std::uint64_t value = range.low(); value <= range.high(); ++value) values.push_back(value);
    } else if (range.low() == 0) {
        return refused("steps of the square root of 2 cannot begin at 0; write a low end above 0, or xN");
    } else {
        const std::uint64_t step = range.is_size() ? cell_bytes : range.is_integer() ? 1 : 0;
        values = root_two_grid(range.low(), range.high(), step);
    }
    if (values.size() > AdviseConfig::max_values)
        return refused(fmt::format("it has {} values, and a key has at most {}", values.size(),
                                   AdviseConfig::max_values));
    std::vector<std::string> texts;
    for (const std::uint64_t value : values) texts.push_back(plain(range.text(value)));
    return texts;
}

}  // namespace sluice::fabric
