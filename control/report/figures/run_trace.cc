#include "control/report/figures/run_trace.hh"

#include <string>
#include <utility>

#include "control/report/figures/verdict.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/path/port_trace.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/priority_group.hh"

namespace sluice {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t max_trace_events = 200;

// Pauses of one direction: [at_ps, mask from then on], and by class [slot's width, time on in each slot].
void add_pauses(Json& json, const std::string& name, const PortTrace::Pauses& pauses, Time now) {
    Json& changes = json[name] = Json::array();
    for (const auto& change : pauses.changes) changes.push_back({change.at.ps, change.priorities});
    json[name + "_cut"] = pauses.cut;
    Json& shares = json[name + "_share"] = Json::object();
    for (unsigned n = 0; n < classes; ++n)
        if (const auto slots = pauses.share[n].slots(now); !slots.empty())
            shares[std::to_string(n)] = {{"width_ps", pauses.share[n].width(now).ps}, {"on_ps", slots}};
}

}  // namespace

Json make_run_trace(const RunningSwitch& running, const std::string& name) {
    Json ports = Json::object();
    const Switch& device = running.device();
    const std::uint64_t cell = running.config().cell_bytes;
    const auto series = [&](const DepthTrace& trace) {
        Json slots = Json::array();
        for (const auto& slot : trace.slots())
            slots.push_back({slot.start_ps, slot.peak * cell, slot.last * cell});
        return slots;
    };
    for (PortId id = 0; id < device.port_count(); ++id) {
        const PortView port = device.view(id);
        const PortTrace* trace = port.trace();
        if (trace == nullptr) continue;
        Json json = {{"queues", Json::object()}, {"groups", Json::object()}};
        for (unsigned n = 0; n < classes; ++n) {
            const std::string key = std::to_string(n);
            if (!trace->queue[n].slots().empty()) json["queues"][key] = series(trace->queue[n]);
            if (port.group(n).shared_watermark.persistent.get() == 0 ||
                !device.policy().ports[id].group[n].lossless)
                continue;
            json["groups"][key] = {{"used", series(trace->group[n])},
                                   {"limit", series(trace->limit[n])},
                                   {"headroom", series(trace->headroom[n])}};
        }
        add_pauses(json, "pauses", trace->sent, running.now());
        add_pauses(json, "holds", trace->obeyed, running.now());
        ports[running.port_names()[id]] = std::move(json);
    }
    Json watchdog = Json::array(), events = Json::array();
    for (const SwitchEvent& event : running.events()) {
        if (const WatchdogNotice* notice = event.watchdog())
            watchdog.push_back(
                {event.at.ps, running.port_names()[notice->port], notice->queue, notice->detected});
        else if (events.size() < max_trace_events)
            events.push_back({event.at.ps, event.kind, event.text});
    }
    return {{"name", name},
            {"verdict", verdict_json(judge_run(running), running.clock().is_interrupted())},
            {"end_ps", running.now().ps},
            {"ports", std::move(ports)},
            {"watchdog", std::move(watchdog)},
            {"events", std::move(events)}};
}

}  // namespace sluice
