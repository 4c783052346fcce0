// Addresses and MACs of a fabric: a prefix for each switch with hosts, a pair for each cable.
//
// A leaf owns one prefix of 10.0.0.0/8 with just enough room, each host a /31 in it: the switch's address is
// even, the host's odd (RFC 3021). Cables between switches take pairs out of 172.16.0.0/12. MAC addresses are
// locally administered: 02:53 for switches, 02:48 for hosts, then link and end.
#pragma once

#include <map>
#include <vector>

#include "control/fabric/plan/topology.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"

namespace sluice::fabric {

class AddressPlan {
  public:
    AddressPlan() = default;
    explicit AddressPlan(const Topology& topology);

    IpAddress address(LinkId link, unsigned end) const { return to_address(pairs_[link][end]); }
    IpPrefix interface(LinkId link, unsigned end) const { return {address(link, end), 31}; }
    MacAddress mac(LinkId link, unsigned end) const { return macs_[link][end]; }
    // Of the hosts behind a switch that has some, in the order of nodes.
    struct Leaf {
        NodeId node;
        IpPrefix prefix;
    };
    const std::vector<Leaf>& leaves() const { return leaves_; }

  private:
    static IpAddress to_address(std::uint32_t address);
    std::vector<std::array<std::uint32_t, 2>> pairs_;  // IPv4, by link and end
    std::vector<std::array<MacAddress, 2>> macs_;
    std::vector<Leaf> leaves_;
};

}  // namespace sluice::fabric
