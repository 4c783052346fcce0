// A topology as SVG: hosts at the bottom, each tier above those that it joins, a ring as a circle. A link's
// two halves belong to its two directions, each nearest to the end that sends: width by load, color by the
// share of time that it was paused; a red frame is around the node at which most time of pauses began.
#pragma once

#include <string>
#include <vector>

#include "control/fabric/plan/topology.hh"

namespace sluice::fabric {

// The loads that a drawing shows; parts of one.
struct DirectionShade {
    double load = 0;
    double paused = 0;
};
struct Shades {
    std::vector<std::array<DirectionShade, 2>> links;  // by link and sending end; empty: no run
    std::string title;
    std::string culprit;       // name of the node at which most time of pauses began; empty: none
    std::string culprit_text;  // why
};

std::string svg_of(const Topology& topology, const Shades& shades);

}  // namespace sluice::fabric
