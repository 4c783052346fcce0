// PFC frames for tests of those that obey them.
#pragma once

#include <cstdint>

#include "lib/pfc/pfc_frame.hh"

namespace sluice {

// The same number of quanta for each of `priorities`, a mask.
inline PauseMap pauses(std::uint8_t priorities, std::uint16_t quanta) {
    PauseMap map;
    map.class_enable = priorities;
    map.quanta.fill(quanta);
    return map;
}

}  // namespace sluice
