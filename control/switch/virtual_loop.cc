#include "control/switch/virtual_loop.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/values.hh"
#include "dataplane/path/port_context.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

// A pause of a peer ends or is refreshed within 34 ms, so only a queue that an operator holds stands for
// longer, and we pause its senders. A port's refreshes come to this many in 168 s at 100G, and to 76 MB of a
// capture.
constexpr std::uint64_t most_idle_frames_a_port = 1'000'000;

std::vector<Switch*> devices_of(const std::vector<RunningSwitch*>& switches) {
    std::vector<Switch*> devices;
    for (RunningSwitch* running : switches) devices.push_back(&running->device());
    return devices;
}

// After this long a pause that is not refreshed has ended.
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

VirtualLoop::VirtualLoop(std::vector<RunningSwitch*> switches, Duration turn)
    : switches_(std::move(switches)),
      runner_(devices_of(switches_), turn),
      patience_(longest_pause(switches_) * 2),
      most_idle_frames_(most_idle_frames_a_port * ports_of(switches_)) {
    for (RunningSwitch* running : switches_) running->set_clock(runner_);
}

// The packets of this instant, and control's answers to them.
void VirtualLoop::settle() {
    runner_.run();
    for (bool more = true; more;) {
        more = false;
        for (const std::uint32_t number : runner_.ran())
            if (switches_[number]->serve_slow_path()) {
                runner_.wake(number);
                more = true;
            }
        if (more) runner_.run();
    }
}

void VirtualLoop::watch() {
    for (const std::uint32_t number : runner_.ran()) switches_[number]->watch();
    look_();
}

VirtualLoop::Step VirtualLoop::step(std::optional<Time> end) {
    std::optional<Time> instant = runner_.next();
    if (const auto next = actions_.next())
        if (const Time action = runner_.on_grid(*next); !instant || action <= *instant)
            instant = max(action, runner_.now());
    if (end && (!instant || *instant > *end)) return Step::end;
    if (!instant) return Step::over;
    if (*instant > SwitchClock::last_moment) {
        if (!std::exchange(ended_, true))
            for (RunningSwitch* running : switches_)
                running->note("clock_end", "the virtual clock ends after 106 days: nothing later happens");
        return Step::over;
    }
    if (!end && !actions_.next() && *instant - runner_.last_progress() > patience_ &&
        !runner_.can_progress()) {
        note_waiting();
        return Step::over;
    }
    if (runner_.idle_frames() > most_idle_frames_) {
        give_up();
        return Step::over;
    }
    runner_.advance(*instant);
    actions_.run_due(*instant);
    settle();
    bool changed = false;
    for (const std::uint32_t number : runner_.ran()) changed |= switches_[number]->finish_change();
    if (changed) runner_.run();
    watch();
    return Step::instant;
}

bool VirtualLoop::run(std::optional<Time> end, const std::function<bool()>& goes_on) {
    Step last = step(end);
    while (last == Step::instant && goes_on()) last = step(end);
    if (last == Step::end) pass(*end);
    for (RunningSwitch* running : switches_) running->look_at_rings();
    return last != Step::instant;
}

void VirtualLoop::pass(Time end) {
    runner_.advance(end);
    settle();
    watch();
}

// Nothing can change any more, and frames are still held: says where.
void VirtualLoop::note_waiting() {
    for (RunningSwitch* running : switches_)
        for (PortId id = 0; id < running->device().port_count(); ++id)
            if (const auto waiting = running->device().port(id).io->account().waiting; waiting != 0)
                running->note("still_held", fmt::format("{} frames are still held by the sender behind {}",
                                                        waiting, running->port_names()[id]));
}

void VirtualLoop::give_up() {
    gave_up_ = fmt::format(
        "no frame has moved since {}, and {} PFC frames were sent since: the run ends; do: release the "
        "queue that is held, or end with --duration",
        print_time(runner_.last_progress() - Time{}), runner_.idle_frames());
    for (RunningSwitch* running : switches_) running->note("no_progress", gave_up_);
    runner_.reset_idle_frames();
}

}  // namespace sluice
