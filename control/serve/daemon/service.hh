// The switch as a service: what its manager is told (sd_notify(3)), nothing where there is none. Its states,
// a line on its ports when that changes, and that it is alive, as long as every worker goes on
// (Heartbeat). Control's thread only.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/values/ids.hh"

namespace sluice {

class RunningSwitch;

// When a watchdog is told that the switch is alive: once in `interval`, and only if every worker has made a
// turn since the time before. A worker that stands still keeps it from being told until it goes on; control
// that stands still tells it nothing anyway.
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

class Service {
  public:
    using Clock = Heartbeat::Clock;

    explicit Service(RunningSwitch& running) : running_(running) {}

    void ready(Clock::time_point now);  // workers run
    void reloading();
    void reloaded(bool good);  // with the new configuration, or the old one
    void stopping();
    // Once a round.
    void tick(Clock::time_point now);

  private:
    std::vector<std::uint64_t> turns() const;
    std::string status() const;
    void tell_status();

    RunningSwitch& running_;
    std::optional<Heartbeat> heartbeat_;  // nothing: there is no watchdog
    bool told_stuck_ = false;
    bool is_ready_ = false;
    bool refused_ = false;  // the last configuration to be reloaded
    std::string told_;      // the last line
    Clock::time_point next_status_{};
};

// How often a watchdog is to be told, by the variables of its manager; nothing: there is none, or it is
// another process's.
std::optional<std::chrono::microseconds> watchdog_interval();

}  // namespace sluice
