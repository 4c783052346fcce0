// The meaning of `qos = NAME` of a port, until its own keys override it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/config/schema/config.hh"
#include "lib/pfc/pfc_mode.hh"

namespace sluice {

struct Preset {
    std::uint8_t lossless;
    std::uint8_t roce;  // traffic classes
    PfcMode mode;
    std::array<std::uint8_t, classes> weight;  // 0: strict
    bool one_ingress_pool;
    std::string_view wred;  // of the queues of RoCE
};

// A name that is no preset's is `lossless`.
Preset preset_of(const std::string& name);

}  // namespace sluice
