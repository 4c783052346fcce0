// The keys of the groups of [advise], each on its grid. Errors are sentences with their remedy.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/advise/space.hh"
#include "control/fabric/advise/switch_marks.hh"

namespace sluice::fabric {

using AdviseAxes = std::vector<AdviseSpace::Axis>;

// wred: min from two packets of the MTU to the use at which a lone sender is paused, in whole cells; max as
// 1, 2, 4, 8 or 16 times that; probability in per cent.
tl::expected<AdviseAxes, std::string> wred_keys(const std::vector<MarkedCurve>& curves);
// alpha: dynamic_th of lossless priority groups, from -4 to 3, by group.
tl::expected<AdviseAxes, std::string> alpha_keys(const BareFile& file, const FabricPlan& today);
// dcqcn: rate_ai, rate_hai, increase_timer and byte_counter of hosts, a quarter to four times today's. One
// that is 0 today is left out.
tl::expected<AdviseAxes, std::string> dcqcn_keys(const BareFile& file, const FabricPlan& today,
                                                 std::vector<AdviseLeftOut>& left_out);

// The constants of dcqcn's keys that a host has, in their order; nothing: it has no congestion control.
struct HostConstant {
    const char* key;
    std::uint64_t value;  // bits a second, picoseconds, bytes
    std::string text;     // as a file has it
};
std::vector<HostConstant> constants_of(const FabricPlan& plan, NodeId host);

}  // namespace sluice::fabric
