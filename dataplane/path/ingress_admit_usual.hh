// Private to ingress_admit.cc: bursts that need not be admitted packet by packet.
#pragma once

#include "dataplane/path/ingress_stages.hh"

namespace sluice {

// The only packet of its burst, where nobody else looks at the pool.
void admit_alone(WorkerContext& worker, PortContext& port, Batch& batch);

// All of a burst by the sums of its groups. False: nothing was done, and for some bursts it is not to be
// tried again, as it is in vain where groups are full.
bool admit_by_group(WorkerContext& worker, PortContext& port, const Batch& batch);

}  // namespace sluice
