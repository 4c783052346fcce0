// The switch as a service: what its manager is told (sd_notify(3)), nothing where there is none. Its states,
// a line on its ports when that changes, and that it is alive, as long as every worker goes on
// (heartbeat.hh). Control's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/serve/daemon/heartbeat.hh"

namespace sluice {

class RunningSwitch;

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
