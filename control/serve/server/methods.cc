// The methods of the control socket that look and act; those of the configuration are in methods_config.cc.
#include <fmt/format.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/figure_path.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/since.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/methods.hh"
#include "dataplane/path/stage_meter.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/switch_clock.hh"

namespace sluice {
namespace {

Json hello(Api& api, RpcClient&, RpcParameters&) {
    return {{"name", "sluice"},
            {"api", api_version},
            {"version", SLUICE_VERSION},
            {"pid", getpid()},
            {"clock", api.is_virtual() ? "virtual" : "real"},
            {"interactive", api.options().interactive},
            {"config_file", api.options().config_file},
            {"ports", api.running().port_names()}};
}

Json list_methods(Api&, RpcClient&, RpcParameters&) {
    Json list = Json::array();
    for (const RpcMethod& method : rpc_methods())
        list.push_back({{"name", method.name},
                        {"params", method.parameters},
                        {"changes", method.has_changes()},
                        {"sentence", method.sentence}});
    return list;
}

Json discover(Api&, RpcClient&, RpcParameters&) { return openrpc_document(); }

// Runs a command in words, as timed events do.
void command(Api& api, const std::string& words) { refuse_if(run_command(api, words)); }

Json run(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string words = parameters.text("command");
    command(api, words);
    return Json::object();
}

Json port_set(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string port = parameters.text("port");
    const bool up = parameters.boolean("up");
    command(api, fmt::format("port {} {}", port, up ? "up" : "down"));
    return Json::object();
}

Json queue_hold(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string port = parameters.text("port");
    const auto queue = parameters.integer("queue", 0, classes - 1);
    const bool hold = parameters.boolean_or("hold", true);
    command(api, fmt::format("queue {}.{} {}", port, queue, hold ? "hold" : "release"));
    return Json::object();
}

const Json& part_of(const Json& report, const std::string& path) {
    const ReportPart part = find_part(report, path);
    if (part.value != nullptr) return *part.value;
    throw wrong_parameter("path", part.error());
}

Json part_of_report(Api& api, const std::string& path) { return part_of(make_report(api.running()), path); }

Json stats_show(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string path = parameters.text_or("path", "");
    return part_of_report(api, path);
}

Json stats_watch(Api& api, RpcClient& client, RpcParameters& parameters) {
    std::string path = parameters.text_or("path", "");
    const std::string every = parameters.text_or("every", "1s");
    static_cast<void>(part_of_report(api, path));
    Json answer = Json::object();
    if (every == "off") {
        client.watch_interval.reset();
        return answer;
    }
    const auto interval = parse_time(every);
    constexpr Duration shortest = milliseconds(10);
    if (!interval || *interval < shortest)
        throw wrong_parameter("every", sluice::in_quotes(every) + " is not an interval",
                              {{"allowed", "10ms and longer, or off"}});
    client.watch_interval = *interval;
    client.watch_path = std::move(path);
    client.next_watch = api.running().now();
    return answer;
}

Json stats_clear(Api& api, RpcClient&, RpcParameters&) {
    api.clear_stats();
    return Json::object();
}

Json stats_since(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string path = parameters.text_or("path", "");
    const std::string from = parameters.text_or("from", "clear");
    const bool buckets = parameters.boolean_or("buckets", false);
    if (from != "clear" && from != "start")
        throw wrong_parameter("from", sluice::in_quotes(from) + " is not a moment",
                              {{"allowed", "clear, start"}});
    const std::uint64_t now_ns = api.running().now().ps / 1000;
    Json report = make_report(api.running());
    const Api::Cleared* cleared = api.cleared() && from == "clear" ? &*api.cleared() : nullptr;
    if (cleared != nullptr || buckets) add_buckets(report, api.running());
    const Json& part = part_of(report, path);
    if (cleared == nullptr) return {{"now_ns", now_ns}, {"since_ns", 0}, {"value", part}};
    const std::uint64_t since_ns = cleared->at.ps / 1000;
    static const Json nothing;
    const Json* before = find_part(cleared->report, path).value;
    return {{"now_ns", now_ns},
            {"since_ns", since_ns},
            {"by", cleared->by},
            {"value",
             figures_since({part, before == nullptr ? nothing : *before, path, now_ns - since_ns, true})}};
}

Json events_list(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::uint64_t from = parameters.integer_or("from", 0, UINT64_MAX, 0);
    const EventLog& log = api.running().events();
    Json list = Json::array();
    for (std::uint64_t number = std::max(from, log.lost()); number < log.total(); ++number)
        list.push_back(event_json(api.running(), *log.find(number)));
    return {{"events", std::move(list)}, {"lost", log.lost()}, {"next", log.total()}};
}

Json events_subscribe(Api& api, RpcClient& client, RpcParameters& parameters) {
    const bool on = parameters.boolean_or("on", true);
    const std::uint64_t next = parameters.integer_or("from", 0, UINT64_MAX, api.running().events().total());
    Json answer = {{"next", next}};
    client.wants_events = on;
    client.next_event = next;
    return answer;
}

Json clock_run(Api& api, RpcClient&, RpcParameters& parameters) {
    std::optional<Duration> duration;
    if (parameters.has("for")) duration = parameters.value("for", parse_time);
    const Duration left = SwitchClock::last_moment - api.running().now();
    if (api.is_virtual() && duration && *duration > left)
        throw RpcError{RpcCode::refused,
                       fmt::format("the clock stands at {} and ends at {}, after 106 days",
                                   print_time(api.running().now() - Time{}),
                                   print_time(SwitchClock::last_moment - Time{})),
                       {{"path", "for"}, {"do", "run it for at most " + print_time(left)}}};
    if (const std::string flow = endless_flow(api.running().config()); !duration && !flow.empty())
        throw RpcError{RpcCode::refused,
                       fmt::format("flow {} never ends", flow),
                       {{"path", "for"}, {"do", "say for how long, or write stop or messages for it"}}};
    if (!api.advance)
        throw RpcError{
            RpcCode::not_now, "the clock runs by itself", {{"do", "start sluiced with --interactive"}}};
    api.advance(duration);
    return {{"now_ns", api.running().now().ps / 1000}};
}

Json clock_show(Api& api, RpcClient&, RpcParameters&) { return {{"now_ns", api.running().now().ps / 1000}}; }

Json control_show(Api& api, RpcClient&, RpcParameters&) {
    return api.account ? api.account() : Json::object();
}

Json show_workers(Api& api, RpcClient&, RpcParameters&) {
    Json json = {{"workers", workers_json(api.running())}};
    if (!api.is_virtual()) json["tsc_hz"] = rte_get_tsc_hz();
    return json;
}

Json meter(Api& api, RpcClient&, RpcParameters& parameters) {
    const bool on = parameters.boolean("on");
    if (on && api.is_virtual())
        throw RpcError{RpcCode::refused,
                       "stages are not metered under the virtual clock: cycles are never the same twice",
                       {{"path", "on"}, {"do", "set clock to real"}}};
    Switch& device = api.running().device();
    for (WorkerId id = 0; id < device.worker_count(); ++id) {
        StageMeter& meter = device.meter(id);
        on ? meter.start() : meter.stop();
    }
    return Json::object();
}

}  // namespace

std::span<const RpcMethod> rpc_methods() {
    static const std::vector<RpcMethod> methods = [] {
        std::vector<RpcMethod> all{
            {"clock.run", changes, clock_run, "for?: TIME", "{now_ns: NUMBER}",
             "Interactive: lets virtual time pass; without `for` until nothing more happens."},
            {"clock.show", reads, clock_show, "", "{now_ns: NUMBER}", "The switch's clock."},
            {"command", changes, run, "command: WORDS", "{}",
             "A command in words, as timed events give them."},
            {"control.show", reads, control_show, "", "OBJECT",
             "What clients have taken of the control thread: rounds, handlers, unread bytes, their limits, "
             "and the rounds by which its own duties were late at most."},
            {"events.list", reads, events_list, "from?: NUMBER",
             "{events: [EVENT], lost: NUMBER, next: NUMBER}", "The last 10 000 events."},
            {"events.subscribe", reads, events_subscribe, "on?: BOOL, from?: NUMBER", "{next: NUMBER}",
             "Sends every event from now on as a notification `event`."},
            {"hello", reads, hello, "",
             "{name: TEXT, api: NUMBER, version: TEXT, pid: NUMBER, clock: TEXT, interactive: BOOL, "
             "config_file: TEXT, ports: [NAME]}",
             "Version of the API, clock, ports."},
            {"methods", reads, list_methods, "",
             "[{name: TEXT, params: TEXT, changes: BOOL, sentence: TEXT}]",
             "All methods with their parameters."},
            {"port.set", changes, port_set, "port: NAME, up: BOOL", "{}", "An operator's port up or down."},
            {"queue.hold", changes, queue_hold, "port: NAME, queue: CLASS, hold?: BOOL", "{}",
             "Holds a queue (admission goes on, dequeue stops) or releases it."},
            {"rpc.discover", reads, discover, "", "OBJECT",
             "This API as an OpenRPC document, as sluiced --openrpc prints it."},
            {"stats.clear", changes, stats_clear, "", "{}",
             "From now on stats.since and tables begin here, and users' watermarks anew; the report and the "
             "metrics keep their totals."},
            {"stats.show", reads, stats_show, "path?: PATH", "VALUE",
             "The report, or the part at a path such as ports.p0.pfc."},
            {"stats.since", reads, stats_since, "path?: PATH, from?: TEXT, buckets?: BOOL",
             "{now_ns: NUMBER, since_ns: NUMBER, by?: TEXT, value: VALUE}",
             "As stats.show, but counters and times since the last stats.clear, or with from = start since "
             "the start; `buckets` has the histograms behind the latter's quantiles, too."},
            {"stats.watch", reads, stats_watch, "path?: PATH, every?: TIME", "{}",
             "Sends that part again and again as a notification `stats`; every = off ends it."},
            {"worker.meter", changes, meter, "on: BOOL", "{}",
             "Real clock: counts every worker's cycles by stage, from zero, or stops and keeps the figures."},
            {"worker.show", reads, show_workers, "", "{workers: [OBJECT], tsc_hz?: NUMBER}",
             "Workers: their ports, turns and packets, and cycles by stage if metered."},
        };
        for (const auto& more : {config_methods(), qos_methods(), record_methods(), route_methods()})
            all.insert(all.end(), more.begin(), more.end());
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
        return all;
    }();
    return methods;
}

}  // namespace sluice
