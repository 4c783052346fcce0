// Classes of RoCE packets at a port, for the findings of lint and the symptoms of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/config/compile/qos.hh"

namespace sluice::lint {

// CNPs tell senders of congestion: what may delay them where they leave in a class. No words: nothing.
struct CnpDelay {
    std::string words;
    bool paused_or_marked = false;
};
CnpDelay cnp_delay(const EffectivePort& port, ClassId tc);  // lint_class_ways.cc
// What gives CNPs a queue that nothing delays, to follow "write"; `map`: in words, the port's.
std::string cnp_remedy(const EffectivePort& port, std::string_view map);  // lint_class_ways.cc
constexpr unsigned usual_cnp_dscp = 48;

// Class that `port` gives to a RoCE packet that enters it; no PCP: the packet is untagged.
ClassId class_at(const PortConfig& said, const EffectivePort& port, unsigned dscp, bool cnp,
                 std::optional<std::uint8_t> pcp = {});  // lint_host_classes.cc
// What delays the CNPs of a host behind the port because of their DSCP; no words: nothing, or nothing more
// than what delays every CNP there.
std::string host_cnp_delay(const PortConfig& said, const EffectivePort& port, unsigned cnp_dscp);

}  // namespace sluice::lint
