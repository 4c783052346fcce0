#include "control/switch/running/virtual_loop.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "control/config/schema/values.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/ports/port.hh"
#include "dataplane/run/switch.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

// A peer's pause ends or is refreshed within 34 ms, so only a queue that an operator holds blocks longer, and
// we pause its senders. A port sends so many refreshes in 168 s at 100G, 76 MB of a capture.
constexpr std::uint64_t max_idle_frames_a_port = 1'000'000;

std::vector<RunningSwitch*> some_of(const std::vector<RunningSwitch*>& all,
                                    const std::vector<std::uint32_t>& numbers) {
    std::vector<RunningSwitch*> some;
    for (const std::uint32_t number : numbers) some.push_back(all[number]);
    return some;
}

std::vector<Switch*> devices_of(const std::vector<RunningSwitch*>& switches) {
    std::vector<Switch*> devices;
    for (RunningSwitch* running : switches) devices.push_back(&running->device());
    return devices;
}

std::vector<unsigned> threads_of(const LoopWindows& windows, std::size_t switches) {
    return windows.thread_of.empty() ? std::vector<unsigned>(switches) : windows.thread_of;
}

unsigned count_of(const std::vector<unsigned>& thread_of) {
    return 1 + (thread_of.empty() ? 0 : *std::max_element(thread_of.begin(), thread_of.end()));
}

// The longest pause without a refresh.
Duration longest_pause(const std::vector<RunningSwitch*>& switches) {
    Duration longest{};
    for (const RunningSwitch* running : switches)
        for (const auto& [name, port] : running->config().ports)
            longest = std::max(longest, port.speed.byte_time() * (std::int64_t{65535} * quantum_bytes));
    return longest;
}

std::uint64_t ports_of(const std::vector<RunningSwitch*>& switches) {
    std::uint64_t ports = 0;
    for (const RunningSwitch* running : switches) ports += running->port_names().size();
    return ports;
}

}  // namespace

VirtualLoop::Shard::Shard(const std::vector<RunningSwitch*>& all, std::vector<std::uint32_t> own,
                          Duration turn)
    : numbers(std::move(own)),
      switches(some_of(all, numbers)),
      wants(switches.size()),
      runner(devices_of(switches), turn) {
    for (RunningSwitch* running : switches) running->clock().set(runner);
}

VirtualLoop::VirtualLoop(std::vector<RunningSwitch*> switches, Duration turn, const LoopWindows& windows)
    : switches_(std::move(switches)),
      thread_of_(threads_of(windows, switches_.size())),
      window_(windows.length),
      alone_(switches_.size() == 1 && windows.instants > 1),
      exchange_(count_of(thread_of_)),
      patience_(longest_pause(switches_) * 2),
      max_idle_frames_(max_idle_frames_a_port * ports_of(switches_)) {
    std::vector<std::vector<std::uint32_t>> numbers(count_of(thread_of_));
    for (std::uint32_t number = 0; number < switches_.size(); ++number)
        numbers[thread_of_[number]].push_back(number);
    for (auto& own : numbers) shards_.push_back(std::make_unique<Shard>(switches_, std::move(own), turn));
    if (alone_) shards_.front()->runner.run_alone(windows.instants, patience_);
    if (shards_.size() > 1)
        team_.emplace(static_cast<unsigned>(shards_.size()), [this](unsigned shard) { run_shard(shard); });
}

void VirtualLoop::advance(Time instant) {
    now_ = instant;
    for (const auto& shard : shards_) shard->runner.advance(instant);
}

std::optional<Time> VirtualLoop::next() {
    std::optional<Time> best = exchange_.earliest();
    for (const auto& shard : shards_) take_earlier(best, shard->runner.next());
    return best ? std::optional(shards_.front()->runner.on_grid(max(*best, now_))) : best;
}

bool VirtualLoop::can_progress() const {
    return std::any_of(shards_.begin(), shards_.end(),
                       [](const auto& shard) { return shard->runner.can_progress(); });
}

// Runs actions with all cables advanced to `now`.
void VirtualLoop::act(Time now) {
    exchange_.take_all();
    next();
    advance(now);
    actions_.run_due(now);
    for (const auto& shard : shards_) shard->runner.rouse();
}

void VirtualLoop::beat(Time until) {
    for (; interval_.ps != 0 && next_beat_ <= until; next_beat_ = next_beat_ + interval_) beat_(next_beat_);
}

// After the packets of an instant.
void VirtualLoop::settle(Shard& shard, std::uint32_t number) {
    RunningSwitch& running = *shard.switches[number];
    Shard::Wants& wants = shard.wants[number];
    if (wants.window != windows_) wants = {running.wants_control(), windows_};
    const bool wanted = wants.control.at(shard.runner.news(number), shard.runner.now());
    if (wanted || checks_invariants) {
        [[maybe_unused]] const std::uint64_t events = running.events().total();
        [[maybe_unused]] bool served = false;
        while (running.serve_slow_path() || running.finish_change() || running.serve_mirrors()) {
            served = true;
            shard.runner.again(number);
        }
        running.watch().note_news();
        wants.window = 0;
        SLUICE_INVARIANT(wanted || (!served && running.events().total() == events));
    }
    if (look_at_) look_at_(shard.numbers[number]);
}

// The window, on the shard's thread.
void VirtualLoop::run_shard(unsigned number) {
    Shard& shard = *shards_[number];
    exchange_.deliver_to(number);
    shard.runner.next();
    shard.runner.run(begin_, until_, [&](std::uint32_t each) { settle(shard, each); });
}

void VirtualLoop::run_window(Time begin, Time until) {
    begin_ = begin;
    until_ = until;
    ++windows_;
    exchange_.turn_over();
    if (team_)
        team_->run();
    else
        run_shard(0);
    assert((window_.ps == 0 || exchange_.earliest().value_or(until) >= until) &&
           "a frame arrives in the window in which it was sent");
    Time last = begin;
    std::optional<Time> moved;
    std::uint64_t idle_frames = 0;
    for (const auto& shard : shards_) {
        last = max(last, shard->runner.now());
        const VirtualRunner::Progress progress = shard->runner.take_progress();
        if (progress.moved) moved = max(moved.value_or(*progress.moved), *progress.moved);
        idle_frames += progress.idle_frames;
    }
    advance(last);
    if (moved) last_progress_ = *moved;
    idle_frames_ = moved ? idle_frames : idle_frames_ + idle_frames;
    look_();
}

VirtualLoop::Step VirtualLoop::step(std::optional<Time> end) {
    std::optional<Time> instant = next();
    std::optional<Time> action = actions_.next();
    if (action) action = max(shards_.front()->runner.on_grid(*action), now_);
    if (action && (!instant || *action <= *instant)) instant = action;
    if (end && (!instant || *instant > *end)) return Step::end;
    if (!instant) return Step::over;
    if (*instant > SwitchClock::last_moment) {
        if (!std::exchange(ended_, true))
            for (RunningSwitch* running : switches_)
                running->events().note("clock_end",
                                       "the virtual clock ends after 106 days: nothing later happens");
        return Step::over;
    }
    if (!end && !action && *instant - last_progress_ > patience_ && !can_progress()) {
        note_waiting();
        return Step::over;
    }
    if (idle_frames_ > max_idle_frames_) {
        give_up();
        return Step::over;
    }
    beat(*instant);
    if (action == instant) act(*instant);
    Time until = *instant;
    if (alone_ || window_.ps != 0) {
        until =
            alone_ ? SwitchClock::last_moment : min(until + window_, SwitchClock::last_moment + Duration{1});
        if (const auto next = actions_.next()) until = min(until, *next);
        if (interval_.ps != 0) until = min(until, next_beat_);
        if (end) until = min(until, *end + Duration{1});
    }
    run_window(*instant, until);
    return Step::instant;
}

bool VirtualLoop::run(std::optional<Time> end, const std::function<bool()>& goes_on) {
    Step last = step(end);
    while (last == Step::instant && goes_on()) last = step(end);
    if (last == Step::end) pass(*end);
    exchange_.take_all();  // nothing is left there between two runs
    settle_traces();
    for (RunningSwitch* running : switches_) running->watch().losses().note_losses();
    return last != Step::instant;
}

void VirtualLoop::settle_traces() {
    for (const auto& shard : shards_) shard->runner.settle_traces();
}

void VirtualLoop::pass(Time end) {
    exchange_.take_all();
    next();
    beat(end);
    advance(end);
    run_window(end, end);
}

// Nothing can change any more: notes where frames are still held.
void VirtualLoop::note_waiting() {
    for (RunningSwitch* running : switches_)
        for (PortId id = 0; id < running->device().port_count(); ++id)
            if (const auto waiting = running->device().view(id).io().account().waiting; waiting != 0)
                running->events().note(
                    "still_held", fmt::format("{} frames are still held by the sender behind {}", waiting,
                                              running->port_names()[id]));
}

void VirtualLoop::give_up() {
    gave_up_ = fmt::format(
        "no frame has moved since {}, and {} PFC frames were sent since: the run ends; do: release the "
        "queue that is held, or end with --duration",
        print_time(last_progress_ - Time{}), idle_frames_);
    for (RunningSwitch* running : switches_) running->events().note("no_progress", gave_up_);
    idle_frames_ = 0;
}

}  // namespace sluice
