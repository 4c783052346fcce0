// Simulated hosts as their ports and lib/roce take them: NICs, queue pairs, constants of the reaction point,
// sizes and arrivals of messages. The configuration has no error.
//
// Queue pairs get their numbers in the order of flows, senders, receivers. The draws for one depend on its
// two addresses and on its place among those of the two.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "control/config/compile/compile.hh"
#include "control/config/schema/config.hh"
#include "dataplane/peers/host_port.hh"
#include "lib/roce/collective.hh"
#include "lib/roce/messages.hh"

namespace sluice {

// A host with the switch that it stands at; all outlive their compiled form.
struct HostPlace {
    const HostConfig* host;
    const Config* config;  // of the switch
    const EffectiveQos* qos;
    MacAddress mac;
    std::uint64_t seed;  // of the host's draws
};
using HostPlaces = std::map<std::string, HostPlace, NaturalOrder>;  // by the host's name

// The links between two hosts.
struct HostPath {
    Rate slowest, fastest;
    Duration propagation;            // one way
    std::uint64_t buffer_bytes = 0;  // of all switches on it
    // At which the last of these buffers is empty of a flow's packets: of its links, of their shapers and of
    // the max_rate of its queues the least, there and back.
    Rate drained;
};
using HostPathOf =
    std::function<HostPath(const FlowConfig& flow, const std::string& from, const std::string& to)>;

// How a flow labels its data; of a READ, the host that is read from is the sender.
PacketLabel data_label(const FlowConfig& flow, const HostConfig& sender);
// Of a switch: what its shaper and the queue's max_rate leave of a port's speed to such data that came in by
// another port.
Rate drain_rate(const Config& config, const PacketLabel& label, const std::string& in,
                const std::string& out);

// A collective of hosts. Its queue pairs are of a flow that names no hosts by itself.
struct CollectivePlan {
    roce::CollectiveSettings settings;
    std::uint32_t flow = 0;          // its index
    std::vector<std::string> hosts;  // in the order of ranks
};

// Of every host, by its name; the pool is the caller's. Collectives come after all flows.
std::map<std::string, HostPortSpec> host_specs(const HostPlaces& places, const std::vector<FlowConfig>& flows,
                                               const HostPathOf& path,
                                               const std::vector<CollectivePlan>& collectives = {});
// Likewise of hosts and flows of one switch, by the port's name.
std::map<std::string, HostPortSpec> host_port_specs(const Config& config, const EffectiveQos& qos);

// Of a host at a port of `line`: the constants of its `cc`, unless the file has its own.
roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line);

roce::MessageSizes message_sizes(const MessageConfig& message);

// Of each queue pair of a flow whose senders have ports of `line`. A load is shared evenly by the queue pairs
// that a sender has in the flow.
roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, Rate line);

// The time-out of requests from one host to another, unless the file has its own: no pause or queue that its
// network can honestly cause lasts so long. A receiver that drains slowly is the slowest link.
Duration default_timeout(const HostPath& path, const HostConfig& from, const HostConfig& to);
// Those of each flow of a switch as text, the longest of its pairs of hosts; empty: it has no flow.
using TimeoutOf =
    std::function<Duration(const FlowConfig& flow, const std::string& from, const std::string& to)>;
std::string timeout_table(const std::vector<FlowConfig>& flows, const std::vector<std::string>& names,
                          const TimeoutOf& of);
std::string timeout_table(const Config& config);

// Payload of a packet between two hosts.
// Of a queue pair: as the receiver of its data says, selective if both ends are.
roce::RecoverySettings path_recovery(const HostConfig& sender, const HostConfig& receiver);
std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b);

}  // namespace sluice
