#include "control/report/workers.hh"

#include "control/report/quantiles.hh"
#include "dataplane/path/worker_context.hh"
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
    for (unsigned n = 0; n < device.worker_count(); ++n) {
        const WorkerContext& worker = device.worker(static_cast<WorkerId>(n));
        Json ports = Json::array();
        std::uint64_t received = 0;
        std::uint64_t sent = 0;
        for (const PortContext* port : worker.own_ports) {
            ports.push_back(running.port_names()[port->id]);
            received += port->counters.rx.packets.get();  // by this worker: of its first queue
            sent += port->counters.tx.packets.get();
        }
        for (const ReceiveQueue* queue : worker.polled) received += queue->counters.rx.packets.get();
        Json json = {{"ports", std::move(ports)}, {"rx_packets", received}, {"tx_packets", sent}};
        if (!running.is_virtual()) {
            json.update(turns_json(worker.turns));
            json.update(reactions_json(*worker.reactions));
            if (worker.meter.session() != 0 || worker.meter.turns() != 0)
                json["meter"] = meter_json(worker.meter);
        }
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace sluice
