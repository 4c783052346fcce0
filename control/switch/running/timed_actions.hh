// Actions by their time on the switch's clock: each is carried out once, with any result; those of one time
// in the order of calls.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "lib/values/units.hh"

namespace sluice {

class TimedActions {
  public:
    void at(Time time, std::function<void()> action) { actions_.emplace(time.ps, std::move(action)); }
    // The time of the next one; nothing: none is left.
    std::optional<Time> next() const {
        if (actions_.empty()) return std::nullopt;
        return Time{actions_.begin()->first};
    }
    // Those up to `now`, and those that they add up to then.
    void run_due(Time now) {
        while (!actions_.empty() && Time{actions_.begin()->first} <= now) {
            const auto action = std::move(actions_.begin()->second);
            actions_.erase(actions_.begin());
            action();
        }
    }

  private:
    std::multimap<std::uint64_t, std::function<void()>> actions_;  // by their time, ps
};

}  // namespace sluice
