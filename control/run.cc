#include "control/run.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "control/commands.hh"

namespace sluice {
namespace {

// The one piece of state that a signal handler can reach.
volatile std::sig_atomic_t signalled = 0;
extern "C" void on_signal(int) { signalled = 1; }

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

// Timed events in order; the configuration has them sorted.
class EventQueue {
  public:
    explicit EventQueue(const Config& config) : events_(config.events) {}
    std::optional<Time> next() const {
        if (index_ == events_.size()) return std::nullopt;
        return Time{} + events_[index_].at;
    }
    void run_due(RunningSwitch& running, Time now) {
        for (; index_ < events_.size() && Time{} + events_[index_].at <= now; ++index_) {
            const std::string& command = events_[index_].command;
            const std::string error = run_command(running, command);
            if (!error.empty()) running.note("command_failed", command + ": " + error);
        }
    }

  private:
    std::vector<EventConfig> events_;
    std::size_t index_ = 0;
};

// How far a long virtual run has come, on a terminal, twice a second.
class Progress {
  public:
    void show(Time now) {
        if (!on_terminal_ || ++calls_ % 4096 != 0) return;
        const auto wall = std::chrono::steady_clock::now();
        if (wall < next_) return;
        next_ = wall + std::chrono::milliseconds(500);
        fmt::print(stderr, "\r{:.3f} ms of virtual time ", static_cast<double>(now.ps) / 1e9);
        std::fflush(stderr);
        shown_ = true;
    }
    ~Progress() {
        if (shown_) fmt::print(stderr, "\r{:40}\r", "");
    }

  private:
    bool on_terminal_ = isatty(STDERR_FILENO) == 1;
    bool shown_ = false;
    std::uint64_t calls_ = 0;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

// After this long a pause that is not refreshed has ended.
Duration longest_pause(const Config& config) {
    Duration longest{};
    for (const auto& [name, port] : config.ports)
        longest = std::max(longest, port.speed.byte_time() * (std::int64_t{65535} * quantum_bytes));
    return longest;
}

// Nothing can change any more, and frames are still held: says where.
void note_waiting(RunningSwitch& running) {
    for (PortId id = 0; id < running.device().port_count(); ++id) {
        const auto waiting = running.device().port(id).io->waiting();
        if (waiting != 0)
            running.note("still_held", fmt::format("{} frames are still held by the sender behind {}",
                                                   waiting, running.port_names()[id]));
    }
}

void run_virtual(RunningSwitch& running, std::optional<Duration> duration) {
    VirtualRunner& runner = *running.virtual_runner();
    EventQueue events(running.config());
    Progress progress;
    const Duration patience = longest_pause(running.config()) * 2;
    while (signalled == 0) {
        std::optional<Time> instant = runner.next();
        if (const auto event = events.next(); event && (!instant || *event <= *instant))
            instant = max(runner.on_grid(*event), runner.now());
        if (duration && (!instant || *instant > Time{} + *duration)) {
            // Time passes to the end even when nothing happens in it.
            runner.advance(Time{} + *duration);
            runner.run();
            running.watch();
            return;
        }
        if (!instant) return;
        if (!duration && !events.next() && *instant - runner.last_progress() > patience &&
            !runner.can_progress()) {
            note_waiting(running);
            return;
        }
        runner.advance(*instant);
        events.run_due(running, *instant);
        runner.run();
        if (running.finish_change()) runner.run();
        running.watch();
        progress.show(*instant);
    }
}

void run_real(RunningSwitch& running, std::optional<Duration> duration) {
    EventQueue events(running.config());
    running.real_runner()->start();
    unsigned rounds = 0;
    while (signalled == 0) {
        const Time now = running.now();
        events.run_due(running, now);
        running.finish_change();
        running.watch();
        if (duration && now - Time{} >= *duration) break;
        if (++rounds % 16 == 0) running.poll_links();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    running.real_runner()->stop();
}

}  // namespace

void run(RunningSwitch& running, std::optional<Duration> duration) {
    catch_signals();
    if (running.virtual_runner() != nullptr)
        run_virtual(running, duration);
    else
        run_real(running, duration);
}

}  // namespace sluice
