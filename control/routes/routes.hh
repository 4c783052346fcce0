// Routes, neighbors and interface addresses as the workers look them up.
//
// Left-right: two sides, each with its forwarding tables and groups. A change goes to the side that no worker
// reads, the policy that names it is published, and when every worker runs that policy the other side
// follows. Both cost what has changed.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/config/route_changes.hh"
#include "control/routes/next_hop_groups.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

// Of the forwarding tables: what the configuration says, or takes.
Fib::Sizes fib_sizes(const Config& config);
// Of the tables for longer prefixes, how many the configuration's own prefixes of a family take.
std::size_t tables_needed(const Config& config, bool v6);

class Routes {
  public:
    // Index and MAC of each port.
    struct PortInfo {
        PortId id;
        MacAddress mac;
    };
    using Ports = std::map<std::string, PortInfo, NaturalOrder>;

    // Null when memory did not suffice.
    static std::unique_ptr<Routes> create(const Fib::Sizes& sizes);

    // Of the configuration: whole or not at all; an error is one line that names what does not fit. Of the
    // kernel, which does not ask: what fits, and the rest is left out. Then, or when a policy that names the
    // tables runs everywhere, comes the next change.
    std::string change(const RouteChanges& changes, const Ports& ports);
    // By the last change of the kernel's: how many, and the first one's error.
    struct LeftOut {
        std::size_t count = 0;
        std::string first;
    };
    const LeftOut& left_out() const { return left_out_; }
    // The routing part of a policy: the tables with what was changed last.
    void name_in(Policy& policy) const;
    // Every worker runs that policy: the other side follows.
    void published();

    // What one prefix can stand for, the most important first; of two origins' the first's comes before.
    enum class Kind : std::uint8_t { own_address, neighbor, route, subnet };
    struct Source {
        RouteOrigin origin;
        Kind kind;
    };
    // The longest prefix that covers the address in the tables that workers use, and what it stands for.
    struct Match {
        IpPrefix prefix;
        Source source;
    };
    std::optional<Match> match(const IpAddress& address) const;
    // Every route, in the order of prefixes and origins.
    struct Listed {
        IpPrefix prefix;
        RouteOrigin origin;
        DropReason drop;      // of a route without next hops
        const NextHops* via;  // null: none
        bool used;            // else what comes before it is
    };
    std::vector<Listed> list() const;
    template <class What>  // NextHopGroups::for_each_neighbor
    void for_each_neighbor(RouteOrigin origin, What what) const {
        next_hop_groups_.for_each_neighbor(origin, what);
    }
    std::optional<IpPrefix> route_by(const IpAddress& hop) const { return next_hop_groups_.route_by(hop); }
    std::vector<EcmpGroup> ecmp() const { return next_hop_groups_.ecmp(); }
    std::size_t prefixes() const { return prefixes_.size(); }
    // What there is and what it takes, for people.
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
        unsigned first() const;                              // index of what it stands for; sources: nothing
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
    // False: the change is to be taken back for this error.
    bool goes_on(RouteOrigin origin, const std::string& error);
    std::string set_neighbor(const RouteChanges::Neighbor& change, RouteOrigin origin, const Ports& ports);
    std::string set_route(const RouteChanges::Route& change, RouteOrigin origin);
    void put(const IpPrefix& prefix, Source source, std::uint32_t group);
    std::uint32_t exchange(Prefix& entry, const IpPrefix& prefix, Source source, std::uint32_t group);
    // Brings a side to what is wanted of the prefixes in `steps_`. An error when one does not fit that is not
    // to be left out.
    std::string synchronize(unsigned side);
    void roll_back();
    void forget_unused();
    Prefixes::const_iterator longest(const IpAddress& address, int length, unsigned side) const;

    std::array<Side, 2> sides_;
    std::size_t table_bytes_ = 0;  // of both
    unsigned active_ = 0;
    bool changed_ = false;  // the idle side is ahead, and not published
    Prefixes prefixes_;
    NextHopGroups next_hop_groups_;
    std::vector<Step> steps_;  // of the change under way
    LeftOut left_out_;
};

}  // namespace sluice
