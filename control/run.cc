#include "control/run.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "control/api.hh"
#include "control/budget.hh"
#include "control/commands.hh"
#include "control/dpdk_telemetry.hh"
#include "control/duties.hh"
#include "control/http.hh"
#include "control/log.hh"
#include "control/memory.hh"
#include "control/metrics.hh"
#include "control/notify.hh"
#include "control/rendering.hh"
#include "control/report.hh"
#include "control/report_nic.hh"
#include "control/say.hh"
#include "control/socket.hh"
#include "control/spare_memory.hh"
#include "control/values.hh"

namespace sluice {
namespace {

// The one piece of state that a signal handler can reach.
volatile std::sig_atomic_t signalled = 0;
volatile std::sig_atomic_t reload_wanted = 0;
extern "C" void on_signal(int number) {
    if (signalled != 0) _exit(1);  // the second one ends at once
    signalled = number;
}
extern "C" void on_hangup(int) { reload_wanted = 1; }

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = on_hangup;
    sigaction(SIGHUP, &action, nullptr);
    // A file that may not grow any more is an error of its writer.
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, nullptr);
}

// Timed events in order; the configuration has them sorted.
class EventQueue {
  public:
    explicit EventQueue(const Config& config) : events_(config.events) {}
    std::optional<Time> next() const {
        if (index_ == events_.size()) return std::nullopt;
        return Time{} + events_[index_].at;
    }
    void run_due(Api& api, Time now) {
        while (index_ < events_.size() && Time{} + events_[index_].at <= now) {
            const std::string& command = events_[index_++].command;  // once, whatever becomes of it
            const std::string error = run_command(api, command);
            if (!error.empty()) api.running().note("command_failed", command + ": " + error);
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
        complain("\r{:.3f} ms of virtual time ", static_cast<double>(now.ps) / 1e9);
        std::fflush(stderr);
        shown_ = true;
    }
    ~Progress() {
        if (shown_) complain("\r{:40}\r", "");
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

// A pause of a peer ends or is refreshed within 34 ms, so only a queue that an operator holds stands for
// longer, and what it holds up is paused by us. A port's refreshes come to this many in 168 s at 100G, and to
// 76 MB of a capture.
constexpr std::uint64_t most_idle_frames_a_port = 1'000'000;

// The switch under the virtual clock, an instant at a time.
class VirtualLoop {
  public:
    explicit VirtualLoop(Api& api)
        : api_(api),
          running_(api.running()),
          runner_(*running_.virtual_runner()),
          events_(running_.config()),
          patience_(longest_pause(running_.config()) * 2),
          most_idle_frames_(most_idle_frames_a_port * running_.config().ports.size()) {}

    // The next instant up to `end`; false when there is none, which at `end` is where the clock then stands.
    bool step(std::optional<Time> end) {
        std::optional<Time> instant = runner_.next();
        if (const auto event = events_.next(); event && (!instant || *event <= *instant))
            instant = max(runner_.on_grid(*event), runner_.now());
        if (end && (!instant || *instant > *end)) {
            // Time passes to the end even when nothing happens in it.
            runner_.advance(*end);
            runner_.run();
            while (running_.serve_slow_path()) runner_.run();
            running_.watch();
            return false;
        }
        if (!instant) return false;
        if (*instant > VirtualRunner::last_moment) {
            if (!std::exchange(ended_, true))
                running_.note("clock_end", "the virtual clock ends after 106 days: nothing later happens");
            return false;
        }
        if (!end && !events_.next() && *instant - runner_.last_progress() > patience_ &&
            !runner_.can_progress()) {
            note_waiting(running_);
            return false;
        }
        if (runner_.idle_frames() > most_idle_frames_) {
            give_up();
            return false;
        }
        runner_.advance(*instant);
        events_.run_due(api_, *instant);
        runner_.run();
        while (running_.serve_slow_path()) runner_.run();
        if (running_.finish_change()) runner_.run();
        running_.watch();
        return true;
    }

    // Why `step` returned false although there was something left to do; empty: it did not. Once.
    std::string gave_up() { return std::exchange(gave_up_, {}); }

  private:
    void give_up() {
        gave_up_ = fmt::format(
            "no frame has moved since {}, and {} PFC frames were sent since: the run ends; do: release the "
            "queue that is held, or end with --duration",
            print_time(runner_.last_progress() - Time{}), runner_.idle_frames());
        running_.note("no_progress", gave_up_);
        runner_.reset_idle_frames();
    }

    Api& api_;
    RunningSwitch& running_;
    VirtualRunner& runner_;
    EventQueue events_;
    Duration patience_;
    bool ended_ = false;  // by the clock's last moment
    std::uint64_t most_idle_frames_;
    std::string gave_up_;
};

// What there is beside the switch: the control socket, signals, whatever comes in from outside.
class Outside {
  public:
    Outside(RunningSwitch& running, const RunOptions& options)
        : duty(running),
          running_(running),
          api_(running, {options.config_file, options.overrides, options.interactive, options.force,
                         options.save_folder}),
          writer_(level_of(options)) {
        api_.account = [this] { return account(); };
    }

    // An error's text, or empty.
    std::string open(const RunOptions& options) {
        if (std::string error = writer_.open(options.events); !error.empty()) return error;
        writer_.say(LogLevel::info, running_.now() - Time{}, "routes", running_.routes().account());
        writer_.say(LogLevel::info, running_.now() - Time{}, "memory",
                    memory_account(running_.config()) + ": " + options.memory);
        for (PortId id = 0; id < running_.port_names().size(); ++id)
            if (const EthdevPort* port = running_.ethdev(id))
                writer_.say(LogLevel::info, running_.now() - Time{}, "port",
                            running_.port_names()[id] + ": " + capabilities_text(port->capabilities()));
        if (!options.metrics.empty()) {
            auto metrics = MetricsServer::open(io_, options.metrics, [this] { return metrics_now(); });
            if (!metrics) return metrics.error();
            metrics_ = std::move(*metrics);
        }
        if (options.telemetry) {
            auto telemetry = DpdkTelemetry::open([this] { return make_report(running_); });
            if (!telemetry) return telemetry.error();
            telemetry_ = std::move(*telemetry);
        }
        // Last: who finds the socket finds everything open.
        if (!options.socket.empty()) {
            auto server = ControlServer::open(io_, options.socket, api_, {});
            if (!server) return server.error();
            server_ = std::move(*server);
        }
        return {};
    }
    Api& api() { return api_; }

    // What has come in, as far as a round's budget goes; if nothing has, waits for it, for at most
    // `patience`.
    void serve(std::chrono::microseconds patience) {
        duty("clients", [&] { budget_.serve(io_, patience); });
        tick();
    }

    // What happened last, before the end.
    void finish() { running_.complain(writer_.finish(running_)); }

    Duties duty;

  private:
    std::optional<LogLevel> level_of(const RunOptions& options) const {
        if (options.log || running_.virtual_runner() != nullptr) return options.log;
        return LogLevel::warning;
    }
    void tick() {
        SpareMemory::hold(most_memory(running_.config(), 0));
        duty("log", [&] { writer_.write(running_); });
        if (reload_wanted != 0) {
            reload_wanted = 0;
            notify_service_manager("RELOADING=1");
            duty("reload", [&] { api_.reload(); });
            notify_service_manager("READY=1");
        }
        duty("confirmation", [&] { api_.tick(); });
        duty("telemetry", [&] {
            if (!telemetry_ || !telemetry_->is_asked()) return;
            boost::asio::post(io_, [this] { duty("telemetry", [&] { telemetry_->serve(); }); });
        });
        if (metrics_) duty("metrics", [&] { metrics_->tick(); });
        if (server_) duty("control socket", [&] { server_->tick(); });
    }
    Rendering::Text metrics_now() {
        const bool is_virtual = running_.virtual_runner() != nullptr;
        const Rendering::Mark mark{running_.generation(), running_.event_log().total(),
                                   is_virtual ? running_.now() : Time{}};
        return metrics_text_.at(mark, Rendering::Clock::now(), [this] {
            ++renderings_;
            return metrics_text(make_report(running_));
        });
    }
    Json account() const {
        const Budget::Account& done = budget_.account();
        Json json = {{"rounds", done.rounds},
                     {"handlers", done.handlers},
                     {"rounds_used_up", done.used_up},
                     {"most_handlers", done.most_handlers},
                     {"handlers_limit", budget_.limits().handlers},
                     {"renderings", renderings_}};
        if (server_) json.update(server_->account());
        return json;
    }

    RunningSwitch& running_;
    Api api_;
    Budget budget_{{}};
    Rendering metrics_text_;
    std::uint64_t renderings_ = 0;
    boost::asio::io_context io_;
    // With it the loop waits even when there is nobody to wait for.
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io_.get_executor()};
    std::unique_ptr<ControlServer> server_;
    std::unique_ptr<MetricsServer> metrics_;
    std::unique_ptr<DpdkTelemetry> telemetry_;
    EventWriter writer_;
};

std::string run_virtual(RunningSwitch& running, Outside& outside, std::optional<Duration> duration) {
    constexpr unsigned steps_a_round = 256;
    VirtualLoop loop(outside.api());
    Progress progress;
    std::optional<Time> end;
    if (duration) end = Time{} + *duration;
    for (unsigned steps = 1; loop.step(end); ++steps) {
        progress.show(running.now());
        if (steps % steps_a_round == 0) outside.serve(std::chrono::milliseconds(0));
        if (signalled != 0) {
            running.set_interrupted();
            break;
        }
    }
    return loop.gave_up();
}

// The clock moves when a client says so.
void run_interactive(RunningSwitch& running, Outside& outside) {
    VirtualLoop loop(outside.api());
    outside.api().advance = [&](std::optional<Duration> duration) {
        const auto end = duration ? std::optional(running.now() + *duration) : std::nullopt;
        for (bool more = true; more;) {
            // What is not confirmed goes back on its way, at its time.
            const auto deadline = outside.api().confirm_by();
            more = deadline && (!end || *deadline <= *end);
            while (loop.step(more ? deadline : end))
                if (signalled != 0) return running.set_interrupted();
            if (!loop.gave_up().empty()) return;
            outside.api().tick();
        }
    };
    while (signalled == 0) outside.serve(std::chrono::milliseconds(20));
}

void run_real(RunningSwitch& running, Outside& outside, std::optional<Duration> duration) {
    EventQueue events(running.config());
    running.real_runner()->start();
    notify_service_manager("READY=1");
    Time links_polled{};
    while (signalled == 0) {
        const Time now = running.now();
        outside.duty("timed events", [&] { events.run_due(outside.api(), now); });
        outside.duty("change of limits", [&] { running.finish_change(); });
        outside.duty("observation", [&] { running.watch(); });
        outside.duty("kernel", [&] { running.poll_kernel(); });
        outside.duty("slow path", [&] { running.serve_slow_path(); });
        if (duration && now - Time{} >= *duration) break;
        if (now - links_polled >= milliseconds(16))
            outside.duty("links", [&] { running.poll_links(links_polled = now); });
        // Where nothing waits for the next round it may come later: this thread may share a worker's core.
        Duration patience = running.wants_short_rounds() ? milliseconds(1) : milliseconds(8);
        if (const auto event = events.next()) patience = std::min(patience, *event - now);
        if (duration) patience = std::min(patience, Time{} + *duration - now);
        outside.serve(std::chrono::microseconds(std::max<std::int64_t>(patience.ps / 1'000'000, 1)));
    }
    notify_service_manager("STOPPING=1");
    running.real_runner()->stop();
}

}  // namespace

RunEnd run(RunningSwitch& running, const RunOptions& options) {
    catch_signals();
    Outside outside(running, options);
    RunEnd end;
    end.not_started = outside.open(options);
    if (!end.not_started.empty()) return end;
    if (running.virtual_runner() == nullptr)
        run_real(running, outside, options.duration);
    else if (options.interactive)
        run_interactive(running, outside);
    else
        end.gave_up = run_virtual(running, outside, options.duration);
    outside.finish();
    return end;
}

int stopped_by() { return signalled; }

}  // namespace sluice
