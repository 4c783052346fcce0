// The only place where the switch discards a packet. It releases the cells that ingress charged. `sent`: the
// queue has released them already, and the driver has not taken the packet.
#pragma once

#include "dataplane/path/note_spells.hh"
#include "dataplane/path/post_decisions.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

// Mirrors, records and counts a packet that goes no further as it is.
inline void count_drop(WorkerContext& worker, Packet* packet, DropReason reason, bool sent = false) {
    const PacketMeta& info = meta(packet);
    note_drop(worker, packet, reason, sent);
    auto& counters = worker.drops[info.ingress_port];
    counters.all[static_cast<std::size_t>(reason)].add(1);
    if (info.treatment.lossless) {
        counters.lossless[static_cast<std::size_t>(reason)].add(1);
        worker.lossless_drops.add(1);
    }
}

// Frees a packet that was counted.
inline void discard(WorkerContext& worker, Packet* packet, DropReason reason) {
    const PacketMeta& info = meta(packet);
    if (info.observed != 0) [[unlikely]]
        post_drop(worker, info, {reason});
    if (info.cells != 0)
        worker.shared.releases.post(worker.id, info.ingress_port, info.priority_group, info.cells);
    rte_pktmbuf_free(packet);
}

inline void drop(WorkerContext& worker, Packet* packet, DropReason reason, bool sent = false) {
    if (sent) meta(packet).cells = 0;
    count_drop(worker, packet, reason, sent);
    discard(worker, packet, reason);
}

}  // namespace sluice
