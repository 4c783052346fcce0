#include "control/fabric/workload/flow_values.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice::fabric {
namespace {

__extension__ using Wide = unsigned __int128;

// mantissa x 10^exponent. Digits behind the 19th significant one are left out.
struct Number {
    std::uint64_t mantissa = 0;
    int exponent = 0;
};

constexpr int max_exponent = 1'000'000;  // more digits than a line has

// Takes "12", "0.5" or "2e-05" off the front of the text.
ParsedValue<Number> take_number(std::string_view& text) {
    constexpr std::uint64_t most = (std::numeric_limits<std::uint64_t>::max() - 9) / 10;
    if (text.empty()) return bad_value("is empty");
    if (text.front() == '-') return bad_value("is negative");
    if (!is_digit(text.front())) return bad_value("does not start with a number");
    Number number;
    std::size_t at = 0;
    bool is_fraction = false;
    for (; at < text.size(); ++at) {
        if (text[at] == '.' && !is_fraction) {
            is_fraction = true;
            if (at + 1 == text.size() || !is_digit(text[at + 1]))
                return bad_value("has no digit after the decimal point");
            continue;
        }
        if (!is_digit(text[at])) break;
        const bool fits = number.mantissa <= most;
        if (fits) number.mantissa = 10 * number.mantissa + static_cast<unsigned>(text[at] - '0');
        number.exponent += (fits ? 0 : 1) - (is_fraction ? 1 : 0);
    }
    text.remove_prefix(at);
    // "5e" is 5 with the unit e.
    const bool has_exponent = text.size() > 1 && (text[0] == 'e' || text[0] == 'E') &&
                              (is_digit(text[1]) || ((text[1] == '-' || text[1] == '+') && text.size() > 2));
    if (!has_exponent) return number;
    const bool is_negative = text[1] == '-';
    text.remove_prefix(is_digit(text[1]) ? 1 : 2);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto exponent = parse_integer(text.substr(0, end));
    if (!exponent || *exponent > max_exponent) return bad_value("has an exponent out of range");
    text.remove_prefix(end);
    number.exponent += static_cast<int>(*exponent) * (is_negative ? -1 : 1);
    return number;
}

struct Amount {
    Wide value = 0;  // rounded to the nearest
    bool exact = true;
};

// number x unit; at most 10^30.
ParsedValue<Amount> amount_of(const Number& number, std::uint64_t unit) {
    constexpr int widest = 38;  // 10^38 fits in 128 bits
    Wide most = 1;
    for (int n = 0; n < 30; ++n) most *= 10;
    Wide value = Wide{number.mantissa} * unit;
    for (int n = 0; n < number.exponent && value != 0; ++n) {
        if (value > most / 10) return bad_value("is too large");
        value *= 10;
    }
    Wide divisor = 1;
    for (int n = 0; n < std::min(-number.exponent, widest); ++n) divisor *= 10;
    if (number.exponent < -widest) return Amount{0, value == 0};
    const Wide whole = value / divisor, rest = value % divisor;
    if (whole > most) return bad_value("is too large");
    return Amount{whole + (rest >= divisor - rest ? 1 : 0), rest == 0};
}

// A number with its unit, which `unit_of` knows, or with that of its column.
template <class UnitOf>
ParsedValue<Amount> parse_amount(std::string_view text, std::uint64_t unit, const UnitOf& unit_of) {
    const auto number = take_number(text);
    if (!number) return tl::unexpected(number.error());
    if (const std::string_view said = trimmed(text); !said.empty()) {
        const ParsedValue<std::uint64_t> own = unit_of(said);
        if (!own) return bad_value(fmt::format("has the unknown unit {}", in_quotes(said, 16)));
        unit = *own;
    }
    return amount_of(*number, unit);
}

// Rounded; at most 2^62.
ParsedValue<std::uint64_t> scaled(Wide value, double scale) {
    constexpr auto most = static_cast<long double>(1ULL << 62);
    const long double made = scale == 1 ? static_cast<long double>(value)  // exact up to 2^64
                                        : static_cast<long double>(value) * scale;
    if (!(made < most)) return bad_value("is too large");
    return static_cast<std::uint64_t>(llroundl(made));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

ParsedValue<Duration> parse_flow_time(std::string_view text, std::uint64_t unit, double scale) {
    const auto amount = parse_amount(text, unit, [](std::string_view said) {
        return parse_time("1" + std::string(said)).map([](Duration one) {
            return static_cast<std::uint64_t>(one.ps);
        });
    });
    if (!amount) return tl::unexpected(amount.error());
    const auto ps = scaled(amount->value, scale);
    if (!ps || *ps > static_cast<std::uint64_t>(max_flow_start.ps))
        return bad_value(fmt::format("is later than {}", print_time(max_flow_start)),
                         "count times from the first flow's, or write another scale_time");
    return Duration{static_cast<std::int64_t>(*ps)};
}

ParsedValue<std::uint64_t> parse_flow_bytes(std::string_view text, std::uint64_t unit, double scale) {
    const auto amount =
        parse_amount(text, unit, [](std::string_view said) { return parse_size("1" + std::string(said)); });
    if (!amount) return tl::unexpected(amount.error());
    if (!amount->exact) return bad_value("is not a whole number of bytes", "round it");
    if (amount->value == 0) return bad_value("is less than a byte", "leave the flow out");
    const auto bytes = scaled(amount->value, scale);
    if (!bytes || *bytes > max_flow_bytes)
        return bad_value(fmt::format("is more than {}", print_size(max_flow_bytes)),
                         "divide the flow, or write another scale_bytes");
    return std::max<std::uint64_t>(*bytes, 1);
}

ParsedValue<std::uint64_t> parse_whole(std::string_view text, std::uint64_t low, std::uint64_t high) {
    const auto value = parse_integer(text);
    if (!value) return value;
    if (*value < low || *value > high) return bad_value(fmt::format("is not from {} to {}", low, high));
    return value;
}

}  // namespace sluice::fabric
