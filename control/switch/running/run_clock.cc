#include "control/switch/running/run_clock.hh"

#include <chrono>
#include <cstdlib>

namespace sluice {

std::int64_t RunClock::wall_origin_ns() {
    constexpr std::int64_t max_drift = 100'000'000;  // of the switch's clock; more: the time of day was set
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t origin = std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() -
                                static_cast<std::int64_t>(now().ps / 1000);
    if (!wall_origin_ns_ || std::abs(origin - *wall_origin_ns_) > max_drift) wall_origin_ns_ = origin;
    return *wall_origin_ns_;
}

}  // namespace sluice
