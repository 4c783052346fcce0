#include "control/serve/daemon/run.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/lint/memory.hh"
#include "control/config/text/progress_line.hh"
#include "control/config/text/say.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/report_port.hh"
#include "control/serve/daemon/log.hh"
#include "control/serve/daemon/service.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/boundary.hh"
#include "control/serve/server/budget.hh"
#include "control/serve/server/http.hh"
#include "control/serve/server/live_page.hh"
#include "control/serve/server/metrics.hh"
#include "control/serve/server/rendering.hh"
#include "control/serve/server/socket.hh"
#include "control/serve/server/spare_memory.hh"
#include "control/switch/running/event_log.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "control/switch/running/timed_actions.hh"

namespace sluice {
namespace {

// The one piece of state that a signal handler can reach.
volatile std::sig_atomic_t signaled = 0;
volatile std::sig_atomic_t reload_wanted = 0;
extern "C" {
static void on_signal(int number) {
    if (signaled != 0) _exit(1);  // the second one ends at once
    signaled = number;
}
static void on_hangup(int) { reload_wanted = 1; }
}

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = on_hangup;
    sigaction(SIGHUP, &action, nullptr);
}

void run_timed(Api& api, const std::string& command) {
    const Transaction::Acting acting(api.changes(), {"a timed event"});
    const std::string error = run_command(api, command);
    if (!error.empty()) api.running().events().note("command_failed", command + ": " + error);
}

void add_events(TimedActions& events, Api& api) {
    for (const EventConfig& event : api.running().config().events)
        events.at(Time{} + event.at, [&api, command = event.command] { run_timed(api, command); });
}

// By how many rounds a duty of the clock was late: those that ended while it was due. Clients keep it waiting
// for the rest of one round, so for one round's budget.
struct Lateness {
    unsigned rounds = 0;
    unsigned most = 0;
    void served() { rounds = 0; }
    void round_ended(bool is_due) {
        if (is_due) most = std::max(most, ++rounds);
    }
};

// The duties of control in every round, each by itself: an exception of one is an event, and the others are
// done all the same. A duty that fails again and again is one event until it has gone well again.
class Duties {
  public:
    explicit Duties(EventLog& events) : events_(events) {
        failing_.reserve(16);  // now: a duty may fail for want of memory
    }

    // `name` lives as long as this.
    template <class Work>
    void operator()(std::string_view name, Work&& work) {
        const auto failed = [&](const char* what) {
            if (std::ranges::find(failing_, name) != failing_.end()) return;
            events_.note("control_failed", fmt::format("{}: {}; the switch goes on", name, what));
            failing_.push_back(name);
        };
        if (boundary(work, failed)) std::erase(failing_, name);
    }

  private:
    EventLog& events_;
    std::vector<std::string_view> failing_;
};

// What there is beside the switch: the control socket, signals, whatever comes in from outside.
class Outside {
  public:
    Outside(RunningSwitch& running, const Arguments& options)
        : duty(running.events()),
          service(running),
          running_(running),
          api_(running, {options.config, options.overrides, options.interactive, options.force,
                         options.save_folder, options.startup}),
          writer_(level_of(options)) {
        api_.account = [this] { return account(); };
        api_.on_reload = [this] { service.reloading(); };
        api_.on_reloaded = [this](bool good) { service.reloaded(good); };
    }

    // An error's text, or empty.
    std::string open(const Arguments& options, const std::string& memory) {
        if (std::string error = writer_.open(options.events); !error.empty()) return error;
        writer_.say(LogLevel::info, running_.now() - Time{}, "routes", running_.routes().account());
        writer_.say(LogLevel::info, running_.now() - Time{}, "memory",
                    memory_account(running_.config()) + ": " + memory);
        for (PortId id = 0; id < running_.port_names().size(); ++id)
            if (const DevicePort* port = running_.surroundings().device_port(id))
                writer_.say(LogLevel::info, running_.now() - Time{}, "port",
                            running_.port_names()[id] + ": " + capabilities_text(port->capabilities()));
        if (!options.metrics.empty()) {
            auto metrics =
                HttpServer::open(io_, "--metrics", options.metrics,
                                 [this](const HttpRequest& request) { return answer_metrics(request); });
            if (!metrics) return metrics.error();
            metrics_ = std::move(*metrics);
        }
        if (!options.page.empty()) {
            const std::string file = api_.file().path;
            auto page = LivePage::open(io_, options.page,
                                       {.switches = {{"", &api_}},
                                        .title = std::filesystem::path(file).stem().string(),
                                        .file = file});
            if (!page) return page.error();
            page_ = std::move(*page);
            complain_as(Priority::info, "page: {}\n", page_->address());
        }
        // Last: once the socket exists, all else is open.
        if (!options.socket.empty()) {
            auto server = ControlServer::open(io_, options.socket, api_, {});
            if (!server) return server.error();
            server_ = std::move(*server);
        }
        return {};
    }
    Api& api() { return api_; }

    // Serves requests within a round's budget; if there is none, waits for one for at most `patience`.
    void serve(std::chrono::microseconds patience) {
        duty("clients", [&] { budget_.serve(io_, patience); });
        tick();
    }

    // The last events before the end. An error's text, or empty.
    std::string finish() { return writer_.finish(running_); }
    // The last figures of a run that nobody can change any more.
    void finish_page() {
        if (page_)
            duty("page", [&] { page_->finish([&] { budget_.serve(io_, std::chrono::milliseconds(5)); }); });
    }

    Duties duty;
    Service service;
    // Under the real clock.
    Lateness events_late, links_late;
    std::uint64_t link_looks = 0;

  private:
    std::optional<LogLevel> level_of(const Arguments& options) const {
        if (options.log || running_.is_virtual()) return options.log;
        return LogLevel::warning;
    }
    void tick() {
        SpareMemory::hold(max_memory(running_.config(), 0));
        duty("log", [&] { writer_.write(running_); });
        duty("outputs of mirrors", [&] { running_.poll_mirror_outputs(); });
        if (reload_wanted != 0) {
            reload_wanted = 0;
            duty("reload", [&] {
                const Transaction::Acting acting(api_.changes(), {"SIGHUP"});
                try {
                    api_.reload();
                } catch (const RpcError&) {  // an event says it
                    return;
                }
            });
        }
        duty("confirmation", [&] { api_.changes().tick(); });
        if (metrics_) duty("metrics", [&] { metrics_->tick(); });
        if (page_) duty("page", [&] { page_->tick(LivePage::Clock::now()); });
        if (server_) duty("control socket", [&] { server_->tick(); });
        duty("service manager", [&] { service.tick(Service::Clock::now()); });
    }
    HttpReply answer_metrics(const HttpRequest& request) {
        if (request.path != "/metrics") return http_refusal(404, "there is /metrics");
        return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_now()};
    }
    Rendering::Text metrics_now() {
        const bool is_virtual = running_.is_virtual();
        const Rendering::Mark mark{running_.generation(), running_.events().total(),
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
                     {"renderings", renderings_},
                     {"events_late_rounds", events_late.most},
                     {"link_looks", link_looks},
                     {"link_looks_late_rounds", links_late.most}};
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
    std::unique_ptr<HttpServer> metrics_;
    std::unique_ptr<LivePage> page_;
    EventWriter writer_;
};

std::string run_virtual(StandaloneSwitch& alone, Outside& outside, std::optional<Duration> duration) {
    constexpr unsigned steps_a_round = 256;
    VirtualLoop& loop = *alone.virtual_loop();
    ProgressLine progress(4096, std::chrono::seconds(1));
    std::optional<Time> end;
    if (duration) end = Time{} + *duration;
    unsigned steps = 0;
    const bool ended = loop.run(end, [&] {
        if (progress.is_due())
            progress.show(
                fmt::format("{:.3f} ms of virtual time ", static_cast<double>(loop.now().ps) / 1e9));
        if (++steps % steps_a_round == 0) outside.serve(std::chrono::milliseconds(0));
        return signaled == 0;
    });
    if (!ended) alone.running().clock().set_interrupted();
    outside.finish_page();
    return loop.gave_up();
}

// The clock moves when a client says so.
void run_interactive(StandaloneSwitch& alone, Outside& outside) {
    VirtualLoop& loop = *alone.virtual_loop();
    outside.api().advance = [&](std::optional<Duration> duration) {
        const auto end = duration ? std::optional(loop.now() + *duration) : std::nullopt;
        for (bool more = true; more;) {
            // A change that is not confirmed is taken back at its time.
            const auto deadline = outside.api().changes().confirm_by();
            more = deadline && (!end || *deadline <= *end);
            const auto until = more ? deadline : end;
            if (!loop.run(until, [] { return signaled == 0; }))
                return alone.running().clock().set_interrupted();
            if (!loop.gave_up().empty()) return;
            outside.api().changes().tick();
        }
    };
    while (signaled == 0) outside.serve(std::chrono::milliseconds(20));
}

void run_real(StandaloneSwitch& alone, Outside& outside, std::optional<Duration> duration) {
    RunningSwitch& running = alone.running();
    TimedActions events;
    add_events(events, outside.api());
    alone.real_runner()->start();
    outside.service.ready(Service::Clock::now());
    constexpr Duration links_period = milliseconds(16);
    Time next_links = Time{} + links_period;
    while (signaled == 0) {
        const Time now = running.now();
        outside.duty("timed events", [&] { events.run_due(now); });
        outside.events_late.served();
        outside.duty("change of limits", [&] { running.finish_change(); });
        outside.duty("observation", [&] { running.watch().note_news(); });
        outside.duty("mirrors", [&] { running.serve_mirrors(); });
        outside.duty("kernel", [&] { alone.devices()->poll_kernel(); });
        outside.duty("slow path", [&] { running.serve_slow_path(); });
        if (duration && now - Time{} >= *duration) break;
        if (now >= next_links) {
            next_links = now + links_period;
            ++outside.link_looks;
            outside.duty("links", [&] { alone.devices()->poll_links(now); });
            outside.links_late.served();
        }
        // Where nothing waits for the next round it may come later: this thread may share a worker's core.
        Duration patience = running.wants_short_rounds() ? milliseconds(1) : milliseconds(8);
        if (const auto event = events.next()) patience = std::min(patience, *event - now);
        if (duration) patience = std::min(patience, Time{} + *duration - now);
        outside.serve(std::chrono::microseconds(std::max<std::int64_t>(patience.ps / 1'000'000, 1)));
        const Time then = running.now();
        if (const auto event = events.next()) outside.events_late.round_ended(*event <= then);
        outside.links_late.round_ended(next_links <= then);
    }
    outside.service.stopping();
    alone.real_runner()->stop();
    running.watch().note_news();  // what happened since the last look has its event, too
}

}  // namespace

RunEnd run(StandaloneSwitch& alone, const Arguments& options, const std::string& memory) {
    RunningSwitch& running = alone.running();
    catch_signals();
    Outside outside(running, options);
    RunEnd end;
    end.not_started = outside.open(options, memory);
    if (!end.not_started.empty()) return end;
    if (running.is_virtual()) {
        add_events(alone.virtual_loop()->actions(), outside.api());
        outside.service.ready(Service::Clock::now());
    }
    if (!running.is_virtual())
        run_real(alone, outside, options.duration);
    else if (options.interactive)
        run_interactive(alone, outside);
    else
        end.gave_up = run_virtual(alone, outside, options.duration);
    running.watch().losses().note_losses(true);
    end.events_unwritten = outside.finish();
    return end;
}

int stopped_by() { return signaled; }

}  // namespace sluice
