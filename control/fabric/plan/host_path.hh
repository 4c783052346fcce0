// The way of a packet between two hosts by the routes of a plan: its links, rates and buffers.
#pragma once

#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// The way from one host to another: the links among which each node on it chooses, and the node.
struct PathHop {
    NodeId from;
    std::vector<LinkId> links;  // not empty; the way goes on behind the first
};
std::vector<PathHop> hops_between(const FabricPlan& plan, NodeId from, NodeId to);
// The first links of that way.
HostPath path_between(const FabricPlan& plan, const FlowConfig& flow, NodeId from, NodeId to);

}  // namespace sluice::fabric
