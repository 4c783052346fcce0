// Private to enqueue.cc.
#pragma once

#include <span>

#include "dataplane/path/worker_context.hh"

namespace sluice {

// Puts packets into their queues, or aside where they pass, up to the first one for which more is to be asked
// than its queue's own cells; returns how many.
std::size_t enqueue_usual(WorkerContext& worker, std::span<Packet* const> packets, Time now);

}  // namespace sluice
