// Changes of routes, neighbors and interface addresses: the difference between two configurations, a client's
// request, or a message of the kernel. The cost of a change is that of the changed entries.
#pragma once

#include <optional>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// The origins of an entry, the preferred one first.
enum class RouteOrigin : std::uint8_t { configuration, kernel };
constexpr unsigned route_origins = 2;

struct RouteChanges {
    struct Route {
        IpPrefix prefix;
        std::optional<RouteConfig> now;  // nothing: deleted
        bool elsewhere = false;          // by no port of ours: dropped as no_route
    };
    struct Neighbor {
        NeighborKey at;
        std::optional<NeighborConfig> now;
        bool is_host = true;  // packets to its address go to it; never to a link-local one
    };
    struct Own {
        IpPrefix prefix;  // of an interface: the address itself, or its subnet
        bool there;
    };
    RouteOrigin origin = RouteOrigin::configuration;
    std::vector<Route> routes;
    std::vector<Neighbor> neighbors;
    std::vector<Own> addresses, subnets;

    bool empty() const { return routes.empty() && neighbors.empty() && addresses.empty() && subnets.empty(); }
};

// The changes from one configuration to another.
RouteChanges route_changes(const Config& from, const Config& to);
// Applies changes of routes and neighbors.
void apply(const RouteChanges& changes, Config& config);

IpPrefix host_prefix(const IpAddress& address);

}  // namespace sluice
