// Simulated hosts as their ports and lib/roce take them: NICs, queue pairs, constants of the reaction point,
// sizes and arrivals of messages. The configuration has no error.
//
// Queue pairs get their numbers in the order of flows, senders, receivers. What is drawn for one depends on
// its two addresses and on its place among those of the two.
#pragma once

#include <map>
#include <string>

#include "control/compile/qos.hh"
#include "control/config/config.hh"
#include "dataplane/peers/host_port.hh"
#include "lib/roce/arrivals.hh"
#include "lib/roce/message_sizes.hh"

namespace sluice {

// Of every port with a host behind it, by the port's name; the pool is the caller's.
std::map<std::string, HostPortSpec> host_port_specs(const Config& config, const EffectiveQos& qos);

// Of a host at a port of `line`: the constants of its `cc`, but what the file says.
roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line);

roce::MessageSizes message_sizes(const MessageConfig& message);

// Of each queue pair of a flow whose senders have ports of `line`. A load is shared evenly by the queue pairs
// that a sender has in the flow.
roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, Rate line);

// Payload of a packet between two hosts.
std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b);

}  // namespace sluice
