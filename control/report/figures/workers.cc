#include "control/report/figures/workers.hh"

#include <string_view>
#include <vector>

#include "control/report/figures/quantiles.hh"
#include "control/report/figures/report_rows.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/path/stage_meter.hh"
#include "dataplane/path/turn_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

FIGURE_ROWS(stage_rows, StageMeter::Use, "workers.{worker}.meter.stages.{stage}") = {
#include "control/report/figures/rows/meter_stage.def"
};

Json stages_json(const StageMeter& meter) {
    Json stages;
    make_room(stages, stage_count);
    for (std::size_t n = 0; n < stage_count; ++n)
        stages[stage_texts[n].name] = json_of(stage_rows, meter.use(static_cast<Stage>(n)));
    return stages;
}

FIGURE_ROWS(meter_rows, StageMeter, "workers.{worker}.meter") = {
#include "control/report/figures/rows/meter.def"
};

// Of the session that runs, or ran last.
Json meter_json(const StageMeter& meter) {
    return meter.session() == 0 && meter.turns() == 0 ? absent() : json_of(meter_rows, meter);
}

// A worker writes the longest before the length of a turn is counted, and the lengths are read first: none
// that is told is above the longest.
struct TurnsSource {
    const TurnCounters& turns;
    const Reactions& reactions;
    const StageMeter& meter;
    Json busy_turn_ns = quantiles_json(turns.busy_lengths);
};

FIGURE_ROWS(turn_rows, TurnsSource, "workers.{worker}") = {
#include "control/report/figures/rows/turns.def"
};

struct WorkerSource {
    std::vector<std::string_view> ports;
    WorkerTraffic traffic;
};

FIGURE_ROWS(worker_rows, WorkerSource, "workers.{worker}") = {
#include "control/report/figures/rows/worker.def"
};

}  // namespace

Json workers_json(RunningSwitch& running) {
    Switch& device = running.device();
    Json list = Json::array();
    for (WorkerId id = 0; id < device.worker_count(); ++id) {
        WorkerSource worker{{}, device.traffic(id)};
        for (const PortId port : device.own_ports(id)) worker.ports.push_back(running.port_names()[port]);
        Json json = json_of(worker_rows, worker);
        if (!running.is_virtual())
            add_rows(json, turn_rows, {device.turns(id), *device.reactions(id), device.meter(id)});
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace sluice
