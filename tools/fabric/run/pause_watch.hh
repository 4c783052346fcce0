// Who paused whom, and why: every pause of a switch with the egress queue that held most of the group's cells
// when it began, and, where that queue was itself held, the pause that held it (mechanisms of a PFC storm).
// A chain of pauses that comes back to itself is a deadlock, or about to be one: it is named when it closes.
//
// Looks at the switches between two instants and changes nothing. What it costs is by pause, not by packet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/run/switch.hh"
#include "lib/units.hh"
#include "tools/fabric/plan/topology.hh"

namespace sluice::fabric {

struct FabricPlan;

// A priority group in XOFF: `device` (index of the switch) has paused what is behind its port.
struct PauseRecord {
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t device;
    PortId port;
    ClassId priority;
    Time from;
    std::optional<Time> until{};  // nothing: it goes on
    PortId egress_port = 0;       // of the queue that held most of its cells
    ClassId egress_queue = 0;
    std::uint32_t cells = 0;        // of the group, when it began
    std::uint32_t queue_cells = 0;  // of these, in that queue
    std::uint32_t parent = none;    // the pause that held that queue
    bool slow_host = false;         // that queue was held by its host
};

// A wait-for cycle among pauses that are open.
struct PauseCycle {
    Time at;                            // when it closed
    std::optional<Time> dissolved{};    // when the first of its pauses ended
    std::vector<std::uint32_t> pauses;  // each waits for the next, the last for the first
    std::uint32_t began_with;           // the earliest of them
    std::vector<std::string> flows;     // "h1 > h5" of packets in its queues, sorted; a few
};

class PauseWatch {
  public:
    static constexpr std::size_t most_records = 1'000'000;
    static constexpr std::size_t most_cycles = 1'000;

    PauseWatch(const FabricPlan& plan, std::vector<Switch*> devices);

    // After each instant: `ran` are the switches that had something to do.
    void look(std::span<const std::uint32_t> ran, Time now);

    const std::vector<PauseRecord>& pauses() const { return pauses_; }
    std::uint64_t left_out() const { return left_out_; }
    const std::vector<PauseCycle>& cycles() const { return cycles_; }
    std::function<void(const PauseCycle&)> on_cycle = [](const PauseCycle&) {};

    // Where a pause began: the last of its parents.
    std::uint32_t root(std::uint32_t pause) const;

    // The other end of a switch's port.
    struct Peer {
        NodeId node;
        std::uint32_t device;  // index of the switch; none: a host
        PortId port = 0;       // of that switch
    };
    const Peer& peer(std::uint32_t device, PortId port) const { return ports_[device][port].peer; }

  private:
    struct PortState {
        Peer peer;
        std::uint8_t paused = 0;                    // groups in XOFF, as of the last look
        std::uint8_t held = 0;                      // queues that its peer holds, likewise
        std::array<std::uint32_t, classes> open{};  // of `paused`
    };
    struct Filled {
        PortId port = 0;
        ClassId queue = 0;
        std::uint32_t cells = 0, all = 0;
    };

    std::uint8_t held_queues(std::uint32_t device, PortId port, Time now) const;
    Filled fullest_queue(std::uint32_t device, PortId port, ClassId priority) const;
    void begin(std::uint32_t device, PortId port, ClassId priority, Time now);
    void end(std::uint32_t device, PortId port, ClassId priority, Time now);
    // The open pause that holds a queue; none: no switch does.
    std::uint32_t holder(std::uint32_t device, PortId port, ClassId queue) const;
    void find_cycle(std::uint32_t from, Time now);
    std::vector<std::string> flows_of(const std::vector<std::uint32_t>& pauses) const;

    const FabricPlan& plan_;
    std::vector<Switch*> devices_;
    std::vector<std::vector<PortState>> ports_;  // by switch and port
    std::vector<PauseRecord> pauses_;
    std::uint64_t left_out_ = 0;
    std::vector<PauseCycle> cycles_;
    std::map<IpAddress, std::string> hosts_;  // by address
};

}  // namespace sluice::fabric
