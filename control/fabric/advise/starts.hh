// Curves of marks from which a search starts: presets, lint's bound, theory, and what others publish.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/advise/switch_marks.hh"

namespace sluice::fabric {

struct CurveStart {
    std::string name;    // "preset linear"
    std::string source;  // a sentence
    // By curve of the space; or the reason why they do not fit, a sentence without its full stop.
    tl::expected<std::vector<CurveValues>, std::string> curves;
};

// All of them, in the order in which a search takes them. `plan`: for the longest way between two hosts.
std::vector<CurveStart> curve_starts(const std::vector<MarkedCurve>& curves, const FabricPlan& plan);

// From the first bit of a host's packet of its MTU to the end of its acknowledgment, on the longest empty way
// from the first host to another; 0: there is no other.
Duration longest_round_trip(const FabricPlan& plan);

}  // namespace sluice::fabric
