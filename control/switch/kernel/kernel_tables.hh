// The kernel's routes, neighbors and addresses at our ports, and the changes of our tables that follow: the
// mirror of the kernel without its socket.
//
// A port here is an interface of the kernel that is one of our devices. The table `local` comes first, as in
// the kernel: its prefixes are the machine's own, on any interface. Of a prefix the route of lowest metric
// counts, with its legs by our ports. A route by other interfaces only is not ours, but its packets do not go
// by a shorter prefix either, nor do those of a `throw`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/schema/route_changes.hh"
#include "control/switch/kernel/netlink.hh"

namespace sluice {

class KernelTables {
  public:
    using Ports = std::map<int, std::string>;  // by interface index

    explicit KernelTables(Ports ports) : ports_(std::move(ports)) {}

    void apply(const KernelMessage& message);
    // After a full dump, perhaps for other ports: removes entries that are not in `fresh`.
    void replace(KernelTables fresh);

    // The changes for our tables since the last call.
    RouteChanges take_changes();
    // Makes every entry a change again.
    void repeat();

    // Changes of our ports' interfaces since the last call.
    struct LinkNotice {
        std::string port;
        KernelLink before;
        KernelLink now;
    };
    std::vector<LinkNotice> take_link_notices() { return std::exchange(link_notices_, {}); }

    // At most so many neighbors for the kernel to resolve: gateways of routes by our ports, which it is to
    // keep resolved, and stale neighbors.
    struct Wanted {
        int interface;
        IpAddress address;
        bool keep;
    };
    std::vector<Wanted> take_wanted(std::size_t most);
    // A packet to this address found no neighbor.
    void want(const IpAddress& destination);
    std::vector<Wanted> gateways() const;

    // True when a full dump is needed: a link that went up or down, or a next hop object, removes IPv4 routes
    // without notice, and of several routes of a prefix and metric these tables keep one.
    bool take_asks_again() { return std::exchange(asks_again_, false); }

    // Addresses of every interface, and the prefixes of the table `local`.
    std::set<IpPrefix> own() const;
    bool has_address(int interface, const IpAddress& address) const {
        const auto found = addresses_.find(address);
        return found != addresses_.end() && found->second.contains(interface);
    }
    bool take_own_changed() { return std::exchange(own_changed_, false); }

    // iproute2's word for a route of the kernel that drops packets; empty: another route.
    std::string_view drop_word(const IpPrefix& prefix) const;

    std::size_t routes() const { return routes_.size(); }
    std::size_t routes_elsewhere() const;  // of these, those by no port of ours
    std::size_t throws() const;            // and those that end the search
    // Beside these, not followed: those for packets of one TOS, and from one source.
    std::size_t routes_by_tos() const { return by_tos_.size(); }
    std::size_t routes_by_source() const { return by_source_.size(); }
    std::size_t rules() const { return rules_.size(); }  // policy rules, of which none is followed
    // Names of routes and rules that the switch does not follow as the kernel does, since the last call.
    std::vector<std::string> take_not_mirrored() { return std::exchange(not_mirrored_, {}); }
    std::size_t neighbors() const { return neighbors_.size(); }
    const Ports& ports() const { return ports_; }

  private:
    struct Route {
        KernelRoute::Kind kind = KernelRoute::Kind::unicast;
        std::vector<KernelLeg> legs;
        bool several = false;  // there are others beside it, which are not known
        bool operator==(const Route&) const = default;
    };
    using Metrics = std::map<std::uint32_t, Route>;  // of one prefix, the best first
    struct Neighbor {
        MacAddress mac;
        bool stale = false;
        bool permanent = false;
        bool operator==(const Neighbor& other) const { return mac == other.mac; }
    };
    using Place = std::pair<int, IpAddress>;  // an interface, and an address on its link

    void learn(const KernelLink& link);
    void learn(const KernelAddress& address);
    void learn(const KernelNeighbor& neighbor);
    void learn(const KernelRoute& route);
    void learn(const KernelRule& rule);
    void learn(const KernelNextHops&) { asks_again_ = true; }
    void take_local(const KernelRoute& route);
    void take_special(const KernelRoute& route);
    void know(std::set<std::string>& names, const std::string& name, bool there);
    void change_local(const IpPrefix& prefix);
    bool is_local(const IpPrefix& prefix) const;
    // Every change of a route; null: it is gone.
    void store(const IpPrefix& prefix, std::uint32_t metric, const Route* route);
    void count_gateways(const Route& route, bool more);
    // Entries of interfaces that are ports on one side only are changes.
    void change_ports(const KernelTables& fresh);
    const Route* best(const IpPrefix& prefix) const;
    // The route of the longest prefix, or null.
    const Route* route_to(const IpAddress& destination) const;
    // Makes the neighbors within a prefix changes, whose packets may go by its route.
    void change_neighbors(const IpPrefix& prefix);
    RouteChanges::Neighbor wanted_neighbor(const NeighborKey& key) const;
    bool is_ours(const KernelLeg& leg) const { return ports_.contains(leg.index); }
    bool is_subnet(const IpPrefix& prefix) const;
    RouteChanges::Route wanted_route(const IpPrefix& prefix) const;

    Ports ports_;
    std::map<int, KernelLink> links_;                         // our ports'
    std::map<IpAddress, std::map<int, Neighbor>> neighbors_;  // at our ports, by interface
    std::map<IpPrefix, Metrics> routes_;
    std::map<Place, std::size_t> gateways_;         // at our ports; how many routes go by each
    std::map<IpAddress, std::set<int>> addresses_;  // by interfaces that have it
    std::map<IpPrefix, std::set<int>> local_;       // the table `local`; likewise
    // By what follows the prefix, and the metric: "10.6.0.0/16 tos 0x10 metric 5".
    std::set<std::string> by_tos_, by_source_;
    std::set<std::string> rules_;

    // Since they were last taken.
    std::set<IpPrefix> changed_prefixes_;
    std::set<NeighborKey> changed_neighbors_;
    std::set<IpPrefix> changed_local_;
    std::vector<std::string> not_mirrored_;
    std::vector<LinkNotice> link_notices_;
    std::set<Place> wanted_;
    bool own_changed_ = false;
    bool asks_again_ = false;
};

}  // namespace sluice
