#include "control/report/figures/workers.hh"

#include "control/report/figures/quantiles.hh"
#include "dataplane/path/reactions.hh"
#include "dataplane/path/stage_meter.hh"
#include "dataplane/path/turn_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// A worker writes the longest before the length of a turn is counted, and this reads them the other way
// round: no length that is told is above the longest.
Json turns_json(const TurnCounters& counters) {
    Json busy = quantiles_json(counters.busy_lengths);
    return {{"turns", counters.turns.get()},
            {"busy_turns", counters.busy_turns.get()},
            {"time_ns", counters.time_ps.get() / 1000},
            {"busy_ns", counters.busy_ps.get() / 1000},
            {"longest_turn_ns", counters.longest_ps.get() / 1000},
            {"busy_turn_ns", std::move(busy)}};
}

Json reactions_json(const Reactions& reactions) {
    return {{"pauses_obeyed", reactions.pause_obeyed.count()},
            {"pause_obeyed_ns", quantiles_json(reactions.pause_obeyed)},
            {"xoffs_sent", reactions.xoff_sent.count()},
            {"xoff_sent_ns", quantiles_json(reactions.xoff_sent)}};
}

// Of the session that runs, or ran last; nothing when there was none.
Json meter_json(const StageMeter& meter) {
    Json stages = Json::object();
    for (std::size_t n = 0; n < stage_count; ++n) {
        const StageMeter::Use& use = meter.use(static_cast<Stage>(n));
        stages[stage_texts[n].name] = {{"packets", use.packets.get()}, {"cycles", use.cycles.get()}};
    }
    return {{"on", meter.session() != 0},
            {"turns", meter.turns()},
            {"busy_turns", meter.busy_turns()},
            {"stages", std::move(stages)}};
}

}  // namespace

Json workers_json(RunningSwitch& running) {
    Switch& device = running.device();
    Json list = Json::array();
    for (WorkerId id = 0; id < device.worker_count(); ++id) {
        Json ports = Json::array();
        for (const PortId port : device.own_ports(id)) ports.push_back(running.port_names()[port]);
        const WorkerTraffic traffic = device.traffic(id);
        Json json = {
            {"ports", std::move(ports)}, {"rx_packets", traffic.received}, {"tx_packets", traffic.sent}};
        if (!running.is_virtual()) {
            json.update(turns_json(device.turns(id)));
            json.update(reactions_json(*device.reactions(id)));
            const StageMeter& meter = device.meter(id);
            if (meter.session() != 0 || meter.turns() != 0) json["meter"] = meter_json(meter);
        }
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace sluice
