// The shared buffer. Two views of one memory, each packet counted once in each:
//
//   ingress  PriorityGroup   reserved, shared up to T, headroom   decides on refusals and pauses
//   egress   EgressQueueUse  reserved, shared up to T             limits lossy queues only
//
// Limits come from the published snapshot (buffer_limits.hh). Each count of cells in use has one owner, but
// for the pools (pool_use.hh). Releases travel from egress worker to owner over the ReleaseBoard. Units are
// cells (cells.hh).
#pragma once

#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/cells.hh"
#include "lib/buffer/egress_queue_use.hh"
#include "lib/buffer/pool_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/buffer/release_board.hh"
