// Compiles simulated hosts for their ports and lib/roce: NICs, queue pairs, constants of the reaction point,
// sizes and arrivals of messages. The configuration has no error.
//
// Queue pairs are numbered in the order of flows, senders, receivers. The draws of a queue pair depend on its
// two addresses and its number among those between the two.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/config/compile/compile.hh"
#include "control/config/compile/listed_flow.hh"
#include "control/config/schema/config.hh"
#include "dataplane/peers/host_port.hh"
#include "lib/roce/collective.hh"
#include "lib/roce/messages.hh"
#include "lib/roce/program.hh"

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
    std::vector<roce::PathLink> links;
    std::uint64_t buffer_bytes = 0;  // of all switches on it
    // The rate at which these buffers drain: the least of links, shapers and the max_rate of queues.
    Rate drained;
};
using HostPathOf =
    std::function<HostPath(const FlowConfig& flow, const std::string& from, const std::string& to)>;

// The lowest DSCP, the host's own first, whose packets the host's switch puts into a class; nothing: none.
std::optional<std::uint8_t> dscp_of_class(const Config& config, const HostConfig& host, ClassId tc);
// The label of a flow's data; the sender of a READ is the host that is read from.
PacketLabel data_label(const FlowConfig& flow, const HostConfig& sender);
// The rate of such data from port `in` by port `out`: its speed, shaper or the queue's max_rate.
Rate drain_rate(const Config& config, const PacketLabel& label, const std::string& in,
                const std::string& out);

// A collective of hosts. Its queue pairs belong to a flow without hosts of its own, those of its control
// messages to another.
struct CollectivePlan {
    roce::CollectiveSettings settings;
    std::uint32_t flow = 0;                     // its index
    std::vector<std::string> hosts;             // in the order of ranks
    std::optional<std::uint32_t> control_flow;  // with control messages
    std::optional<ClassId> control_class;       // nothing: by the sender's dscp
};

// A list of flows between hosts. They belong to a flow of the file without hosts of its own.
struct ListPlan {
    std::uint32_t flow = 0;  // its index
    std::span<const std::string> hosts;
    std::span<const ListedFlow> flows;
    // The first of a pair waits for the second, too, beside its `after`; sorted.
    std::span<const std::pair<std::uint32_t, std::uint32_t>> joins;
};

// A schedule of ranks. Their messages, and those of their collectives, belong to a flow of the file without
// hosts of its own.
struct SchedulePlan {
    // A collective that ranks of the schedule take part in, with the bytes of each step.
    struct Group {
        roce::CollectiveSettings settings;
        std::uint32_t communication = 0;   // of the schedule
        std::vector<std::uint32_t> ranks;  // of the schedule, in the order of the collective's
        std::shared_ptr<const std::vector<std::uint64_t>> sizes;
    };
    std::uint32_t flow = 0;          // its index
    std::vector<std::string> hosts;  // by rank
    std::shared_ptr<const roce::Programs> programs;
    std::vector<Group> groups;      // by communication
    std::uint32_t first_group = 0;  // the collective's number of its first group
    Duration start{};
    std::optional<ClassId> traffic_class;  // nothing: by the sender's dscp
    std::uint64_t eager_bytes = UINT64_MAX;
};

// The pairs of ranks of which the first sends to the second, sorted.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const SchedulePlan& schedule);

// The specification of every host, by name, without a pool. Collectives come after all flows,
// schedules after those, and lists after all.
std::map<std::string, HostPortSpec> host_specs(const HostPlaces& places, const std::vector<FlowConfig>& flows,
                                               const HostPathOf& path,
                                               const std::vector<CollectivePlan>& collectives = {},
                                               const std::vector<ListPlan>& lists = {},
                                               const std::vector<SchedulePlan>& schedules = {});
// The same for the hosts and flows of one switch, by port.
std::map<std::string, HostPortSpec> host_port_specs(const Config& config, const EffectiveQos& qos);

// Constants of a host at a port of `line`: the file's, or those of its `cc`.
roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line);

roce::MessageSizes message_sizes(const MessageConfig& message);

// Arrivals of each queue pair of a flow whose sender has a port of `line`, and shares its load evenly among
// so many receivers.
roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, std::size_t receivers, Rate line);

// The default time-out of requests between two hosts: longer than any pause or queue of their network. A
// receiver with a slow drain is the slowest link.
Duration default_timeout(const HostPath& path, const HostConfig& from, const HostConfig& to);
// The longest time-out of each flow as a table; empty without flows.
using TimeoutOf =
    std::function<Duration(const FlowConfig& flow, const std::string& from, const std::string& to)>;
std::string timeout_table(const std::vector<FlowConfig>& flows, const std::vector<std::string>& names,
                          const TimeoutOf& of);
std::string timeout_table(const Config& config);

// The DSCP of a host's ACKs and NAKs.
std::uint8_t ack_dscp(const HostConfig& host);

// The recovery of a queue pair: the receiver's settings, selective if both ends are.
roce::RecoverySettings path_recovery(const HostConfig& sender, const HostConfig& receiver);
// Payload of a packet between two hosts.
std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b);

}  // namespace sluice
