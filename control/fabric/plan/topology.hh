// A fabric's nodes and links, made from a few numbers or named in a file. An id is the place in the list; the
// directions of a link are 0 (from ends[0] to ends[1]) and 1.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/source_place.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

constexpr unsigned unreachable =
    std::numeric_limits<unsigned>::max();  // distance of a node that no link leads to

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

    unsigned end_at(NodeId node) const { return ends[0].node == node ? 0 : 1; }
    const LinkEnd& beyond(NodeId node) const { return ends[1 - end_at(node)]; }  // the other end
};

struct Topology {
    std::vector<Node> nodes;  // in the order in which the kind makes them: hosts first, then tier by tier
    std::vector<Link> links;
    bool up_down = false;  // a route goes up and then down, never up again: a Clos network

    bool joins_switches(const Link& link) const {
        return !nodes[link.ends[0].node].is_host && !nodes[link.ends[1].node].is_host;
    }
    std::vector<std::string> names(bool of_hosts) const;  // or of switches
};

enum class TopologyKind : std::uint8_t { star, dumbbell, leaf_spine, rail, three_tier, ring };

// An absent value has a default of its kind.
struct TopologySettings {
    TopologyKind kind = TopologyKind::star;
    std::optional<unsigned> hosts;  // of a star, a side, a leaf, a rack, a switch of a ring
    std::optional<unsigned> leaves, spines;
    std::optional<unsigned> pods, racks, aggs, cores;  // racks and aggs of a pod
    std::optional<unsigned> rails, servers;            // servers of a pod
    std::optional<unsigned> switches;                  // of a ring
    unsigned planes = 1;  // whole networks side by side, with no link between them; names begin with "p1"
    unsigned links = 1;   // parallel cables between two switches
    Rate host_speed = gigabits(100);
    std::optional<Rate> speed;                 // between switches; absent: by oversubscription, or host_speed
    std::optional<unsigned> oversubscription;  // hosts' capacity for one of a leaf's uplinks'
    std::uint32_t host_cable_m = 5;
    std::uint32_t cable_m = 40;
    std::uint32_t spine_cable_m = 300;  // of the top tier, with three_tier
};

// [[node]] and [[link]].
struct NodeConfig {
    std::string name;
    bool is_host = false;
    std::optional<unsigned> tier;
    SourcePlace place;
};
struct LinkConfig {
    std::vector<std::string> ends;  // two
    Rate speed = gigabits(100);
    std::uint32_t cable_m = 5;
    SourcePlace place;
};

// An error names the key and what to do.
tl::expected<Topology, std::string> make_topology(const TopologySettings& settings);
tl::expected<Topology, std::string> make_topology(const std::vector<NodeConfig>& nodes,
                                                  const std::vector<LinkConfig>& links);

}  // namespace sluice::fabric
