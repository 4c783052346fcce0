// A fabric with everything resolved: its topology, addresses, and for each switch a configuration of sluiced
// with its ports, neighbors and routes. Values that a file leaves out are made here, and nowhere else.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/hosts.hh"
#include "control/config/schema/config.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "dataplane/base/eal.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"

namespace sluice::fabric {

// Reports the progress of long work before a run; `all` is 0 where the work cannot be counted.
using Stage = std::function<void(std::string_view what, std::size_t done, std::size_t all)>;
inline void tell_nobody(std::string_view, std::size_t, std::size_t) {}

// Addresses and MACs of a fabric: a prefix for each switch with hosts, a pair for each cable.
//
// A leaf owns one prefix of 10.0.0.0/8 with just enough room, each host a /31 in it: the switch's address is
// even, the host's odd (RFC 3021). Cables between switches take pairs out of 172.16.0.0/12. MAC addresses are
// locally administered: 02:53 for switches, 02:48 for hosts, then link and end.
class AddressPlan {
  public:
    AddressPlan() = default;
    explicit AddressPlan(const Topology& topology);

    const IpAddress& address(LinkId link, unsigned end) const { return pairs_[link][end]; }
    IpPrefix interface(LinkId link, unsigned end) const { return {address(link, end), 31}; }
    MacAddress mac(LinkId link, unsigned end) const { return macs_[link][end]; }
    // The prefix of the hosts behind a switch, in the order of nodes.
    struct Leaf {
        NodeId node;
        IpPrefix prefix;
    };
    const std::vector<Leaf>& leaves() const { return leaves_; }

  private:
    std::vector<std::array<IpAddress, 2>> pairs_;  // by link and end
    std::vector<std::array<MacAddress, 2>> macs_;
    std::vector<Leaf> leaves_;
};

struct SwitchPlan {
    std::string name;
    NodeId node;
    Config config;                      // hosts behind its ports included, flows not
    std::vector<std::string> forced{};  // reasons why it is not lossless, which the user accepted
};

// The list or the schedule of a [[workload]], or the list of a [[flow]] whose messages are drawn.
struct WorkloadPlan {
    std::string key;                        // "workload[0]", or "flow[3]"
    std::string path;                       // of its file; empty: it is drawn
    std::uint32_t flow;                     // index of its flow in the file's
    FlowList list;                          // its ends are indices into FabricPlan::hosts
    std::optional<std::uint32_t> schedule;  // index of FabricPlan::schedules; nothing: it is a list
    Schedule contents;                      // of it
};

// A [[job]], or a collective or a workload that no job names.
struct JobPlan {
    std::string name;
    std::vector<std::string> hosts;                   // in the order of ranks, before rank_order
    bool is_placed = false;                           // by a [[job]]
    std::vector<std::size_t> collectives, workloads;  // of the plan's
};

struct FabricPlan {
    // Flows and collectives name hosts one by one; each collective and each workload has a flow, too.
    FabricConfig file;
    Topology topology;
    AddressPlan addresses;
    std::vector<SwitchPlan> switches;    // in the order of their nodes
    std::vector<std::size_t> switch_of;  // index into `switches` by node; of a host: its leaf's
    std::map<std::string, NodeId, NaturalOrder> nodes;  // by name
    std::vector<NodeId> hosts;                          // in order
    std::vector<CollectivePlan> collectives;            // of the file's
    std::vector<WorkloadPlan> workloads;                // drawn flows first
    std::vector<SchedulePlan> schedules;
    std::vector<JobPlan> jobs;          // those of the file, then the others
    std::vector<ConfigChange> asked{};  // keys_asked, before names became hosts

    // The switch, or the switch of a host.
    const SwitchPlan& switch_at(NodeId node) const { return switches[switch_of[node]]; }
    const HostConfig& host(NodeId node) const {
        return switch_at(node).config.hosts.at(topology.nodes[node].name);
    }
    // By flow; null: it belongs to no job.
    std::vector<const JobPlan*> jobs_of_flows() const;
    // A configuration with the flows alone: for functions about flows.
    Config world() const {
        Config made;
        made.flows = file.flows;
        return made;
    }
    // The host of a rank; schedules count the groups of their collectives behind the collectives.
    const std::string& host_of(std::uint32_t collective, std::uint32_t rank) const;
    // Index of a switch's port.
    PortId port_id(const LinkEnd& end) const;
    // The specification of every host by its name; the caller gives the pool.
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

// A node on the way of a packet by the plan's routes, and the links among which it chooses.
struct PathHop {
    NodeId from;
    std::vector<LinkId> links;  // not empty; the way goes on behind the first
};
std::vector<PathHop> hops_between(const FabricPlan& plan, NodeId from, NodeId to);
// Rates and buffers of the first links of that way.
HostPath path_between(const FabricPlan& plan, const FlowConfig& flow, NodeId from, NodeId to);

// Computed routes go up and then down.
bool is_up_down(const FabricPlan& plan);
// Computed routes of every switch with these links out of order (none: empty), sorted by prefix; a prefix
// that the file gives a route for is left to it.
std::vector<std::vector<RouteConfig>> routes_without(const FabricPlan& plan,
                                                     const std::vector<bool>& links_down,
                                                     const Stage& stage = tell_nobody);

}  // namespace sluice::fabric
