// A RunningSwitch under the virtual clock. Every instant is followed by the invariants; what is broken fails
// the running test with `label`, which names the seed. What is behind the ports is its descendants' business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "control/switch/running/virtual_loop.hh"
#include "dataplane/run/switch.hh"
#include "tests/sim/invariants.hh"

namespace sluice::sim {

class CheckedSwitch {
  public:
    CheckedSwitch(const CheckedSwitch&) = delete;
    CheckedSwitch& operator=(const CheckedSwitch&) = delete;

    Switch& device() { return running_->device(); }
    Time now() const { return loop_->now(); }
    // Called after every instant, when the invariants hold.
    std::function<void()> on_instant;

    // The next instant; false when there is none, or none up to `end`.
    bool step(Time end = Time{INT64_MAX});
    void run_until(Time end);

    // As an operator; a refusal fails the test.
    void set_port(PortId port, bool up);

    std::uint64_t dropped() const { return running_->device().ledger().dropped; }
    void fail(const std::string& what);

  protected:
    // `packets`: mbufs; 0: as many as `sluiced` would take. `checks`: invariants after each instant.
    CheckedSwitch(const Config& config, std::unique_ptr<Surroundings> surroundings, std::string label,
                  unsigned packets, bool checks, unsigned trace_slots = 0);
    virtual ~CheckedSwitch();

    // After an instant, before the invariants, and after a command.
    virtual void changed() {}
    void must(const std::string& error, const char* what);
    // Checks a switch that has nothing left to do. `all_packets`: all mbufs must be in the pool.
    void end(std::string wrong, bool all_packets);
    const std::string& label() const { return label_; }

    RunningSwitch& running() { return *running_; }
    const RunningSwitch& running() const { return *running_; }
    VirtualLoop& loop() { return *loop_; }

  private:
    std::string label_;
    std::uint64_t buffer_cells_;
    bool checks_;
    std::unique_ptr<Surroundings> surroundings_;
    std::unique_ptr<RunningSwitch> running_;
    std::unique_ptr<VirtualLoop> loop_;
    Invariants invariants_;
};

}  // namespace sluice::sim
