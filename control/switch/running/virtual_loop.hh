// The virtual clock of any number of switches: a window of time at a time, and between two of them control's
// part of the fabric that they make. A window is one instant, unless cables couple the switches and nothing
// else does: then it is as long as the shortest cable, and threads may share the switches. The outcome
// depends on the windows, and they do not depend on the number of threads.
//
// At an instant of a switch, in this order: its packets, frames that control answers, the rest of a change
// that can end now, and control's watches. Timed actions (commands, a test's actions) come before the
// instants of their time, and between two windows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/switch/running/timed_actions.hh"
#include "dataplane/peers/link_port.hh"
#include "dataplane/run/thread_team.hh"
#include "dataplane/run/virtual_runner.hh"

namespace sluice {

class RunningSwitch;

// How far switches run ahead of one another, and where.
struct LoopWindows {
    Duration length{};                  // no switch hears of another sooner; 0: every window is an instant
    std::vector<unsigned> thread_of{};  // by switch, from 0, the caller's, on; empty: all are its
};

class VirtualLoop {
  public:
    // The switches, which outlive it, have ports that this clock drives; `turn` is theirs. With windows that
    // are longer than an instant the switches' cables send through `outbox_between`, and the turn is 0.
    VirtualLoop(std::vector<RunningSwitch*> switches, Duration turn, const LoopWindows& windows = {});

    Time now() const { return now_; }
    // To a moment at which nothing is left to do before it, not before now.
    void advance(Time instant);
    unsigned threads() const { return static_cast<unsigned>(shards_.size()); }

    // Each comes at the first instant of the grid that is not before its time.
    TimedActions& actions() { return actions_; }

    enum class Step : std::uint8_t {
        instant,  // a window has passed, with an instant at its beginning
        end,      // there is none left up to `end`
        over,     // nothing can happen any more, or nothing that would be worth it: see gave_up
    };
    Step step(std::optional<Time> end);
    // Steps until no instant is left up to `end`, and then lets time pass to it. `goes_on` is asked after
    // each window; false: it stopped the run there.
    bool run(
        std::optional<Time> end, const std::function<bool()>& goes_on = [] { return true; });

    // At every multiple of `interval`, between two windows and before those that begin then or later. It does
    // not keep a run going. Before the first step.
    void every(Duration interval, std::function<void(Time)> beat) {
        interval_ = interval;
        beat_ = std::move(beat);
    }

    // To look at the switches and change nothing: after each instant of a switch, at that switch alone and on
    // its thread; and after each window, at all of them.
    void on_instant(std::function<void(std::uint32_t)> look) { look_at_ = std::move(look); }
    void on_window(std::function<void()> look) { look_ = std::move(look); }
    // The switches that ran in the last window.
    template <class Visit>
    void for_each_that_ran(Visit visit) const {
        for (const auto& shard : shards_)
            for (const VirtualRunner::Due& due : shard->runner.ran()) visit(shard->numbers[due.number]);
    }

    // For what the first switch sends the second.
    LinkExchange::Outbox& outbox_between(std::size_t from, std::size_t to) {
        return exchange_.outbox(thread_of_[from], thread_of_[to]);
    }

    // Why `step` gave up although there was something left to do; empty: it did not. Once.
    std::string gave_up() { return std::exchange(gave_up_, {}); }

  private:
    // The switches of one thread.
    struct Shard {
        Shard(const std::vector<RunningSwitch*>& all, std::vector<std::uint32_t> own, Duration turn);
        std::vector<std::uint32_t> numbers;
        std::vector<RunningSwitch*> switches;
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
    LinkExchange exchange_;
    std::vector<std::unique_ptr<Shard>> shards_;
    TimedActions actions_;
    Duration interval_{};  // of `beat_`; 0: none
    Time next_beat_{};
    std::function<void(Time)> beat_;
    std::function<void(std::uint32_t)> look_at_ = [](std::uint32_t) {};
    std::function<void()> look_ = [] {};
    Time now_{};
    Time begin_{}, until_{};  // of the window
    Time last_progress_{};
    std::uint64_t idle_frames_ = 0;  // since then
    Duration patience_;
    std::uint64_t max_idle_frames_;
    bool ended_ = false;  // by the clock's last moment
    std::string gave_up_;
    std::optional<ThreadTeam> team_;  // last: its threads end first
};

}  // namespace sluice
