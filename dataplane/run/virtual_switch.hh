// A switch under the virtual clock: what happens in an instant of it, and when the next one is.
//
// At one instant, for all workers: (a) in port order, (b) in port order, (c) in ascending (ingress port,
// sequence) order, (d) in port order, until quiet. So the outcome does not depend on the number of workers.
//
// Only those are asked who have something to do. A port sleeps until its next frame arrives or leaves, a
// packet enters its queues, or control changes something. Its groups are judged when they have changed, or
// when a pool has left their bounds (lib/buffer/pool_bounds.hh). In a second round of an instant those ports
// are served that something has moved in the round before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/ports/port.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/traced_groups.hh"
#include "lib/buffer/pool_bounds.hh"
#include "lib/clock/calendar.hh"
#include "lib/values/port_set.hh"

struct rte_mbuf;

namespace sluice {

class VirtualSwitch {
  public:
    // `of` outlives it. With a `turn` above 0 an instant stands for the turn before it.
    VirtualSwitch(Switch& of, Duration turn, Time now);

    // The instant `now`, or the same once more.
    void run(Time now);
    // When it next acts, by its own time: not on the grid, and perhaps before now. Nothing: never by itself.
    // Ports that can sleep go to sleep.
    std::optional<Time> next(Time now);
    // True when a frame of data can move without another event first.
    bool can_progress(Time now) const;
    // Before somebody reads the ports' traces.
    void settle_traces() { traced_.settle(); }

    // What happened to data since it was last cleared.
    struct Progress {
        std::optional<Time> moved;      // the last instant at which a frame of data moved; nothing: none did
        std::uint64_t idle_frames = 0;  // made since it last moved data: refreshed pauses
    };
    Progress progress;
    AwakePorts& awake() { return awake_; }
    std::uint64_t news() const { return device_.news(); }

  private:
    // Frames that left, and whether data were among them.
    struct Sent {
        unsigned frames;
        bool data;
    };

    void wake_if_changed(Time now);
    void wake_all(std::uint64_t policy, Time now);
    void wake_expired(Time now);
    void set_expiry(PortId id, std::optional<Time> at, Time now);
    void begin(Time now);
    void note_pauses(const PortContext& port);
    void bound(WorkerContext& worker, const PortContext& port);
    void about_to_change(PortId id);
    void take_releases(Time now);
    void compare_pools();
    void judge(PortId first, PortId last, Time now);
    unsigned take_in(Time now);
    unsigned take_from(WorkerContext& worker, PortContext& port, Time now);
    bool has_injections() const;
    unsigned inject(Time now);
    std::span<rte_mbuf* const> handed_off();
    void merge(Time now);
    unsigned watch_all(Time now);
    Sent send(PortId id, Time now);
    unsigned send_full_burst(PortId from, Time now);
    Sent send_all(bool balances, Time now);
    bool all_are_judged() const;

    Switch& device_;
    WorkerContext* only_worker_;  // null: there are several
    Duration turn_;
    AwakePorts& awake_;
    InstantChanges& changes_;
    std::vector<OwnedPort> ports_;  // in their order
    PortSet everyone_, wires_;
    TracedGroups traced_;
    PortAlarms alarms_;  // of ports that sleep
    // Likewise: ends of pauses. They make no instant: who sleeps in one wakes at the first that there is.
    PortAlarms expiries_;
    PortSet expiring_;                   // those that have one
    Time first_expiry_;                  // not after any of them
    PortSet to_judge_;                   // their groups have changed, or a pool has left their bounds
    PortSet behind_;                     // their workers fall behind: judged in each round
    PoolBounds bounds_;                  // of ports that have been judged
    std::vector<std::uint8_t> in_xoff_;  // by port: its groups in XOFF then
    PortSet served_;                     // in this round
    PortSet moved_;                      // likewise: to be served in the next
    Time all_awake_;                     // when all were, the last time
    std::uint64_t awake_under_;          // the policy then, by its generation
    std::vector<rte_mbuf*> handed_off_;  // of several workers
};

}  // namespace sluice
