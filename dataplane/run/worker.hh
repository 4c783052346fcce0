// A worker's turn: four steps over its ports, each with `now`. The real-time runner repeats all four; the
// virtual-time runner calls them for all workers of a switch in an order that does not depend on their
// number.
#pragma once

#include <span>

#include "dataplane/path/watchdog.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

// Takes up the policy published last; the first thing in a turn.
void begin_turn(WorkerContext& worker);

// (a) Link events of one port: a port that went down leaves its groups and drops its queued packets.
void change_link(WorkerContext& worker, PortContext& port, bool up, Time now);
inline void link_events(WorkerContext& worker, PortContext& port, Time now) {
    const bool up = worker.policy->ports[port.id].admin_up && port.io->link_up();
    if (up != port.link_up) [[unlikely]]
        change_link(worker, port, up, now);
}

// Now and then under the real clock: updates counters of pauses to `now`, so that readers see running pauses.
void settle_pauses(WorkerContext& worker, Time now);

// A turn under the real clock; returns the number of packets received, handed over and sent.
unsigned turn(WorkerContext& worker, Time now);

// Where a full burst goes to one idle port, it leaves before other ports are polled, under both clocks: its
// buffers come back while they are in the cache. Runners call this behind a port that took `burst_size`
// frames.
//
// Returns that port, by the first, the middle and the last packet left of the burst; null: none.
inline PortContext* idle_way_out(const Shared& shared, std::span<Packet* const> burst) {
    const auto port_of = [&](std::size_t n) { return meta(burst[n]).egress_port; };
    if (burst.empty()) return nullptr;
    const PortId first = port_of(0);
    if (port_of(burst.size() / 2) != first || port_of(burst.size() - 1) != first) return nullptr;
    PortContext* const port = shared.ports[first].get();
    return port->backlog == 0 && port->out.empty() && !is_watched(*port) ? port : nullptr;
}

}  // namespace sluice
