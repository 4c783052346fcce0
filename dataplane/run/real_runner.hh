// Runs the workers of one switch on threads of their own, each bound to a core, with the TSC as clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "dataplane/run/switch_clock.hh"
#include "lib/values/ids.hh"

namespace sluice {

class Switch;

// Picoseconds since construction, from the TSC (22 cycles a reading).
class TscClock {
  public:
    TscClock();
    Time now() const;

  private:
    std::uint64_t origin_;
    std::uint64_t ps_per_cycle_fixed_;  // 2^-32 ps
};

class RealRunner final : public SwitchClock {
  public:
    // `cores[w]`: CPU of worker w; empty: left to the kernel. `idle_sleep`: how long a worker sleeps between
    // two turns once it has had nothing to do for many; 0: never, it polls all the time.
    RealRunner(Switch& device, std::vector<unsigned> cores, Duration idle_sleep = {});
    ~RealRunner() override { stop(); }
    RealRunner(const RealRunner&) = delete;
    RealRunner& operator=(const RealRunner&) = delete;

    void start();
    // Receives nothing more, lets queued packets leave (for at most a second), sends XON for all paused
    // priorities and returns when every worker has ended its last turn; then counters and ledger are exact.
    void stop();
    bool is_running() const override { return !threads_.empty(); }
    Time now() const override { return clock_.now(); }

  private:
    void loop(WorkerId worker);
    bool drained() const;

    Switch& device_;
    std::vector<unsigned> cores_;
    Duration idle_sleep_;
    TscClock clock_;
    std::atomic<bool> stop_{false};  // written by control, read by workers once a turn
    std::vector<std::thread> threads_;
};

}  // namespace sluice
