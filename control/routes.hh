// Routes, neighbours and interface addresses compiled into what the workers look up.
//
// Left-right: two FIBs; a change goes to the one that no worker reads, the policy that names it is published,
// and when every worker runs that policy the other one follows. Next hops, groups and their bucket tables
// keep their numbers and their buckets over a change as far as the change allows, so flows stay where they
// are.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/config.hh"
#include "dataplane/fib.hh"
#include "dataplane/policy.hh"

namespace sluice {

// A route that has several members, for the report.
struct EcmpGroup {
    std::string name;  // the first prefix that uses it
    struct Member {
        std::string address;
        std::string port;
        std::uint32_t weight;
        std::uint32_t next_hop;
    };
    std::vector<Member> members;  // in the order of `via`
};

class Routes {
  public:
    static constexpr unsigned default_max_routes = 16384;

    // Null when memory did not suffice. `name` is unique in the process.
    static std::unique_ptr<Routes> create(const std::string& name, Fib::Sizes sizes, unsigned capacity);

    // Writes the idle FIB and fills the routing part of `policy` so that it names it. `ports`: index and MAC
    // by name. An error is one line; the FIB in use is then untouched.
    struct PortInfo {
        PortId id;
        MacAddress mac;
    };
    std::string compile(const Config& config, const std::map<std::string, PortInfo, NaturalOrder>& ports,
                        Policy& policy);
    // Every worker runs the policy compiled last: the other FIB may follow.
    void published();

    // The longest prefix that covers the address in the tables that workers use.
    std::optional<IpPrefix> match(const IpAddress& address) const;

    const std::vector<EcmpGroup>& ecmp() const { return ecmp_; }

  private:
    using Entry = std::pair<IpPrefix, std::uint32_t>;  // prefix to group
    struct Side {
        std::unique_ptr<Fib> fib;
        std::vector<Entry> entries;  // sorted
    };
    using Via = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // next hop and weight

    Routes() = default;
    std::uint32_t next_hop_of(const NeighborConfig& neighbor, const PortInfo& port, Policy& policy);
    std::uint32_t group_of(const Via& via, Policy& policy, const std::vector<std::uint32_t>& previous);
    static bool synchronise(Side& side, const std::vector<Entry>& wanted);

    std::array<Side, 2> sides_;
    unsigned active_ = 0;
    std::map<std::tuple<IpAddress, PortId>, std::uint32_t> next_hop_ids_;
    std::map<IpPrefix, std::vector<std::uint32_t>> last_tables_;  // bucket tables by prefix
    std::map<Via, std::uint32_t> groups_;                         // of the policy being compiled
    std::vector<EcmpGroup> ecmp_;
};

}  // namespace sluice
