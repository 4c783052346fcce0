// Quantities as people write them: sizes, rates, times, lengths, MAC and IP addresses, prefixes.
//
// A number is decimal, may have a fraction, never a sign or an exponent, and is exact: "1.5KB" is 1500 bytes,
// "0.1B" is refused. KB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024. A `parse_` function reads
// the text of its `print_` function back to the same value. Nothing here throws for any input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "control/config/schema/config.hh"

namespace sluice {

// `wrong` follows the value in a sentence ("has the unknown unit \"X\""); `remedy` may be empty.
struct ValueError {
    std::string wrong;
    std::string remedy;
};

template <class T>
using ParsedValue = tl::expected<T, ValueError>;

inline tl::unexpected<ValueError> bad_value(std::string wrong, std::string remedy = {}) {
    return tl::unexpected(ValueError{std::move(wrong), std::move(remedy)});
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

ParsedValue<std::uint64_t> parse_size(std::string_view text);     // bytes: "150KB", "1.5MiB", "9216"
ParsedValue<Rate> parse_rate(std::string_view text);              // "100G", "25Gbps", "400Gb/s", "1000000000"
ParsedValue<Duration> parse_time(std::string_view text);          // "200ms", "1.5s"; the unit is needed
ParsedValue<std::uint32_t> parse_length(std::string_view text);   // whole meters: "5m", "2km"
ParsedValue<Chance> parse_chance(std::string_view text);          // "0.1%", "50ppm", "1ppb"
ParsedValue<std::uint64_t> parse_integer(std::string_view text);  // decimal digits only
ParsedValue<MacAddress> parse_mac(std::string_view text);         // "02:00:00:00:00:01"
ParsedValue<LoadBalance> parse_load_balance(std::string_view text);  // "flowlet"
ParsedValue<IpAddress> parse_address(std::string_view text);         // "10.0.0.1", "2001:db8::1"
ParsedValue<IpPrefix> parse_prefix(std::string_view text);           // "10.0.0.1/24", host bits kept
ParsedValue<IpPrefix> parse_network(std::string_view text);          // "10.0.0.0/24", host bits refused

std::string print_size(std::uint64_t bytes);
std::string print_rate(Rate rate);
std::string print_time(Duration time);  // `time` not negative
std::string print_length(std::uint32_t meters);
std::string print_chance(Chance chance);
// The share in per cent, rounded up; "-" without a whole.
std::string print_share(std::uint64_t part, std::uint64_t whole);
std::string print_mac(const MacAddress& mac);
std::string print_address(const IpAddress& address);
std::string print_prefix(const IpPrefix& prefix);
// "169.254.0.1 dev p1"; without a port the address alone.
std::string print_next_hop(const IpAddress& address, std::string_view port);

// The prefix without its host bits. `length` must be at most the family's.
IpPrefix network_of(const IpPrefix& prefix);
// `prefix` covers `address`: same family, same first `length` bits.
bool contains(const IpPrefix& prefix, const IpAddress& address);

// Text as TOML has it: one line, in quotes, control characters escaped.
std::string toml_string(std::string_view text);
// The first whole UTF-8 characters of a text.
std::string_view first_characters(std::string_view text, std::size_t most_bytes);
// As toml_string, for a message: cut after `limit` bytes.
std::string in_quotes(std::string_view text, std::size_t limit = 60);

// "1 value", "2 000 values".
std::string print_count(std::uint64_t count, std::string_view noun);
// "was", "were".
std::string_view print_was(std::uint64_t count);

// Appends `item` to a list in `out`, with `separator` before it unless it is the first.
inline void append_item(std::string& out, std::string_view separator, std::string_view item) {
    if (!out.empty()) out += separator;
    out += item;
}

}  // namespace sluice
