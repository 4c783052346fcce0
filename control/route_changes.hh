// What becomes of routes, neighbours and interface addresses: the difference between two configurations, or
// what a client asks for. Every change of them is one of these, and costs what it changes.
#pragma once

#include <optional>
#include <vector>

#include "control/config.hh"

namespace sluice {

struct RouteChanges {
    struct Route {
        IpPrefix prefix;
        std::optional<RouteConfig> now;  // nothing: deleted
    };
    struct Neighbor {
        IpAddress address;
        std::optional<NeighborConfig> now;
    };
    struct Own {
        IpPrefix prefix;  // of an interface: the address itself, or its subnet
        bool there;
    };
    std::vector<Route> routes;
    std::vector<Neighbor> neighbors;
    std::vector<Own> addresses, subnets;

    bool empty() const { return routes.empty() && neighbors.empty() && addresses.empty() && subnets.empty(); }
};

// From one configuration to another. What they share is not looked at.
RouteChanges route_changes(const Config& from, const Config& to);
// Routes and neighbours of the configuration as they are then.
void apply(const RouteChanges& changes, Config& config);

IpPrefix host_prefix(const IpAddress& address);

}  // namespace sluice
