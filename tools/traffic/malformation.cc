#include "tools/traffic/malformation.hh"

namespace sluice::traffic {
namespace {

using enum Malformation;

constexpr MalformationInfo malformation_table[] = {
    {truncated, "truncated", true, true, "captured only in part: caplen is half of len"},
    {short_ip, "short_ip", true, true, "IP length smaller than the headers"},
    {bad_checksum, "bad_checksum", true, false, "IPv4 header checksum wrong"},
    {bad_version, "bad_version", true, true, "IP version 5"},
    {bad_ihl, "bad_ihl", true, false, "IPv4 header length 16"},
    {ttl_0, "ttl_0", true, true, "TTL or hop limit 0"},
    {ttl_1, "ttl_1", true, true, "TTL or hop limit 1"},
    {fragment, "fragment", true, true, "first and later fragment in turn"},
    {options, "options", true, false, "IPv4 with 40 bytes of options; all right"},
    {ipv6_extension, "ipv6_extension", false, true, "hop-by-hop and destination options; all right"},
    {long_options_chain, "long_options_chain", false, true, "IPv6 headers longer than 256 bytes; all right"},
    {short_bth, "short_bth", true, true, "UDP ends inside the BTH"},
    {bad_udp_length, "bad_udp_length", true, true, "UDP length beyond the IP packet"},
    {bad_icrc, "bad_icrc", true, true, "ICRC wrong"},
    {martian_source, "martian_source", true, true, "source 127.0.0.1 or ::1"},
    {group_source_mac, "group_source_mac", true, true, "source MAC with the group bit"},
    {multicast, "multicast", true, true, "IP and MAC multicast"},
    {broadcast, "broadcast", true, false, "255.255.255.255 to the broadcast MAC"},
    {wrong_mac, "wrong_mac", true, true, "unicast destination MAC that is not the gateway's"},
    {arp, "arp", true, false, "ARP request for the destination"},
    {lldp, "lldp", true, true, "LLDP"},
    {unknown_ethertype, "unknown_ethertype", true, true, "type 0x88b5 (local experiments)"},
    {runt, "runt", true, false, "46 bytes, no padding"},
    {giant, "giant", true, true, "9500 bytes, or the flow's size if that is larger"},
    {tagged, "tagged", true, true, "one more 802.1Q tag; all right"},
    {priority_tagged, "priority_tagged", true, true, "one more tag, of VLAN 0; all right"},
    {qinq, "qinq", true, true, "802.1ad and 802.1Q tags; all right"},
    {three_tags, "three_tags", true, true, "three 802.1Q tags"},
    {length_beyond_frame, "length_beyond_frame", true, true, "IP length 100 bytes beyond the frame"},
};

}  // namespace

std::span<const MalformationInfo> malformations() { return malformation_table; }

}  // namespace sluice::traffic
