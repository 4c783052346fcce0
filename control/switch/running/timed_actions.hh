// Actions at times of the switch's clock, each executed once; those of the same time in the order of calls.
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
    std::optional<Time> next() const {
        if (actions_.empty()) return std::nullopt;
        return Time{actions_.begin()->first};
    }
    // Runs the actions up to `now`, with those that they add.
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
