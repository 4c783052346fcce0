#include "control/fabric/plan/value_range.hh"

#include <fmt/format.h>

#include <cmath>

#include "control/config/schema/values.hh"

namespace sluice::fabric {
namespace {

using Refusal = tl::unexpected<std::string>;

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

tl::expected<std::uint64_t, std::string> ValueRange::read(Unit unit, std::string_view text) {
    const auto refuse = [&](const ValueError& error) { return Refusal(in_quotes(text) + " " + error.wrong); };
    switch (unit) {
        case Unit::number: {
            const auto value = parse_integer(text);
            return value ? tl::expected<std::uint64_t, std::string>(*value) : refuse(value.error());
        }
        case Unit::bytes: {
            const auto value = parse_size(text);
            return value ? tl::expected<std::uint64_t, std::string>(*value) : refuse(value.error());
        }
        case Unit::rate: {
            const auto value = parse_rate(text);
            return value ? tl::expected<std::uint64_t, std::string>(value->bits_per_second)
                         : refuse(value.error());
        }
        default: {
            const auto value = parse_time(text);
            return value ? tl::expected<std::uint64_t, std::string>(static_cast<std::uint64_t>(value->ps) /
                                                                    1000)
                         : refuse(value.error());
        }
    }
}

tl::expected<std::uint64_t, std::string> ValueRange::value(std::string_view text) const {
    return read(unit_, text);
}

tl::expected<ValueRange, std::string> ValueRange::parse(std::string_view text) {
    ValueRange range;
    const std::size_t dots = text.find("..");
    if (dots == text.npos) return Refusal(in_quotes(text) + " is no range; write LOW..HIGH");
    const std::string_view low = trimmed(text.substr(0, dots));
    std::string_view rest = trimmed(text.substr(dots + 2));
    const std::size_t blank = rest.find(' ');
    const std::string_view high = rest.substr(0, blank);
    rest = blank == rest.npos ? std::string_view{} : trimmed(rest.substr(blank));
    bool known = false;
    for (const Unit unit : {Unit::number, Unit::time, Unit::rate, Unit::bytes})
        if (!known && read(unit, low) && read(unit, high)) range.unit_ = unit, known = true;
    if (!known)
        return Refusal(fmt::format("{} and {} are no two numbers, sizes, rates or times", in_quotes(low),
                                   in_quotes(high)));
    range.low_ = *read(range.unit_, low);
    range.high_ = *read(range.unit_, high);
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
            fmt::format("{} is no number of points; write x2 to x{}", in_quotes(rest), max_points));
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

std::string ValueRange::text(std::uint64_t value) const {
    switch (unit_) {
        case Unit::number:
            return std::to_string(value);
        case Unit::bytes:
            return toml_string(print_size(value));
        case Unit::rate:
            return toml_string(print_rate({value}));
        default:
            return toml_string(print_time({static_cast<std::int64_t>(value * 1000)}));
    }
}

}  // namespace sluice::fabric
