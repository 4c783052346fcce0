// Groups of next hops: for a configured list of neighbors and weights, the next hops and buckets that it has
// now.
//
// A neighbor is an address at a port. A group keeps its number while a route has its list. When a neighbor
// comes or goes, the groups that name it are filled again, and no route changes. Buckets stay with their
// members as far as the weights allow, so flows keep their paths.
//
// Changes are made step by step; then `commit` makes them final, or `roll_back` undoes them. Until then freed
// numbers and ranges are not reused, because the other side's tables still have them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/route_changes.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

// The tables of next-hop groups of a side, by number.
struct GroupTables {
    std::vector<NextHopGroup> next_hop_groups;
    std::vector<std::uint32_t> buckets;
    std::vector<BalanceMember> members;
    std::vector<NextHop> next_hops;
};

constexpr PortId any_port = max_ports;

struct GroupHop {
    IpAddress address;
    PortId port = any_port;  // any_port: each that has the neighbor, of the first origin that has any
    std::uint32_t weight = min_hop_weight;
    auto operator<=>(const GroupHop&) const = default;
};

// Routes with the same key share a group.
struct GroupKey {
    std::vector<GroupHop> via;  // not empty
    std::optional<LoadBalance> load_balance;
    std::optional<IpPrefix> destination{};  // where each has a group of its own
    auto operator<=>(const GroupKey&) const = default;
};

// A route that has several members, for the report.
struct EcmpGroup {
    std::string name;  // the first prefix that uses it
    std::uint32_t number;
    std::optional<LoadBalance> load_balance;  // absent: as the policy has it
    struct Member {
        std::string address;
        PortId port;
        std::uint32_t weight;
        std::uint32_t next_hop;
    };
    std::vector<Member> members;  // in the order of `via`
};

// Allocates numbers in runs of 2^n.
class NumberRanges {
  public:
    std::uint32_t take(unsigned log2_count);
    void give_back(std::uint32_t first, unsigned log2_count);
    std::uint32_t end() const { return end_; }  // above all that were ever given out

  private:
    std::uint32_t end_ = 0;
    std::vector<std::vector<std::uint32_t>> free_;  // by log2_count
};

class NextHopGroups {
  public:
    NextHopGroups();

    // The group of a key; a new one gets buckets close to `before`'s. Nothing beyond max_next_hop_groups.
    std::optional<std::uint32_t> next_hop_group_of(const GroupKey& key, std::uint32_t before);
    using Place = std::pair<IpAddress, PortId>;
    // Sets the neighbor of an origin at a place; nothing: it is gone. The first origin that has one counts.
    // `is_host`: packets to its address go to it. False beyond max_next_hops.
    bool set_neighbor(const Place& place, RouteOrigin origin, const std::optional<NextHop>& now,
                      bool is_host);
    // The next hops of packets to this address itself; empty: that origin has no such neighbor.
    std::vector<GroupHop> hosts(const IpAddress& address, RouteOrigin origin) const;
    // A route, or the neighbor's own prefix, uses the group from now on, or no longer. Groups below
    // first_next_hop_group are fixed and not counted.
    void set_use(std::uint32_t group, const IpPrefix& prefix, RouteOrigin origin, bool is_route,
                 bool is_used);
    const GroupKey& key(std::uint32_t group) const { return entries_[group]->key; }
    // True when a route names a mode of load balancing other than the hash.
    bool any_balanced() const { return balanced_ != 0; }
    // Calls what(address, next hop, true if it counts) for each neighbor of an origin, in order.
    template <class What>
    void for_each_neighbor(RouteOrigin origin, What what) const {
        for (const auto& [place, known] : known_)
            if (const auto& hop = known[static_cast<unsigned>(origin)].hop)
                what(place.first, *hop, &*hop == first(known));
    }

    // Writes the changes since the last commit into a side's tables.
    void write(GroupTables& tables) const;
    bool changed() const { return !changed_.empty() || !changed_hops_.empty(); }
    void commit();
    // `tables`: where the changes were written.
    void roll_back(GroupTables& tables);

    // A route of the configuration that names this place.
    std::optional<IpPrefix> route_by(const Place& place) const;
    std::vector<EcmpGroup> ecmp() const;
    std::size_t size() const { return by_key_.size(); }
    std::size_t buckets() const;

  private:
    struct Entry {
        GroupKey key;
        NextHopGroup group;
        std::vector<std::uint32_t> buckets;          // next hops
        std::vector<BalanceMember> balance_members;  // empty: one, or none
        std::vector<EcmpGroup::Member> members;
        std::array<std::set<IpPrefix>, route_origins> routes;
        std::array<bool, route_origins> is_neighbors_own{};
        bool is_used() const;
        // The first route that uses it, or null.
        const IpPrefix* name() const;
    };
    struct Told {  // by one origin
        std::optional<NextHop> hop;
        bool is_host = false;
    };
    using Known = std::array<Told, route_origins>;

    Entry& entry(std::uint32_t group) { return *entries_[group]; }
    static const NextHop* first(const Known& known);
    void count_neighbor(const Place& place, const NextHop* now, std::uint32_t number);
    std::vector<Place> places_of(const GroupHop& hop) const;
    void fill_by(const Place& place);
    void fill(Entry& entry, const std::vector<std::uint32_t>& before);
    void renew(NumberRanges& numbers, std::optional<unsigned> log2_before, unsigned log2_count,
               std::uint32_t& first);
    std::optional<std::uint32_t> number_of(const Place& place);
    void release_unused();

    std::vector<std::unique_ptr<Entry>> entries_;  // by group
    std::map<GroupKey, std::uint32_t> by_key_;
    std::size_t balanced_ = 0;                            // of them: those that name a mode beyond the hash
    std::set<std::pair<Place, std::uint32_t>> by_place_;  // groups that name it
    std::map<Place, Known> known_;                        // neighbors of every origin
    std::map<Place, std::uint32_t> neighbors_;            // numbers of those that count
    // A place keeps its number while numbers last, so that its counters continue when the neighbor returns.
    std::map<Place, std::uint32_t> hop_numbers_;
    std::vector<NextHop> next_hops_;  // by number
    NumberRanges group_numbers_, bucket_numbers_, member_numbers_;

    // Since the last commit.
    std::set<std::uint32_t> changed_, changed_hops_;
    std::set<std::uint32_t> perhaps_unused_;
    std::vector<std::function<void()>> undo_, at_commit_;
};

}  // namespace sluice
