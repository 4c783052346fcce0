// Frames between the packet path and control: those that are not for forwarding go to control, by class and
// rate, and frames that control sends come into their port's queues. No mbuf crosses.
#pragma once

#include "dataplane/path/worker_context.hh"

namespace sluice {

// Ingress does not forward the packet: control gets it where the port punts its class, or it is dropped.
void refuse(WorkerContext& worker, Packet* packet, DropReason reason);

// Where frames of control's have their place in the buffer: they pause nobody.
ClassId lossy_group(const PortPolicy& own, ClassId traffic_class);

// Takes the next frame that control has for a port of this worker into its queue, or from routing on where it
// had been kept; false when there is none, or no packet buffer for it yet. The frame is admitted as if it had
// come in by that port in a lossy class.
bool inject_next(WorkerContext& worker, Time now);
// The port of that frame; only where there is one.
inline bool has_injection(const WorkerContext& worker) {
    return worker.injections && !worker.injections->empty();
}

}  // namespace sluice
