// Answers for a port without a kernel: a frame in, the reply's frame out, or nothing. The caller limits the
// rate.
//
// - ARP requests (RFC 826) and neighbor solicitations (RFC 4861) for the port's own addresses; for others'
// as
//   a proxy (RFC 1027; RFC 4861 7.2.8), where `proxied` says that they lie behind another port. Nothing is
//   learned from them.
// - Echo requests (RFC 792, RFC 4443) to any address of the switch; port unreachable for UDP to them.
// - TTL or hop limit used up: time exceeded. Longer than the next hop's MTU: fragmentation needed (RFC 1191)
//   when the packet says not to fragment, packet too big; without DF nothing, for we do not fragment.
//
// Errors go out only where RFC 1812 4.3.2.7 and RFC 4443 2.4 (e) allow it: not about ICMP errors, later
// fragments, group or broadcast destinations, nor to sources that are not a single host. They have the port's
// address, precedence 7 and quote the packet up to 576 or 1280 bytes. A reply goes back to the frame's source
// MAC, with its tags. Fragments are not put together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"

namespace sluice {

struct ResponderPort {
    MacAddress mac;
    bool promiscuous = false;          // of the port, as for `parse`
    std::span<const IpPrefix> own;     // its addresses, with their subnets
    std::span<const IpAddress> local;  // of all ports, sorted
    // True for addresses whose packets hosts here send to the port's MAC; empty: none.
    std::function<bool(const IpAddress&)> proxied;
};

// `frame`: whole. `exceeded_mtu`: of the egress link, when the frame was longer; else 0. Empty: no reply.
std::vector<std::uint8_t> respond(std::span<const std::uint8_t> frame, const ResponderPort& port,
                                  std::uint16_t exceeded_mtu);

}  // namespace sluice
