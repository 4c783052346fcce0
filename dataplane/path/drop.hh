// The only place where the switch discards a packet. It releases the cells that ingress charged. `sent`: the
// queue has released them already, and the driver has not taken the packet.
#pragma once

#include "dataplane/path/note_spells.hh"
#include "dataplane/path/post_decisions.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

inline void drop(WorkerContext& worker, Packet* packet, DropReason reason, bool sent = false) {
    PacketMeta& info = meta(packet);
    if (sent) info.cells = 0;
    note_drop(worker, packet, reason, sent);
    auto& counters = worker.drops[info.ingress_port];
    counters.all[static_cast<std::size_t>(reason)].add(1);
    if (info.treatment.lossless) {
        counters.lossless[static_cast<std::size_t>(reason)].add(1);
        worker.lossless_drops.add(1);
    }
    if (info.observed != 0) [[unlikely]]
        post_drop(worker, info, reason);
    if (info.cells != 0)
        worker.shared.releases.post(worker.id, info.ingress_port, info.priority_group, info.cells);
    rte_pktmbuf_free(packet);
}

}  // namespace sluice
