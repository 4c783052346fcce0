#include "control/fabric/plan/value_range.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "control/config/schema/values.hh"
#include "control/fabric/workload/flow_values.hh"

namespace sluice::fabric {

struct ValueRange::Unit {
    std::optional<std::uint64_t> (*read)(std::string_view text);  // nothing: it is not of this unit
    std::string (*print)(std::uint64_t value);                    // as a file has it
};

namespace {

using Refusal = tl::unexpected<std::string>;
using Unit = ValueRange::Unit;

template <auto parse, auto number>
std::optional<std::uint64_t> read_as(std::string_view text) {
    const auto value = parse(text);
    return value ? std::optional(static_cast<std::uint64_t>(number(*value))) : std::nullopt;
}

constexpr std::array units{
    Unit{read_as<parse_integer, std::identity{}>, [](std::uint64_t value) { return std::to_string(value); }},
    Unit{read_as<parse_time, [](Duration time) { return time.ps / 1000; }>,
         [](std::uint64_t ns) { return toml_string(print_time({static_cast<std::int64_t>(ns * 1000)})); }},
    Unit{read_as<parse_rate, [](Rate rate) { return rate.bits_per_second; }>,
         [](std::uint64_t bits) { return toml_string(print_rate({bits})); }},
    Unit{read_as<parse_size, std::identity{}>,
         [](std::uint64_t bytes) { return toml_string(print_size(bytes)); }}};

}  // namespace

std::optional<std::uint64_t> ValueRange::value(std::string_view text) const { return unit_->read(text); }
std::string ValueRange::text(std::uint64_t value) const { return unit_->print(value); }
bool ValueRange::is_integer() const { return unit_ == &units.front(); }
bool ValueRange::is_size() const { return unit_ == &units.back(); }

tl::expected<ValueRange, std::string> ValueRange::parse(std::string_view text) {
    ValueRange range;
    const std::size_t dots = text.find("..");
    if (dots == text.npos) return Refusal(in_quotes(text) + " is not a range; write LOW..HIGH");
    const std::string_view low = trimmed(text.substr(0, dots));
    std::string_view rest = trimmed(text.substr(dots + 2));
    const std::size_t blank = rest.find(' ');
    const std::string_view high = rest.substr(0, blank);
    rest = blank == rest.npos ? std::string_view{} : trimmed(rest.substr(blank));
    const auto* unit =
        std::ranges::find_if(units, [&](const Unit& each) { return each.read(low) && each.read(high); });
    if (unit == units.end())
        return Refusal(fmt::format("{} and {} are not two numbers, sizes, rates or times", in_quotes(low),
                                   in_quotes(high)));
    range.unit_ = unit;
    range.low_ = *unit->read(low);
    range.high_ = *unit->read(high);
    if (range.low_ >= range.high_) return Refusal(fmt::format("{} is not below {}", low, high));
    if (rest.ends_with("log")) {
        range.logarithmic_ = true;
        rest = trimmed(rest.substr(0, rest.size() - 3));
        if (range.low_ == 0) return Refusal(std::string("a logarithmic range cannot begin at 0"));
    }
    if (rest.empty()) return range;
    const auto count = rest.starts_with('x') ? parse_integer(rest.substr(1)) : parse_integer("");
    if (!count || *count < 2 || *count > max_points)
        return Refusal(
            fmt::format("{} is not a number of points; write x2 to x{}", in_quotes(rest), max_points));
    range.count_ = *count;
    return range;
}

std::vector<std::uint64_t> ValueRange::points() const {
    std::vector<std::uint64_t> all;
    const auto low = static_cast<double>(low_), high = static_cast<double>(high_);
    const std::uint64_t count = count_ == 0 ? 2 : count_;
    for (std::uint64_t n = 0; n < count; ++n) {
        const double share = static_cast<double>(n) / static_cast<double>(count - 1);
        const double exact = logarithmic_ ? low * std::pow(high / low, share) : low + (high - low) * share;
        const auto value = n == 0           ? low_
                           : n == count - 1 ? high_
                                            : static_cast<std::uint64_t>(std::llround(exact));
        if (all.empty() || all.back() != value) all.push_back(value);
    }
    return all;
}

}  // namespace sluice::fabric
