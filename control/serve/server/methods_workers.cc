// The methods of the control socket about workers.
#include <rte_cycles.h>

#include <array>

#include "control/report/figures/report.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/methods.hh"
#include "dataplane/path/stage_meter.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

Json show_workers(Api& api, RpcClient&, RpcParameters& parameters) {
    parameters.finish();
    Json json = {{"workers", workers_json(api.running())}};
    if (!api.is_virtual()) json["tsc_hz"] = rte_get_tsc_hz();
    return json;
}

Json meter(Api& api, RpcClient&, RpcParameters& parameters) {
    const bool on = parameters.boolean("on");
    parameters.finish();
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

std::span<const RpcMethod> worker_methods() {
    static constexpr std::array methods{
        RpcMethod{
            "worker.meter", "on: BOOL", "{}",
            "Real clock: counts every worker's cycles by stage, from zero, or stops and keeps the figures.",
            changes, false, meter},
        RpcMethod{"worker.show", "", "{workers: [OBJECT], tsc_hz?: NUMBER}",
                  "Workers: their ports, turns and packets, and cycles by stage if metered.", reads, false,
                  show_workers},
    };
    return methods;
}

}  // namespace sluice
