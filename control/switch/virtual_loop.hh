// The virtual clock of any number of switches: an instant at a time, and between two of them control's part
// of each switch. On the calling thread.
//
// At an instant, in this order: its actions (commands, a test's actions), the switches' packets, frames that
// control answers, the rest of a change that can end now, and control's watches.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/switch/running_switch.hh"
#include "control/switch/timed_actions.hh"
#include "dataplane/run/virtual_runner.hh"

namespace sluice {

class VirtualLoop {
  public:
    // The switches, which outlive it, have ports that this clock drives; `turn` is theirs.
    VirtualLoop(std::vector<RunningSwitch*> switches, Duration turn);

    Time now() const { return runner_.now(); }
    VirtualRunner& runner() { return runner_; }

    // Each comes at the first instant of the grid that is not before its time.
    TimedActions& actions() { return actions_; }

    enum class Step : std::uint8_t {
        instant,  // one has passed
        end,      // there is none left up to `end`
        over,     // nothing can happen any more, or nothing that would be worth it: see gave_up
    };
    Step step(std::optional<Time> end);
    // Steps until no instant is left up to `end`, and then lets time pass to it. `goes_on` is asked after
    // each instant; false: it stopped the run there.
    bool run(
        std::optional<Time> end, const std::function<bool()>& goes_on = [] { return true; });

    // After each instant, to look at the switches and change nothing.
    void on_instant(std::function<void()> look) { look_ = std::move(look); }

    // Why `step` gave up although there was something left to do; empty: it did not. Once.
    std::string gave_up() { return std::exchange(gave_up_, {}); }

  private:
    void pass(Time end);
    void settle();
    void watch();
    void note_waiting();
    void give_up();

    std::vector<RunningSwitch*> switches_;
    VirtualRunner runner_;
    TimedActions actions_;
    std::function<void()> look_ = [] {};
    Duration patience_;
    std::uint64_t most_idle_frames_;
    bool ended_ = false;  // by the clock's last moment
    std::string gave_up_;
};

}  // namespace sluice
