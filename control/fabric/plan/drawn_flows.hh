// Flows of a fabric whose messages go to hosts that the seed draws: each becomes a list of its messages.
//
// to = "random": a sender sends each message to a host of `to` but itself, with the flow's load, or as a
// closed loop of `depth` messages, each of which begins when the one `depth` before it has ended.
// incast = N: every T, N hosts of `from` send one message each to one host of `to`, together.
// A draw is by the run's seed, the flow's name, the sender and the message, so other flows change none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// Messages of all drawn flows of a fabric, the queue pairs of each counted: 0.2 KB each, with its hosts.
constexpr std::uint64_t max_drawn = 4'000'000;

struct DrawnFlow {
    std::uint32_t flow;  // its index
    bool is_random;      // to = "random"
};

// Takes the word "random" out of `to`; where nothing else is there, `to` is all hosts. False: it lacks it.
bool take_random(FlowConfig& flow);

// Puts the list of each into the plan, whose flows name hosts one by one. Such a flow gets its name and
// names no hosts any more. The errors: what is contradictory, endless, or more than max_drawn.
std::vector<ConfigError> draw_flows(FabricPlan& plan, std::span<const DrawnFlow> drawn);

}  // namespace sluice::fabric
