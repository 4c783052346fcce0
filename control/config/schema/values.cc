#include "control/config/schema/values.hh"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <span>

#include "control/config/text/controls.hh"
#include "control/config/text/quantity_text.hh"

namespace sluice {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::uint64_t kilo = 1'000, mega = 1'000'000, giga = 1'000'000'000, tera = 1'000'000'000'000;

// In each table the names that printing uses come first, largest first.
constexpr Unit size_units[] = {
    {"TB", tera},        {"GB", giga},        {"MB", mega},        {"KB", kilo}, {"TiB", 1ULL << 40},
    {"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}, {"B", 1},     {"", 1},
    {"kB", kilo},        {"K", kilo},         {"k", kilo},         {"M", mega},  {"G", giga},
    {"T", tera}};
constexpr Unit rate_units[] = {
    {"T", tera},    {"G", giga},      {"M", mega},    {"K", kilo},      {"bps", 1},       {"", 1},
    {"b/s", 1},     {"bit/s", 1},     {"Tbps", tera}, {"Tb/s", tera},   {"Tbit/s", tera}, {"Gbps", giga},
    {"Gb/s", giga}, {"Gbit/s", giga}, {"Mbps", mega}, {"Mb/s", mega},   {"Mbit/s", mega}, {"Kbps", kilo},
    {"kbps", kilo}, {"Kb/s", kilo},   {"kb/s", kilo}, {"kbit/s", kilo}, {"k", kilo}};
constexpr Unit time_units[] = {{"s", tera}, {"ms", giga}, {"us", mega}, {"ns", kilo}, {"ps", 1}};
constexpr Unit chance_units[] = {{"%", Chance::one_percent}, {"ppm", kilo}, {"ppb", 1}};
constexpr Unit length_units[] = {{"km", kilo}, {"m", 1}, {"", 1}};

// A decimal number: mantissa / 10^scale.
struct Decimal {
    std::uint64_t mantissa = 0;
    unsigned scale = 0;
};

constexpr unsigned max_fraction_digits = 18;  // 10^18 fits in 64 bits

bool append_digit(std::uint64_t& value, char digit) {
    return !__builtin_mul_overflow(value, 10U, &value) &&
           !__builtin_add_overflow(value, static_cast<unsigned>(digit - '0'), &value);
}

// Takes the number off the front of `text`.
ParsedValue<Decimal> take_decimal(std::string_view& text) {
    if (text.empty()) return bad_value("is empty");
    if (text.front() == '-') return bad_value("is negative");
    if (!is_digit(text.front())) return bad_value("does not start with a number");
    Decimal number;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at)
        if (!append_digit(number.mantissa, text[at])) return bad_value("is too large");
    if (at < text.size() && text[at] == '.') {
        const std::size_t first = ++at;
        while (at < text.size() && is_digit(text[at])) ++at;
        if (at == first) return bad_value("has no digit after the decimal point");
        std::size_t last = at;  // trailing zeros say nothing
        while (last > first && text[last - 1] == '0') --last;
        if (last - first > max_fraction_digits) return bad_value("has too many digits");
        for (std::size_t i = first; i < last; ++i)
            if (!append_digit(number.mantissa, text[i])) return bad_value("has too many digits");
        number.scale = static_cast<unsigned>(last - first);
    }
    text.remove_prefix(at);
    return number;
}

// `text` in the smallest of `units`, exactly.
ParsedValue<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                          std::string_view whole_of) {
    const auto number = take_decimal(text);
    if (!number) return tl::unexpected(number.error());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == text; });
    if (unit == units.end()) {
        if (text.empty()) return bad_value("has no unit");
        return bad_value(fmt::format("has the unknown unit {}", in_quotes(text, 16)));
    }
    std::uint64_t divisor = 1;
    for (unsigned i = 0; i < number->scale; ++i) divisor *= 10;
    const std::uint64_t common = std::gcd(divisor, unit->factor);
    divisor /= common;
    if (number->mantissa % divisor != 0)
        return bad_value(fmt::format("is not a whole number of {}", whole_of));
    std::uint64_t value = 0;
    if (__builtin_mul_overflow(number->mantissa / divisor, unit->factor / common, &value))
        return bad_value("is too large");
    return value;
}

std::string print_quantity(std::uint64_t value, std::span<const Unit> units, std::string_view smallest) {
    for (const Unit& unit : units) {
        if (unit.name == smallest) break;
        if (value != 0 && value % unit.factor == 0)
            return fmt::format("{}{}", value / unit.factor, unit.name);
    }
    return fmt::format("{}{}", value, smallest);
}

unsigned family_bits(const IpAddress& address) { return address.is_v6 ? 128 : 32; }

}  // namespace

ParsedValue<std::uint64_t> parse_size(std::string_view text) {
    return parse_quantity(text, size_units, "bytes");
}

ParsedValue<Rate> parse_rate(std::string_view text) {
    return parse_quantity(text, rate_units, "bits a second").map([](std::uint64_t bits) {
        return Rate{bits};
    });
}

ParsedValue<Duration> parse_time(std::string_view text) {
    if (text == "0") return Duration{};
    const auto ps = parse_quantity(text, time_units, "picoseconds");
    if (!ps) return tl::unexpected(ps.error());
    if (*ps > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return bad_value("is too large");
    return Duration{static_cast<std::int64_t>(*ps)};
}

ParsedValue<std::uint32_t> parse_length(std::string_view text) {
    const auto meters = parse_quantity(text, length_units, "meters");
    if (!meters) return tl::unexpected(meters.error());
    if (*meters > std::numeric_limits<std::uint32_t>::max()) return bad_value("is too large");
    return static_cast<std::uint32_t>(*meters);
}

ParsedValue<Chance> parse_chance(std::string_view text) {
    const auto parts = parse_quantity(text, chance_units, "parts per billion");
    if (!parts) return tl::unexpected(parts.error());
    if (*parts > Chance::always) return bad_value("is more than 100%");
    return Chance{static_cast<std::uint32_t>(*parts)};
}

ParsedValue<std::uint64_t> parse_integer(std::string_view text) {
    const auto number = take_decimal(text);
    if (!number) return tl::unexpected(number.error());
    if (!text.empty() || number->scale != 0) return bad_value("is not a whole number");
    return number->mantissa;
}

ParsedValue<MacAddress> parse_mac(std::string_view text) {
    constexpr std::size_t mac_characters = 17;
    MacAddress mac;
    if (text.size() != mac_characters) return bad_value("is not a MAC address");
    for (std::size_t i = 0; i < mac.bytes.size(); ++i) {
        const char* const digits = text.data() + 3 * i;
        const auto [end, error] = std::from_chars(digits, digits + 2, mac.bytes[i], 16);
        const bool goes_on = i + 1 == mac.bytes.size() || digits[2] == ':';
        if (error != std::errc{} || end != digits + 2 || !goes_on) return bad_value("is not a MAC address");
    }
    return mac;
}

ParsedValue<LoadBalance> parse_load_balance(std::string_view text) {
    for (std::size_t n = 0; n < load_balance_names.size(); ++n)
        if (load_balance_names[n] == text) return static_cast<LoadBalance>(n);
    return bad_value("is not a mode of load balancing", "write hash, flowlet, adaptive or packet");
}

ParsedValue<IpAddress> parse_address(std::string_view text) {
    IpAddress address;
    const std::string zero_ended(text);
    if (text.find('\0') != text.npos) return bad_value("is not an IP address");
    if (inet_pton(AF_INET, zero_ended.c_str(), address.bytes.data()) == 1) return address;
    address.is_v6 = true;
    if (inet_pton(AF_INET6, zero_ended.c_str(), address.bytes.data()) == 1) return address;
    if (text.find('/') != text.npos) return bad_value("is not an IP address", "leave the prefix length out");
    return bad_value("is not an IP address");
}

ParsedValue<IpPrefix> parse_prefix(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = parse_address(text.substr(0, slash));
    if (!address) return bad_value("is not an IP address with a prefix length");
    const unsigned bits = family_bits(*address);
    if (slash == text.npos)
        return bad_value("has no prefix length",
                         fmt::format("write {}/{} for one host alone, or a shorter length", text, bits));
    const auto length = parse_integer(text.substr(slash + 1));
    if (!length || *length > bits)
        return bad_value(fmt::format("has a prefix length that is not a number from 0 to {}", bits));
    return IpPrefix{*address, static_cast<std::uint8_t>(*length)};
}

ParsedValue<IpPrefix> parse_network(std::string_view text) {
    auto prefix = parse_prefix(text);
    if (!prefix) return prefix;
    const IpPrefix network = network_of(*prefix);
    if (network != *prefix)
        return bad_value("has host bits set", fmt::format("write {}", print_prefix(network)));
    return prefix;
}

std::string print_size(std::uint64_t bytes) { return print_quantity(bytes, size_units, "B"); }
std::string print_rate(Rate rate) { return print_quantity(rate.bits_per_second, rate_units, "bps"); }
std::string print_time(Duration time) {
    if (time.ps == 0) return "0ns";
    return print_quantity(static_cast<std::uint64_t>(time.ps), time_units, "ps");
}
std::string print_length(std::uint32_t meters) { return fmt::format("{}m", meters); }

std::string print_chance(Chance chance) {
    return print_quantity(chance.parts_per_billion, chance_units,
                          chance.parts_per_billion == 0 ? "%" : "ppb");
}

std::string print_share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : fmt::format("{} %", (100 * part + whole - 1) / whole);
}

std::string print_mac(const MacAddress& mac) {
    const auto& b = mac.bytes;
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

std::string print_address(const IpAddress& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size()) ==
        nullptr)
        return "?";  // cannot be: the family is known and the room is enough
    return text.data();
}

std::string print_prefix(const IpPrefix& prefix) {
    return fmt::format("{}/{}", print_address(prefix.address), prefix.length);
}

std::string print_next_hop(const IpAddress& address, std::string_view port) {
    return port.empty() ? print_address(address) : fmt::format("{} dev {}", print_address(address), port);
}

IpPrefix network_of(const IpPrefix& prefix) {
    IpPrefix network = prefix;
    const unsigned size = family_bits(prefix.address) / 8;
    for (unsigned i = 0; i < size; ++i) {
        const unsigned before = 8 * i;
        const unsigned kept = prefix.length <= before ? 0 : std::min(8U, prefix.length - before);
        network.address.bytes[i] &= static_cast<std::uint8_t>(0xFF00U >> kept);
    }
    return network;
}

bool contains(const IpPrefix& prefix, const IpAddress& address) {
    if (prefix.address.is_v6 != address.is_v6) return false;
    return network_of({address, prefix.length}).address == network_of(prefix).address;
}

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size(); at += character_bytes(text, at)) {
        const std::string_view character = text.substr(at, character_bytes(text, at));
        if (character == "\"" || character == "\\")
            out += {'\\', character[0]};
        else if (const Control control = control_at(text, at); control.bytes != 0)
            out += fmt::format("\\u{:04X}", control.code);
        else
            out += character;
    }
    return out + '"';
}

std::string print_count(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", grouped_text(count), noun, count == 1 ? "" : "s");
}

std::string_view print_was(std::uint64_t count) { return count == 1 ? "was" : "were"; }

std::string_view first_characters(std::string_view text, std::size_t most_bytes) {
    if (text.size() <= most_bytes) return text;
    // Continuation bytes of UTF-8 are 10xxxxxx.
    while (most_bytes > 0 && (static_cast<unsigned char>(text[most_bytes]) & 0xC0U) == 0x80U) --most_bytes;
    return text.substr(0, most_bytes);
}

std::string in_quotes(std::string_view text, std::size_t limit) {
    const std::string_view start = first_characters(text, limit);
    std::string out = toml_string(start);
    if (start.size() < text.size()) out.insert(out.size() - 1, "...");
    return out;
}

}  // namespace sluice
