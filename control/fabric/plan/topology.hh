// A fabric's nodes and links, with nothing resolved: a value that the kinds make (topology_kinds.hh) or a
// file names. Nodes and links are known by their place in the lists; a link's two ends are directions 0
// (from ends[0] to ends[1]) and 1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/values/units.hh"

namespace sluice::fabric {

using NodeId = std::uint32_t;
using LinkId = std::uint32_t;

struct Node {
    std::string name;
    bool is_host = false;
    unsigned tier = 0;          // hosts 0, switches from 1 on, spines above leaves; equal: neither is above
    unsigned pod = 0;           // where a picture groups it
    std::vector<LinkId> links;  // in the order of its ports
};

struct LinkEnd {
    NodeId node = 0;
    std::string port;  // its name there: that of the node at the other end, "spine1-2" for a second cable
};

struct Link {
    std::string name;  // "leaf1-spine2", "h1-leaf1": the lower end first; "leaf1-spine2-2" for a second cable
    std::array<LinkEnd, 2> ends;
    Rate speed;
    std::uint32_t cable_m = 0;  // at least 1
};

struct Topology {
    std::vector<Node> nodes;  // in the order in which the kind makes them: hosts first, then tier by tier
    std::vector<Link> links;
    bool up_down = false;  // a route goes up and then down, never up again: a Clos network
};

}  // namespace sluice::fabric
