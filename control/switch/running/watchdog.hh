#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/pfc/pfc_watchdog.hh"
#include "lib/values/ids.hh"

namespace sluice {

class Switch;

// A storm or cut that began or ended.
struct WatchdogNotice {
    PortId port;
    ClassId queue;
    bool detected;  // else restored
    std::string action;
    std::uint64_t passed;  // in this storm so far
    std::uint64_t dropped;
};

// Finds storms that began or ended since the last call, in order of ports and queues.
class WatchdogWatch {
  public:
    std::vector<WatchdogNotice> new_notices(const Switch& device);

  private:
    struct Seen {
        std::uint64_t detected = 0;
        std::uint64_t restored = 0;
    };
    std::uint64_t changes_ = 0;
    std::vector<std::array<Seen, classes>> seen_;
};

std::string_view watchdog_state_text(WatchdogState state);

}  // namespace sluice
