// The clock of a run as control reads it, and the time of day. It is 0 until the runner sets its clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "dataplane/run/switch_clock.hh"

namespace sluice {

class RunClock {
  public:
    // Before the first turn; `clock` outlives all calls.
    void set(const SwitchClock& clock) { clock_ = &clock; }
    Time now() const { return clock_ != nullptr ? clock_->now() : Time{}; }
    // True when workers run on other threads: read shared state only.
    bool is_live() const { return clock_ != nullptr && clock_->is_running(); }

    // Real clock: nanoseconds of Unix time at its origin; changes only when the time of day is set.
    std::int64_t wall_origin_ns() {
        constexpr std::int64_t max_drift = 100'000'000;  // of the switch's clock; more: somebody set it
        const auto wall = std::chrono::system_clock::now().time_since_epoch();
        const std::int64_t origin = std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() -
                                    static_cast<std::int64_t>(now().ps / 1000);
        if (!wall_origin_ns_ || std::abs(origin - *wall_origin_ns_) > max_drift) wall_origin_ns_ = origin;
        return *wall_origin_ns_;
    }

    // True when a virtual run was stopped before its end; the verdict covers the time until then.
    bool is_interrupted() const { return interrupted_; }
    void set_interrupted() { interrupted_ = true; }

  private:
    const SwitchClock* clock_ = nullptr;
    std::optional<std::int64_t> wall_origin_ns_;
    bool interrupted_ = false;
};

}  // namespace sluice
