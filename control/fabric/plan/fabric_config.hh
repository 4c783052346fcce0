// A fabric's file as a value: what it says, with nothing resolved but defaults.
//
// [switch.NAME] has sluiced's own keys, each switch starting from [switch.default]; [host.NAME] and [[flow]]
// are those of sluiced's file, but for port, address and MAC, which the fabric makes. Keys that the topology
// decides (a port's speed, cable, device and address) are refused in a switch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/fabric/plan/collective_config.hh"
#include "control/fabric/plan/routing.hh"
#include "control/fabric/plan/scenario_config.hh"
#include "control/fabric/plan/topology_kinds.hh"

namespace sluice::fabric {

struct NodeConfig : NamedNode {
    SourcePlace place;
};

struct LinkConfig : NamedLink {
    std::vector<std::string> ends;  // a and b
    SourcePlace place;
};

// How a fabric finds its paths, and how they follow a failure.
struct RoutingConfig {
    enum class Policy : std::uint8_t { automatic, shortest, up_down, clockwise, by_hand };
    Policy policy = Policy::automatic;
    Weights weights = Weights::capacity;
    Duration detection = milliseconds(1);     // from a cut until both ends have seen it
    Duration convergence = milliseconds(10);  // from there until all routes are computed anew
    std::optional<Duration> remote_quality;   // how often switches tell neighbors of the ways behind them
    bool circles_allowed = false;             // of pauses: a scenario about deadlock wants one
};

struct FabricConfig {
    std::string file;
    std::uint64_t seed = 1;
    std::optional<TopologySettings> topology;  // nothing: nodes and links are given by name
    std::vector<NodeConfig> nodes;
    std::vector<LinkConfig> links;
    RoutingConfig routing;
    Config switch_default;
    std::map<std::string, Config, NaturalOrder> switches;   // those that the file names
    HostConfig host_default;                                // it describes its payload
    std::map<std::string, HostConfig, NaturalOrder> hosts;  // likewise
    std::vector<FlowConfig> flows;
    std::vector<CollectiveConfig> collectives;
    std::vector<EventConfig> events;  // in order of time
    ScenarioConfig scenario;
    std::vector<std::string> expected_findings;  // warnings that it is about

    // [switch.NAME] or what all start from.
    const Config& switch_config(const std::string& name) const {
        const auto found = switches.find(name);
        return found == switches.end() ? switch_default : found->second;
    }
};

using FabricResult = tl::expected<FabricConfig, std::vector<ConfigError>>;

// The fabric in `text`, or everything that is wrong with it. `sets`: "switch.leaf1.seed=3", over what the
// file says; an element of a list goes by its name or its index, as in "flow.incast.message=1MB".
FabricResult parse_fabric(std::string_view text, const std::string& file,
                          const std::vector<std::string>& sets = {});
FabricResult load_fabric(const std::string& file, const std::vector<std::string>& sets = {});

// What the file asks for, as sluiced's keys_asked, but for [vary] and [find], which are of many runs, and
// [[assert]].
std::vector<ConfigChange> keys_asked(const FabricConfig& fabric);

// The keys that sluiced's file has not; what [vary] takes; and both as Markdown.
std::vector<SchemaSection> fabric_sections();
std::string_view vary_help();
std::string fabric_reference();

}  // namespace sluice::fabric
