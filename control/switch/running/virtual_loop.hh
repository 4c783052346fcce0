// The virtual clock of any number of switches. It runs a window of time, then control's part of the fabric. A
// window is an instant, unless only cables couple the switches: then it is as long as the shortest cable, and
// threads may share the switches; or unless there is one switch: then it is a number of instants. The outcome
// depends on the length of windows, but not on the number of threads, nor on that of instants.
//
// An instant of a switch runs its packets, frames that control answers, the rest of a change that can end
// now, and control's watches, in this order. Timed actions (commands, a test's) come before the instants of
// their time, between two windows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/switch/running/running_switch.hh"
#include "control/switch/running/timed_actions.hh"
#include "dataplane/peers/link_port.hh"
#include "dataplane/run/thread_team.hh"
#include "dataplane/run/virtual_runner.hh"

namespace sluice {

struct LoopWindows {
    Duration length{};                  // no switch hears of another sooner; 0: every window is an instant
    std::vector<unsigned> thread_of{};  // by switch, from 0, the caller's, on; empty: all are its
    unsigned instants = 1;              // of a lone switch in a window at most
};

class VirtualLoop {
  public:
    // The switches outlive it; `turn` is theirs. With windows longer than an instant their cables send
    // through `outbox_between`, and the turn is 0.
    VirtualLoop(std::vector<RunningSwitch*> switches, Duration turn, const LoopWindows& windows = {});

    Time now() const { return now_; }
    // Moves the clock to a moment before which nothing is left to do.
    void advance(Time instant);
    unsigned threads() const { return static_cast<unsigned>(shards_.size()); }

    // Each runs at the first instant of the grid at or after its time.
    TimedActions& actions() { return actions_; }

    enum class Step : std::uint8_t {
        instant,  // a window has passed, with an instant at its beginning
        end,      // there is none left up to `end`
        over,     // nothing can happen any more, or nothing that would be worth it: see gave_up
    };
    Step step(std::optional<Time> end);
    // Steps until no instant is left up to `end`, and then moves the clock there. Calls `goes_on` after each
    // window, and stops on false, which it then returns.
    bool run(
        std::optional<Time> end, const std::function<bool()>& goes_on = [] { return true; });

    // Calls `beat` at every multiple of `interval`, between two windows. It does not extend a run. Set it
    // before the first step.
    void every(Duration interval, std::function<void(Time)> beat) {
        interval_ = interval;
        beat_ = std::move(beat);
    }

    // Observers: after each instant of a switch, for it alone on its thread; and after each window.
    void on_instant(std::function<void(std::uint32_t)> look) { look_at_ = std::move(look); }
    void on_window(std::function<void()> look) { look_ = std::move(look); }
    // Visits the switches that ran in the last window.
    template <class Visit>
    void for_each_that_ran(Visit visit) const {
        for (const auto& shard : shards_)
            for (const VirtualRunner::Due& due : shard->runner.ran()) visit(shard->numbers[due.number]);
    }

    // For frames from the first switch to the second.
    LinkExchange::Outbox& outbox_between(std::size_t from, std::size_t to) {
        return exchange_.outbox(thread_of_[from], thread_of_[to]);
    }

    // Before somebody reads the ports' traces; `run` ends with it.
    void settle_traces();

    // Why `step` gave up although something was left to do, once; empty: it did not.
    std::string gave_up() { return std::exchange(gave_up_, {}); }

  private:
    // The switches of one thread.
    struct Shard {
        Shard(const std::vector<RunningSwitch*>& all, std::vector<std::uint32_t> own, Duration turn);
        std::vector<std::uint32_t> numbers;
        std::vector<RunningSwitch*> switches;
        struct Wants {
            RunningSwitch::ControlWants control{};
            std::uint64_t window = 0;  // that they were asked in
        };
        std::vector<Wants> wants;  // by switch
        VirtualRunner runner;
    };

    std::optional<Time> next();
    bool can_progress() const;
    void act(Time now);
    void beat(Time until);
    void run_window(Time begin, Time until);
    void run_shard(unsigned number);
    void settle(Shard& shard, std::uint32_t number);
    void pass(Time end);
    void note_waiting();
    void give_up();

    std::vector<RunningSwitch*> switches_;
    std::vector<unsigned> thread_of_;
    Duration window_;
    bool alone_;  // the one switch runs on until something else is to be done
    LinkExchange exchange_;
    std::vector<std::unique_ptr<Shard>> shards_;
    TimedActions actions_;
    Duration interval_{};  // of `beat_`; 0: none
    Time next_beat_{};
    std::function<void(Time)> beat_;
    std::function<void(std::uint32_t)> look_at_;  // empty: nobody looks
    std::function<void()> look_ = [] {};
    Time now_{};
    Time begin_{}, until_{};  // of the window
    std::uint64_t windows_ = 0;
    Time last_progress_{};
    std::uint64_t idle_frames_ = 0;  // since then
    Duration patience_;
    std::uint64_t max_idle_frames_;
    bool ended_ = false;  // by the clock's last moment
    std::string gave_up_;
    std::optional<ThreadTeam> team_;  // last: its threads end first
};

}  // namespace sluice
