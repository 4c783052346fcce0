// What lint says of an imported configuration: the findings, and first the answer that people look for, which
// ports would lose packets and by how much.
#pragma once

#include <string>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config.hh"

namespace sluice::import {

struct Verdict {
    bool lossless = true;  // no port lacks headroom, and no other error says that packets would be lost
    std::string text;      // several lines
    std::string refusal;   // empty, or what `sluiced --check` refuses it for, a line each
};

// `lossless` is of the switch that the configuration came from: by the link's terms alone. `refusal` is by
// the judge of `sluiced --check`, on `machine`.
Verdict judge_import(const Config& config, const Machine& machine, const std::string& file);

}  // namespace sluice::import
