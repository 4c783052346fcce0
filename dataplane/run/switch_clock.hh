// The clock of a switch, as control sees it: the one that its runner goes by.
#pragma once

#include <cstdint>

#include "lib/values/units.hh"

namespace sluice {

class SwitchClock {
  public:
    // Of a virtual clock: later ones could not be compared with the origin.
    static constexpr Time last_moment{INT64_MAX};

    virtual ~SwitchClock() = default;
    virtual Time now() const = 0;
    // Workers run on other threads now: only shared state may be read.
    virtual bool is_running() const { return false; }
};

}  // namespace sluice
