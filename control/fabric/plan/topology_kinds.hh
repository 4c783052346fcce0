// The shapes of fabrics: a topology from a few numbers, or from nodes and links by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/topology.hh"

namespace sluice::fabric {

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

// An error names the key and what to do.
tl::expected<Topology, std::string> make_topology(const TopologySettings& settings);

struct NamedNode {
    std::string name;
    bool is_host = false;
    std::optional<unsigned> tier;
};
struct NamedLink {
    std::string a, b;
    Rate speed = gigabits(100);
    std::uint32_t cable_m = 5;
};
tl::expected<Topology, std::string> make_topology(const std::vector<NamedNode>& nodes,
                                                  const std::vector<NamedLink>& links);

}  // namespace sluice::fabric
