#include "control/report/depth_trace.hh"

#include <string>

#include "dataplane/path/port_context.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

using Json = nlohmann::ordered_json;

Json make_depth_trace(const RunningSwitch& running) {
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
        const PortContext& port = device.port(id);
        if (!port.trace) continue;
        Json json = {{"queues", Json::object()},
                     {"groups", Json::object()},
                     {"pauses", Json::array()},
                     {"holds", Json::array()}};
        for (unsigned n = 0; n < classes; ++n) {
            const std::string key = std::to_string(n);
            if (!port.trace->queue[n].slots().empty()) json["queues"][key] = series(port.trace->queue[n]);
            if (port.group[n].shared_watermark.persistent.get() == 0 ||
                !device.policy().ports[id].group[n].lossless)
                continue;
            json["groups"][key] = {{"used", series(port.trace->group[n])},
                                   {"limit", series(port.trace->limit[n])}};
        }
        for (const auto& pause : port.trace->pauses)
            json["pauses"].push_back({pause.at.ps, pause.priorities});
        for (const auto& hold : port.trace->obeyed_pauses)
            json["holds"].push_back({hold.at.ps, hold.priorities});
        ports[running.port_names()[id]] = std::move(json);
    }
    Json watchdog = Json::array();
    for (const SwitchEvent& event : running.event_log())
        if (event.watchdog)
            watchdog.push_back({event.at.ps, running.port_names()[event.watchdog->port],
                                event.watchdog->queue, event.watchdog->detected});
    return {{"end_ps", running.now().ps}, {"ports", std::move(ports)}, {"watchdog", std::move(watchdog)}};
}

}  // namespace sluice
