// The clock of a switch, as control sees it: the one that its runner goes by.
#pragma once

#include "lib/units.hh"

namespace sluice {

class SwitchClock {
  public:
    virtual ~SwitchClock() = default;
    virtual Time now() const = 0;
    // Workers run on other threads now: only what they share may be looked at.
    virtual bool is_running() const { return false; }
};

}  // namespace sluice
