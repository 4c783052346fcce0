// What buffer.profile gives, in words: for lint's note, and as a table for --check.
#pragma once

#include <string>

#include "control/config/compile/qos.hh"

namespace sluice {

// One line: "tomahawk3, Broadcom Tomahawk 3 (BCM56980): size 67117468, cell 254, ...".
std::string profile_sentence(const Config& config, const BufferProfile& profile);
// Empty without a profile.
std::string profile_table(const Config& config, const EffectiveQos& qos);

}  // namespace sluice
