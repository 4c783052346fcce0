// Packet trimming in an EffectiveQos: the rule of each port, and the reasons to refuse it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "control/config/compile/qos.hh"
#include "lib/frame/parse.hh"

namespace sluice {

// After the queues of all ports were read: sets EffectivePort::trim.
void read_trimming(const Config& config, EffectiveQos& qos);

bool has_trimming(const Config& config);
// The DSCPs of trimmed packets, each with the first port that gives it.
std::map<std::uint8_t, std::string> trimmed_dscps(const Config& config);

// A trimming.size beyond the bytes that frames of hosts that describe their payload have, as `host` does.
QosProblem too_large_to_trim(const Config& config, const std::string& host);

// Trimmed packets keep fewer bytes than the parser reads, so frames that hosts describe may be cut as well as
// whole ones.
constexpr std::uint16_t max_described_trim_bytes = parse_view_bytes;

}  // namespace sluice
