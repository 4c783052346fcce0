// The clock of a switch's runner, as control sees it.
#pragma once

#include <cstdint>

#include "lib/values/units.hh"

namespace sluice {

class SwitchClock {
  public:
    // The end of a virtual clock: later moments could not be compared with the origin.
    static constexpr Time last_moment{INT64_MAX};

    virtual ~SwitchClock() = default;
    virtual Time now() const = 0;
    // Workers run on other threads now: only shared state may be read.
    virtual bool is_running() const { return false; }
};

}  // namespace sluice
