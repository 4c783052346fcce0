// The depth of an egress queue has changed: its meter is told, and an excursion that ended goes to control.
// Called by the stages of egress.cc; a mark at the queue is told to the meter itself.
#pragma once

#include "dataplane/worker_context.hh"

namespace sluice {

inline void depth_rose(PortContext& port, const PacketMeta& info, Time now) {
    port.microburst[info.queue].rose(now, port.queue_use[info.queue].used_cells(), info.ingress_port);
}

// To `cells`.
inline void depth_fell(WorkerContext& worker, PortContext& port, ClassId queue, std::uint32_t cells,
                       Time now) {
    auto burst = port.microburst[queue].fell(now, cells);
    if (!burst || !worker.microbursts) [[likely]]
        return;
    burst->port = port.id;
    burst->queue = queue;
    worker.microbursts->post(*burst);
}

}  // namespace sluice
