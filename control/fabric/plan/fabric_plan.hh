// A fabric with everything resolved: its topology, addresses, and for each switch a configuration of sluiced
// with its ports, neighbors and routes. Values that a file leaves out are made here, and nowhere else.
#pragma once

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/hosts.hh"
#include "control/config/schema/config.hh"
#include "control/fabric/plan/address_plan.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/plan/stage.hh"
#include "control/fabric/plan/topology.hh"
#include "dataplane/base/eal.hh"

namespace sluice::fabric {

struct SwitchPlan {
    std::string name;
    NodeId node;
    Config config;                      // hosts behind its ports included, flows not
    std::vector<std::string> forced{};  // what it is not lossless for, and which is wanted
};

struct FabricPlan {
    FabricConfig file;  // flows and collectives name hosts one by one; each collective has a flow, too
    Topology topology;
    AddressPlan addresses;
    std::vector<SwitchPlan> switches;    // in the order of their nodes
    std::vector<std::size_t> switch_of;  // index into `switches` by node; of a host: its leaf's
    std::map<std::string, NodeId, NaturalOrder> nodes;  // by name
    std::vector<CollectivePlan> collectives;            // of the file's
    std::vector<ConfigChange> asked{};                  // keys_asked, before names became hosts

    // Index of a switch's port.
    PortId port_id(const LinkEnd& end) const;
    // Of every host, by its name; the pool is the caller's.
    std::map<std::string, HostPortSpec> host_specs() const;
};

// The errors of the file as a fabric: no such node, a key that the topology decides.
tl::expected<FabricPlan, std::vector<ConfigError>> make_plan(FabricConfig file,
                                                             const Stage& stage = tell_nobody);

// EAL memory that the fabric takes when so many threads run it.
EalOptions eal_options(const FabricPlan& plan, unsigned threads = 1);
// Packet buffers of all switches, cables, hosts and threads, and the data room of one.
std::uint64_t packets_of(const FabricPlan& plan, unsigned threads = 1);
std::uint32_t packet_bytes_of(const FabricPlan& plan);

// The plan as text: switches, ports, addresses, routes, memory.
std::string plan_text(const FabricPlan& plan, bool all = false);

// Computed routes go up and then down.
bool is_up_down(const FabricPlan& plan);
// Computed routes of every switch with these links out of order (none: empty), sorted by prefix; a prefix
// that the file gives a route for is left to it.
std::vector<std::vector<RouteConfig>> routes_without(const FabricPlan& plan,
                                                     const std::vector<bool>& links_down,
                                                     const Stage& stage = tell_nobody);

}  // namespace sluice::fabric
