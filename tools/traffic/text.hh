// Addresses and quantities as people write them: "02:00:00:00:00:01", "2001:db8::1", "100G", "2.5us".
// Parsing is exact and total: a text that does not mean a whole number of the base unit gives nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/config/schema/config.hh"
#include "lib/frame/headers.hh"
#include "lib/values/units.hh"

namespace sluice::traffic {

std::optional<MacAddress> parse_mac(std::string_view text);
std::optional<IpAddress> parse_ip(std::string_view text);
std::string to_text(const MacAddress& mac);
std::string to_text(const IpAddress& address);

std::optional<Rate> parse_rate(std::string_view text);  // "100G", "2.5G", "10M", "9600": bits a second
std::optional<Duration> parse_duration(
    std::string_view text);  // "5ms"; units ps, ns, us, ms, s; below 106 days
std::optional<std::uint64_t> parse_nanoseconds(std::string_view text);  // as above, up to 584 years
std::optional<std::uint64_t> parse_number(std::string_view text);       // digits only

}  // namespace sluice::traffic
