// Runs switches under the virtual clock, on one thread: all of them, or that thread's share.
//
// A switch's clock jumps from one of its instants (virtual_switch.hh) to the next. With a turn above 0
// instants lie on a grid of that width.
//
// A window is shorter than any frame's way from one switch to another, so in it the runner takes each switch
// through all of its instants before the next one, and its own clock goes back and forth; between windows the
// clocks of all runners are equal.
//
// A switch sleeps until the earliest moment of its ports: an instant costs the switches that act in it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/run/switch_clock.hh"
#include "dataplane/run/virtual_switch.hh"
#include "lib/clock/calendar.hh"

namespace sluice {

class Switch;

class VirtualRunner final : public SwitchClock {
  public:
    // The switches outlive it.
    VirtualRunner(const std::vector<Switch*>& switches, Duration turn);
    ~VirtualRunner() override;
    VirtualRunner(const VirtualRunner&) = delete;
    VirtualRunner& operator=(const VirtualRunner&) = delete;

    Time now() const override { return now_; }
    // Between windows: moves the clock to `instant`, which is not before now.
    void advance(Time instant) { now_ = instant; }
    // When a switch next acts, by its own time: not on the grid, and perhaps before now. Nothing: never by
    // itself.
    std::optional<Time> next();
    // The first instant on the grid that is not before `time`.
    Time on_grid(Time time) const;
    // A lone switch: a window ends after so many instants, and behind one that moved no data, or that the
    // next follows more than `gap` later: so control, which looks between two windows, misses nothing.
    void run_alone(unsigned instants, Duration gap) {
        instants_ = instants;
        gap_ = gap;
    }
    // Switches that control has changed since `next` act now.
    void rouse();
    // A window: the instant `begin`, and all later ones before `until`. After each of a switch's instants
    // `settle(number)` does control's part, and may run the instant `again`.
    template <class Settle>
    void run(Time begin, Time until, Settle settle) {
        enter(begin, until);
        for (const Due& due : ran_) {
            attend(due);
            do {
                devices_[due.number].run(now_);
                settle(due.number);
            } while (goes_on(due.number, until));
        }
        now_ = last_;
    }
    std::uint64_t news(std::uint32_t number) const { return devices_[number].news(); }
    void again(std::uint32_t number) { devices_[number].run(now_); }

    struct Due {
        std::uint32_t number;
        Time at;
    };
    // Switches that ran in the last window, in their order, each with its first instant.
    std::span<const Due> ran() const { return ran_; }

    // What happened to data since the last call.
    using Progress = VirtualSwitch::Progress;
    Progress take_progress();
    // True when a frame of data can move without another event first: a run with nothing but refreshed pauses
    // left has ended.
    bool can_progress() const;
    // Before somebody reads traces of the switches' ports.
    void settle_traces();

  private:
    void look_at(std::uint32_t number);
    void enter(Time begin, Time until);
    void attend(const Due& due);
    bool goes_on(std::uint32_t number, Time until);
    bool goes_on_alone(Time next, const Progress& progress);

    std::deque<VirtualSwitch> devices_;
    Calendar calendar_;                 // of those that sleep
    std::vector<std::uint32_t> woken_;  // their next moment is to be found
    std::vector<Due> ran_;
    Duration turn_;
    Time now_{};
    Time last_{};            // instant of the window
    unsigned instants_ = 0;  // of a lone switch in a window at most; 0: of several
    unsigned left_ = 0;      // of them, in this window
    Duration gap_{};
    Progress progress_;
};

}  // namespace sluice
