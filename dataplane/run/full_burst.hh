// A full burst for one port where nothing waits leaves before any other port is looked at, under both clocks:
// its buffers come back while they are in the cache. The runner asks it behind a port that took `burst_size`
// frames.
#pragma once

#include <span>

#include "dataplane/path/watchdog.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

// That port, as the first, the middle and the last of the packets that are left of the burst say; null: there
// is none.
inline PortContext* idle_way_out(const Shared& shared, std::span<Packet* const> burst) {
    const auto port_of = [&](std::size_t n) { return meta(burst[n]).egress_port; };
    if (burst.empty()) return nullptr;
    const PortId first = port_of(0);
    if (port_of(burst.size() / 2) != first || port_of(burst.size() - 1) != first) return nullptr;
    PortContext* const port = shared.ports[first].get();
    return port->backlog == 0 && port->out.empty() && !is_watched(*port) ? port : nullptr;
}

}  // namespace sluice
