// Routes of every switch of a fabric to the hosts of every leaf: shortest paths with all their next hops.
//
// `up_down`: a path goes up and then down and never up again, also after failures; where there is none, there
// is no route. `clockwise`: of a ring, always to the next switch in the circle. A next hop's weight by
// capacity is what it can carry onward to that leaf: the least of its link's speed and of what its own next
// hops can.
#pragma once

#include <cstdint>
#include <vector>

#include "control/fabric/plan/address_plan.hh"
#include "control/fabric/plan/stage.hh"
#include "control/fabric/plan/topology.hh"

namespace sluice::fabric {

enum class Weights : std::uint8_t { capacity, equal };
enum class Paths : std::uint8_t { shortest, up_down, clockwise };

struct RoutingSettings {
    Paths paths = Paths::shortest;
    Weights weights = Weights::capacity;
};

struct Hop {
    LinkId link;
    std::uint32_t weight;  // in [1, 256]
    bool operator==(const Hop&) const = default;
};
struct Route {
    IpPrefix prefix;
    std::vector<Hop> hops;  // by link
};

// By node, then by prefix. `links_down`: out of order; empty: none.
std::vector<std::vector<Route>> routes_of(const Topology& topology, const AddressPlan& plan,
                                          const std::vector<bool>& links_down,
                                          const RoutingSettings& settings, const Stage& stage = tell_nobody);

}  // namespace sluice::fabric
