// What lint says of an imported configuration: the findings, and first the answer that people look for, which
// ports would lose packets and by how much.
#pragma once

#include <string>

#include "control/config/config.hh"

namespace sluice::import {

struct Verdict {
    bool lossless = true;  // no port lacks headroom, and no other error says that packets would be lost
    std::string text;      // several lines
};

// Of the switch that the configuration came from, not of this machine: by the link's terms alone.
Verdict judge_import(const Config& config, const std::string& file);

}  // namespace sluice::import
