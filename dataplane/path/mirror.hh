// Where the stages meet mirrors (lib/record/mirror.hh): at drops, at packets that leave after a long wait,
// and at PFC frames. Each is asked for first, of a line that is in hand, so without a mirror it costs a test
// at the event; delays are asked for once a burst. Packets of ERSPAN, ours or of another switch, are mirrored
// by none: what becomes of a mirror's frames makes no more of them, on whatever way they come back.
#pragma once

#include <span>

#include "dataplane/path/worker_context.hh"
#include "lib/pfc/pfc_frame.hh"

namespace sluice {

// `routed`: its egress port and queue are known.
[[gnu::cold]] void mirror_drop(WorkerContext& worker, Packet* packet, DropReason reason, bool routed);

struct Picked;
// Frames that leave their queues now, those that have waited for long enough.
[[gnu::cold]] void mirror_delays(WorkerContext& worker, std::span<const Picked> picked, Time now);

// A PFC frame of the port that the switch sends, or has taken in. `packet` has it.
[[gnu::cold]] void mirror_pause(WorkerContext& worker, PortId port, Packet* packet, const PauseMap& map,
                                bool sent);

}  // namespace sluice
