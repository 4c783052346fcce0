// The stages' calls to a port's recorder (lib/record/port_recorder.hh), at events only: XOFF and XON of
// groups, pauses of the peer, drops, microbursts, storms, link changes. A port without a recorder records
// nothing.
//
// Counting every packet by group and queue would cost 3 %, so about one lossless packet of 16 is counted on
// the FillBoard; while decisions are recorded, every packet.
#pragma once

#include <span>

#include "dataplane/path/worker_context.hh"

namespace sluice {

constexpr unsigned log2_sample_interval = 4;

// Called after admission: packets count towards the next sample.
void sample_some(WorkerContext& worker, PortContext& port, std::span<Packet* const> packets);
inline void sample(WorkerContext& worker, PortContext& port, std::span<Packet* const> packets) {
    port.until_sample -= static_cast<std::int32_t>(packets.size());
    if (port.until_sample <= 0) [[unlikely]]
        sample_some(worker, port, packets);
}

void note_pause(WorkerContext& worker, PortContext& port, ClassId group, PoolView pool, XoffSignal signal);

// The priorities that the port obeys may have changed.
inline void note_obeyed(PortContext& port, Time now) {
    if (port.recorder && port.recorder->obeyed() != port.honor.unexpired())
        port.recorder->obeyed(port.honor.unexpired(), now, [&](ClassId n) {
            return Duration{static_cast<std::int64_t>(port.honor.counters(n).paused_ps.get())};
        });
}

// Pauses of the peer that have ended by now.
void end_pauses(PortContext& port, Time now);

// A queue's storm has begun or ended.
void note_storm(PortContext& port, ClassId queue, bool begins, Time now);

// A packet is discarded; `sent`: from the out-batch.
[[gnu::cold]] void note_drop(WorkerContext& worker, Packet* packet, DropReason reason, bool sent);

}  // namespace sluice
