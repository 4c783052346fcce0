// Threads of a run: how many it takes, which switches each runs, with the hosts behind them, and in what
// windows of the clock. None of it changes what a run comes to.
#pragma once

#include <string>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/switch/running/virtual_loop.hh"

namespace sluice::fabric {

// The windows are as long as the shortest cable between two switches, within a microsecond; on the grid of a
// turn they are instants. Each thread gets about the same part of every tier, neighbors together.
// `threads` is at most what threads_for says.
LoopWindows windows_of(const FabricPlan& plan, unsigned threads);

struct ThreadChoice {
    unsigned threads;  // at most as many as are wanted
    std::string why;   // a sentence, if they are fewer
};
// A fabric whose hosts can send little in a window stays on one thread, which would only wait for others.
ThreadChoice threads_for(const FabricPlan& plan, unsigned wanted);

}  // namespace sluice::fabric
