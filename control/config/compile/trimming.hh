// Packet trimming in an EffectiveQos: the rule of each port, and the reasons to refuse it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "control/config/compile/qos.hh"

namespace sluice {

// After the queues of all ports were read: sets EffectivePort::trim.
void read_trimming(const Config& config, EffectiveQos& qos);

bool has_trimming(const Config& config);
// The DSCPs of trimmed packets, each with the first port that gives it.
std::map<std::uint8_t, std::string> trimmed_dscps(const Config& config);

// A trimming.size beyond the bytes that frames of these hosts have, one of which describes its payload.
std::optional<QosProblem> too_large_to_trim(const Config& config, const decltype(Config::hosts)& hosts);

}  // namespace sluice
