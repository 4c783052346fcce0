// The only way a packet is discarded, anywhere in the switch. The cells that ingress charged for it are
// released.
#pragma once

#include "dataplane/path/decisions.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

inline void drop(WorkerContext& worker, Packet* packet, DropReason reason) {
    const PacketMeta& info = meta(packet);
    auto& counters = worker.drops[info.ingress_port];
    counters.all[static_cast<std::size_t>(reason)].add(1);
    if (info.lossless) {
        counters.lossless[static_cast<std::size_t>(reason)].add(1);
        worker.lossless_drops.add(1);
    }
    if (info.observed != 0) [[unlikely]]
        observe_drop(worker, info, reason);
    if (info.cells != 0)
        worker.shared.releases.post(worker.id, info.ingress_port, info.priority_group, info.cells);
    rte_pktmbuf_free(packet);
}

}  // namespace sluice
