// The stages' calls to mirrors (lib/record/mirror.hh): at drops, at packets that leave after a long wait, and
// at PFC frames. Without a mirror an event costs a test of a line in hand; delays are tested once a burst.
// ERSPAN packets, ours or of another switch, are never mirrored, so mirrored frames cannot multiply.
#pragma once

#include <span>

#include "dataplane/path/worker_context.hh"
#include "lib/pfc/pfc_frame.hh"

namespace sluice {

// `routed`: its egress port and queue are known.
[[gnu::cold]] void mirror_drop(WorkerContext& worker, Packet* packet, DropReason reason, bool routed);

struct Picked;
// Mirrors those of the frames that have waited for long enough.
[[gnu::cold]] void mirror_delays(WorkerContext& worker, std::span<const Picked> picked, Time now);

// A PFC frame that the port sends, or has received, in `packet`.
[[gnu::cold]] void mirror_pause(WorkerContext& worker, PortId port, Packet* packet, const PauseMap& map,
                                bool sent);

}  // namespace sluice
