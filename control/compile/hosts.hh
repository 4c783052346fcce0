// Simulated hosts as lib/roce takes them: constants of the reaction point, sizes and arrivals of messages.
#pragma once

#include "control/config/config.hh"
#include "lib/roce/arrivals.hh"
#include "lib/roce/message_sizes.hh"

namespace sluice {

// Of a host at a port of `line`: the constants of its `cc`, but what the file says. Valid if the
// configuration has no error.
roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line);

roce::MessageSizes message_sizes(const MessageConfig& message);

// Of each queue pair of a flow whose senders have ports of `line`. A load is shared evenly by the queue pairs
// that a sender has in the flow.
roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, Rate line);

// Payload of a packet between two hosts.
std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b);

}  // namespace sluice
