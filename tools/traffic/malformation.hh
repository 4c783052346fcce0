// The ways in which a frame can be out of the ordinary: broken, or right but not to be routed. One catalogue,
// from which recipes, help and the README's table take their names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::traffic {

enum class Malformation : std::uint8_t {
    truncated,
    short_ip,
    bad_checksum,
    bad_version,
    bad_ihl,
    ttl_0,
    ttl_1,
    fragment,
    options,
    ipv6_extension,
    long_options_chain,
    short_bth,
    bad_udp_length,
    bad_icrc,
    martian_source,
    group_source_mac,
    multicast,
    broadcast,
    wrong_mac,
    arp,
    lldp,
    unknown_ethertype,
    runt,
    giant,
    tagged,
    priority_tagged,
    qinq,
    three_tags,
    length_beyond_frame,
};

struct MalformationInfo {
    Malformation which;
    std::string_view name;
    bool v4;
    bool v6;
    std::string_view what;
};

std::span<const MalformationInfo> malformations();

}  // namespace sluice::traffic
