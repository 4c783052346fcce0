// Lossless classes that wait for their new limits: since when, their losses meanwhile, and when the wait
// began and ended. Reads the policy that the workers run; changes nothing. Control's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/path/policy.hh"

namespace sluice {

class LimitChange;
class Switch;

// What a priority group does for its class now, whatever is configured: "lossless", "changing" (in XOFF until
// it is lossless) or "lossy".
constexpr std::string_view class_state(const GroupLimits& limits) {
    return limits.changing ? "changing" : limits.lossless ? "lossless" : "lossy";
}

// A wait that began or ended.
struct ClassNotice {
    PortId port;
    ClassId priority;
    bool begins;
    bool lossless;       // at its end: else it was taken back
    Duration lasted;     // at its end
    std::uint64_t lost;  // at its end: packets that the group refused meanwhile
};

class ClassChanges {
  public:
    // The changes since the last call, in order of ports and classes. After each policy that is published.
    std::vector<ClassNotice> new_notices(const Switch& device, Time now);
    // Nothing: the class does not wait.
    std::optional<Time> since(PortId port, ClassId priority) const {
        return port < waits_.size() ? waits_[port][priority].since : std::nullopt;
    }

  private:
    struct Wait {
        std::optional<Time> since;
        std::uint64_t dropped = 0;  // by the group, when it began
    };
    std::vector<std::array<Wait, classes>> waits_;
};

// Of an event. `change`: the one for which the class waits.
std::string class_text(const ClassNotice& notice, const std::vector<std::string>& port_names,
                       const LimitChange& change);

}  // namespace sluice
