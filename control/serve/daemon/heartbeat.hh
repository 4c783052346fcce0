// When a watchdog is told that the switch is alive: once in `interval`, and only if every worker has made a
// turn since the time before. A worker that stands still keeps it from being told until it goes on; control
// that stands still tells it nothing anyway.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "lib/values/ids.hh"

namespace sluice {

class Heartbeat {
  public:
    using Clock = std::chrono::steady_clock;

    // `turns`: of each worker, so far.
    Heartbeat(std::chrono::microseconds interval, Clock::time_point start,
              std::span<const std::uint64_t> turns)
        : interval_(interval), since_(start) {
        std::ranges::copy(turns, seen_.begin());
    }

    // True: tell it now.
    bool beats(Clock::time_point now, std::span<const std::uint64_t> turns) {
        if (now - since_ < interval_) return false;
        const auto still = std::ranges::mismatch(turns, seen_, std::ranges::not_equal_to{}).in1;
        stuck_ =
            still == turns.end() ? std::nullopt : std::optional(static_cast<unsigned>(still - turns.begin()));
        if (stuck_) return false;
        std::ranges::copy(turns, seen_.begin());
        since_ = now;
        return true;
    }
    // The first worker that has made no turn since the last beat, when one was due; nothing: all go on.
    std::optional<unsigned> stuck() const { return stuck_; }
    std::chrono::seconds silent(Clock::time_point now) const {
        return std::chrono::duration_cast<std::chrono::seconds>(now - since_);
    }

  private:
    std::chrono::microseconds interval_;
    Clock::time_point since_;  // of the last beat, or the start
    std::array<std::uint64_t, max_workers> seen_{};
    std::optional<unsigned> stuck_;
};

}  // namespace sluice
