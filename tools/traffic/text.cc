#include "tools/traffic/text.hh"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <span>

namespace sluice::traffic {
namespace {

struct Unit {
    std::string_view suffix;
    std::uint64_t factor;
};

constexpr Unit rate_units[] = {
    {"", 1}, {"k", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}, {"T", 1'000'000'000'000}};
constexpr Unit picosecond_units[] = {
    {"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}};
constexpr Unit nanosecond_units[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// value += digit x place; false on overflow.
bool add(std::uint64_t& value, std::uint64_t digit, std::uint64_t place) {
    std::uint64_t product;
    return !__builtin_mul_overflow(digit, place, &product) && !__builtin_add_overflow(value, product, &value);
}

// "digits[.digits]unit" in base units; nothing if it is not a whole number of them.
std::optional<std::uint64_t> parse_scaled(std::string_view text, std::span<const Unit> units) {
    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at])) ++at;
    const std::optional<std::uint64_t> whole = parse_number(text.substr(0, at));
    if (!whole) return std::nullopt;
    std::string_view fraction;
    if (at < text.size() && text[at] == '.') {
        const std::size_t begin = ++at;
        while (at < text.size() && is_digit(text[at])) ++at;
        fraction = text.substr(begin, at - begin);
        if (fraction.empty()) return std::nullopt;
    }
    for (const Unit& unit : units) {
        if (text.substr(at) != unit.suffix) continue;
        std::uint64_t value = 0;
        if (!add(value, *whole, unit.factor)) return std::nullopt;
        std::uint64_t place = unit.factor;
        for (const char c : fraction) {
            if (place % 10 != 0 && c != '0') return std::nullopt;
            place /= 10;
            if (!add(value, static_cast<std::uint64_t>(c - '0'), place)) return std::nullopt;
        }
        return value;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

std::optional<MacAddress> parse_mac(std::string_view text) {
    if (text.size() != 17) return std::nullopt;
    MacAddress mac;
    for (std::size_t i = 0; i < 6; ++i) {
        const char* begin = text.data() + 3 * i;
        if (i < 5 && begin[2] != ':') return std::nullopt;
        const auto [end, error] = std::from_chars(begin, begin + 2, mac.bytes[i], 16);
        if (error != std::errc{} || end != begin + 2) return std::nullopt;
    }
    return mac;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
    const std::string terminated{text};
    IpAddress address;
    address.is_v6 = text.find(':') != std::string_view::npos;
    if (inet_pton(address.is_v6 ? AF_INET6 : AF_INET, terminated.c_str(), address.bytes.data()) != 1) {
        return std::nullopt;
    }
    return address;
}

std::string to_text(const MacAddress& mac) {
    const auto& b = mac.bytes;
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

std::string to_text(const IpAddress& address) {
    char text[INET6_ADDRSTRLEN];
    inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, address.bytes.data(), text, sizeof text);
    return text;
}

std::optional<Rate> parse_rate(std::string_view text) {
    const auto value = parse_scaled(text, rate_units);
    if (!value) return std::nullopt;
    return Rate{*value};
}

std::optional<Duration> parse_duration(std::string_view text) {
    const auto value = parse_scaled(text, picosecond_units);
    if (!value || *value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return Duration{static_cast<std::int64_t>(*value)};
}

std::optional<std::uint64_t> parse_nanoseconds(std::string_view text) {
    return parse_scaled(text, nanosecond_units);
}

}  // namespace sluice::traffic
