// The depth of an egress queue has fallen: its meter is told, and an excursion that ended goes to control.
// Called by the stages of egress.cc; that the depth rose, and a mark or drop at the queue, is told to the
// meter itself.
#pragma once

#include "dataplane/path/worker_context.hh"

namespace sluice {

// To `cells`.
inline void depth_fell(WorkerContext& worker, PortContext& port, ClassId queue, std::uint32_t cells,
                       Time now) {
    auto burst = port.queue[queue].microburst.fell(now, cells);
    if (!burst) [[likely]]
        return;
    burst->port = port.id;
    burst->queue = queue;
    if (port.recorder) port.recorder->microburst(*burst);
    if (!worker.microbursts) return;
    worker.microbursts->post(*burst);
    worker.microbursts_ended.add(1);
}

}  // namespace sluice
