// The next hops of every switch for each host, by its longest prefix, as the switch forwards.
//
// Prefixes are sets of hosts. Hosts of one switch that no prefix of any switch tells apart are a group, which
// every switch treats as one: a leaf's hosts where routes are by leaf, a single one where a route names it. A
// next hop counts when it is a neighbor at the other end of a cable that is up; a route whose next hops do
// not count drops, and no shorter prefix stands in for it. A host's own switch delivers to it whatever routes
// say. Made by control before a run; the plan outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// A link in one direction: 2 x link + the end that it leads to.
using Channel = std::uint32_t;

class Forwarding {
  public:
    explicit Forwarding(const FabricPlan& plan);  // its routes, all links up

    // With this link down, and routes computed anew; those by hand stand.
    void fail(LinkId down);

    struct Group {
        std::size_t leaf;  // index of the switch that delivers to it
        NodeId host;       // the first of its hosts
    };
    const std::vector<Group>& groups() const { return groups_; }
    std::size_t group_of(NodeId host) const { return group_of_[host]; }

    // The channels to other switches on which switch `at` forwards packets for the group.
    std::span<const Channel> hops(std::size_t at, std::size_t group) const {
        const Table& table = tables_[at];
        const std::uint32_t route = table.route_of[group];
        if (route == no_route) return {};
        return std::span(table.hops).subspan(table.first[route], table.first[route + 1] - table.first[route]);
    }
    // Index of the switch that it leads to.
    std::size_t end_of(Channel channel) const {
        return plan_.switch_of[plan_.topology.links[channel / 2].ends[channel % 2].node];
    }
    // The route for the group; null: none, or it delivers.
    const RouteConfig* route(std::size_t at, std::size_t group) const {
        const std::uint32_t route = tables_[at].route_of[group];
        return route == no_route ? nullptr : tables_[at].routes[route];
    }

  private:
    static constexpr std::uint32_t no_route = UINT32_MAX;
    struct Table {
        std::vector<const RouteConfig*> routes;  // of IPv4, sorted by prefix
        std::vector<std::uint32_t> route_of;     // by group
        std::vector<std::uint32_t> first;        // of its hops, by route, and the end of the last
        std::vector<Channel> hops;
    };
    using Range = std::pair<std::uint32_t, std::uint32_t>;  // from the first to before the second

    void find_neighbors(const SwitchPlan& each);
    Range hosts_in(const IpPrefix& prefix);
    void make_groups();
    void fill(std::size_t at);

    const FabricPlan& plan_;
    struct Host {
        IpAddress address;
        NodeId node;
    };
    std::vector<Host> hosts_;                                // sorted by address
    std::unordered_map<std::uint64_t, Range> ranges_;        // of every prefix that was asked for
    std::vector<std::map<NeighborKey, Channel>> neighbors_;  // of each switch
    std::vector<std::vector<RouteConfig>> computed_;         // after a failure
    std::vector<bool> down_;
    std::vector<Table> tables_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> group_of_;  // by node
    std::vector<std::uint32_t> group_at_;  // by place in hosts_, and the number of groups
};

}  // namespace sluice::fabric
