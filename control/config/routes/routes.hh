// Routes, neighbors and interface addresses for the workers.
//
// Left-right: two sides, each with its forwarding tables and groups. `change` writes the side that no worker
// reads, the caller publishes a policy that names it, and when every worker runs that policy `published`
// updates the other side. The cost of both is that of the changes.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/config/routes/next_hop_groups.hh"
#include "control/config/schema/route_changes.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

// Sizes of the forwarding tables: configured, or those that the configuration needs.
Fib::Sizes fib_sizes(const Config& config);
// The second-level tables that the configuration's prefixes of a family take.
std::size_t tables_needed(const Config& config, bool v6);

class Routes {
  public:
    // Index and MAC of each port.
    struct PortInfo {
        PortId id;
        MacAddress mac;
    };
    using Ports = std::map<std::string, PortInfo, NaturalOrder>;

    // Null when memory did not suffice. `by_destination`: no two routes share a group.
    static std::unique_ptr<Routes> create(const Fib::Sizes& sizes, bool by_destination = false);

    // The configuration's changes apply whole or not at all; an error is a line that names the entry that
    // does not fit. Of the kernel's, entries that do not fit are left out. Then call
    // `published`.
    std::string change(const RouteChanges& changes, const Ports& ports);
    // Entries that the last change of the kernel's left out: their number, and the first error.
    struct LeftOut {
        std::size_t count = 0;
        std::string first;
    };
    const LeftOut& left_out() const { return left_out_; }
    // Fills in the routing part of a policy: the tables with the last change.
    void name_in(Policy& policy) const;
    // Every worker runs that policy: updates the other side.
    void published();

    // The kinds of entry of a prefix, the preferred one first; the first origin is preferred, too.
    enum class Kind : std::uint8_t { own_address, neighbor, route, subnet };
    struct Source {
        RouteOrigin origin;
        Kind kind;
    };
    // The longest prefix that covers the address in the workers' tables, and its kind of entry.
    struct Match {
        IpPrefix prefix;
        Source source;
    };
    std::optional<Match> match(const IpAddress& address) const;
    // Every route, in the order of prefixes and origins.
    struct Listed {
        IpPrefix prefix;
        RouteOrigin origin;
        DropReason drop;  // of a route without next hops
        std::uint32_t group;
        const GroupKey* key;  // null: no next hops
        bool used;            // else a preferred one is
    };
    std::vector<Listed> list() const;
    template <class What>  // NextHopGroups::for_each_neighbor
    void for_each_neighbor(RouteOrigin origin, What what) const {
        next_hop_groups_.for_each_neighbor(origin, what);
    }
    // A route of the configuration that names the address at this port, or at `any_port`.
    std::optional<IpPrefix> route_by(const IpAddress& hop, PortId port) const {
        return next_hop_groups_.route_by({hop, port});
    }
    std::vector<EcmpGroup> ecmp() const { return next_hop_groups_.ecmp(); }
    std::size_t prefixes() const { return prefixes_.size(); }
    // The number of entries and their memory, as text.
    std::string account() const;
    std::size_t next_hop_groups() const { return next_hop_groups_.size(); }
    const Fib& fib() const { return *sides_[active_].fib; }

  private:
    static constexpr unsigned kinds = 4;
    static constexpr unsigned sources = route_origins * kinds;
    static constexpr std::uint32_t none = ~0U;
    static unsigned index(const Source& source) {
        return static_cast<unsigned>(source.origin) * kinds + static_cast<unsigned>(source.kind);
    }

    struct Prefix {
        Prefix() { groups.fill(none); }
        std::array<std::uint32_t, sources> groups;           // by index(source)
        std::array<std::uint32_t, 2> installed{none, none};  // by side
        unsigned first() const;                              // index of the preferred entry; sources: nothing
        std::uint32_t wanted() const { return first() < sources ? groups[first()] : none; }
    };
    struct Step {
        IpPrefix prefix;
        Source source;
        std::uint32_t before;
    };
    struct Side {
        std::unique_ptr<Fib> fib;
        GroupTables tables;
    };
    using Prefixes = std::map<IpPrefix, Prefix>;

    Routes() = default;
    unsigned idle() const { return 1 - active_; }
    std::string change_tables(const RouteChanges& changes, const Ports& ports);
    // False: this error undoes the change.
    bool goes_on(RouteOrigin origin, const std::string& error);
    std::string set_neighbor(const RouteChanges::Neighbor& change, RouteOrigin origin, const Ports& ports);
    std::string set_route(const RouteChanges::Route& change, RouteOrigin origin, const Ports& ports);
    // The group of a key at a prefix, with buckets close to those of the group there.
    std::optional<std::uint32_t> group_at(const IpPrefix& prefix, Source source, const GroupKey& key);
    void set_route(const IpPrefix& prefix, Source source, std::uint32_t group);
    std::uint32_t exchange(Prefix& entry, const IpPrefix& prefix, Source source, std::uint32_t group);
    // Brings a side to the wanted state of the prefixes in `steps_`. An error: an entry does not fit.
    std::string synchronize(unsigned side);
    void roll_back();
    void forget_unused();
    Prefixes::const_iterator longest(const IpAddress& address, int length, unsigned side) const;

    std::array<Side, 2> sides_;
    std::size_t table_bytes_ = 0;  // of both
    bool by_destination_ = false;
    unsigned active_ = 0;
    bool changed_ = false;  // the idle side is ahead, and not published
    Prefixes prefixes_;
    NextHopGroups next_hop_groups_;
    std::vector<Step> steps_;  // of the change under way
    LeftOut left_out_;
};

}  // namespace sluice
