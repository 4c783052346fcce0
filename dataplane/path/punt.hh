// Frames between the packet path and control: frames not to be forwarded go to control, by class and rate,
// and frames from control go into their port's queues. No mbuf crosses.
#pragma once

#include "dataplane/path/worker_context.hh"

namespace sluice {

// Punts a packet that ingress does not forward, or drops it where the port does not punt its class.
void refuse(WorkerContext& worker, Packet* packet, DropReason reason);

// The priority group of frames from control: they pause nobody.
ClassId lossy_group(const PortPolicy& own, ClassId traffic_class);

// Takes the next frame from control for a port of this worker into its queue, or routes it where it had been
// kept; false when there is none, or no packet buffer for it yet. The frame is admitted as if it had come in
// by that port in a lossy class.
bool inject_next(WorkerContext& worker, Time now);
inline bool has_injection(const WorkerContext& worker) {
    return worker.injections && !worker.injections->empty();
}

}  // namespace sluice
