// Several workers under the virtual clock: their packets in an order that does not depend on their number.
#pragma once

#include <vector>

#include "dataplane/base/packet.hh"

namespace sluice {

class Switch;

// Appends the packets that all workers have received and not yet queued, in ascending (ingress port,
// sequence) order, and takes them out of the mailboxes.
void take_handed_off(Switch& device, std::vector<Packet*>& packets);

}  // namespace sluice
