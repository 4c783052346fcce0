#include "control/fabric/report/depth_report.hh"

#include <string>

#include "control/report/figures/report_rows.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/buffer_use.hh"
#include "lib/values/class_mask.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

struct DepthSource {
    const Histogram& cells;
    std::uint64_t mean_cells, cell_bytes;

    std::uint64_t at(unsigned per_mille) const {
        return static_cast<std::uint64_t>(cells.quantile(per_mille).ps) * cell_bytes;
    }
};

FIGURE_ROWS(depth_figures, DepthSource, "depth_bytes.{switch}.{port}.{queue}") = {
#include "control/report/figures/rows/fabric/depth.def"
};

}  // namespace

DepthReport::DepthReport(Fabric& fabric) : fabric_(fabric), devices_(fabric.switches().size()) {
    for (std::size_t n = 0; n < devices_.size(); ++n) {
        const std::size_t ports = fabric_.switches()[n].running->device().port_count();
        devices_[n].filled.resize(ports);
        devices_[n].queues.resize(ports * classes);
        devices_[n].begun = devices_[n].phase_begun = fabric_.now();
    }
    fabric_.on_instant([this](std::uint32_t number) { look(number); });
}

void DepthReport::Queue::hold_until(Time now) {
    const Duration held = now - since;
    since = now;
    if (held.ps == 0) return;
    for (Depths* depths : {run.get(), phase.get()}) {
        depths->cells.record({cells}, static_cast<std::uint64_t>(held.ps));
        depths->cell_ps += static_cast<Wide>(cells) * static_cast<std::uint64_t>(held.ps);
    }
}

void DepthReport::look(std::uint32_t number) {
    const RunningSwitch& running = *fabric_.switches()[number].running;
    Device& own = devices_[number];
    for (PortId id = 0; id < own.filled.size(); ++id) {
        const PortView port = running.device().view(id);
        const std::uint8_t filled = port.backlog();
        for_each_class(filled | own.filled[id], [&](ClassId n) {
            std::unique_ptr<Queue>& queue = own.queues[std::size_t{id} * classes + n];
            const std::uint32_t cells = port.use(n).used_cells();
            if (queue == nullptr) {
                if (cells == 0) return;
                queue = std::make_unique<Queue>();
                queue->since = own.begun;
                queue->hold_until(own.phase_begun);
                queue->phase = std::make_unique<Depths>();
            }
            if (queue->cells == cells) return;
            queue->hold_until(running.now());
            queue->cells = cells;
        });
        own.filled[id] = filled;
    }
}

void DepthReport::settle() {
    for (Device& device : devices_)
        for (const std::unique_ptr<Queue>& queue : device.queues)
            if (queue != nullptr) queue->hold_until(fabric_.now());
}

void DepthReport::begin_phase() {
    settle();
    for (Device& device : devices_) {
        device.phase_begun = fabric_.now();
        for (const std::unique_ptr<Queue>& queue : device.queues)
            if (queue != nullptr) queue->phase = std::make_unique<Depths>();
    }
}

Json DepthReport::json(std::unique_ptr<Depths> Queue::*which) {
    settle();
    Json json = Json::object();
    for (std::size_t n = 0; n < devices_.size(); ++n) {
        const FabricSwitch& device = fabric_.switches()[n];
        const std::uint64_t cell_bytes = device.running->config().cell_bytes;
        for (std::size_t at = 0; at < devices_[n].queues.size(); ++at) {
            const Queue* queue = devices_[n].queues[at].get();
            if (queue == nullptr) continue;
            const Depths& depths = *(queue->*which);
            const std::uint64_t time = depths.cells.count();
            if (depths.cells.max().ps == 0) continue;
            json[device.plan->name][device.running->port_names()[at / classes]]
                [std::to_string(at % classes)] =
                    json_of(depth_figures,
                            {depths.cells, static_cast<std::uint64_t>(depths.cell_ps / time), cell_bytes});
        }
    }
    return json;
}

}  // namespace sluice::fabric
