// A switch as a value: ports, workers, the mailboxes between them, the published policy. Several can live in
// one process. Runs nothing by itself; a runner does.
//
// It is also control's view of the workers: policies go in, figures and events come out. No file of control
// needs path/worker_context.hh or path/port_context.hh.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/path/control_path.hh"
#include "dataplane/path/policy.hh"
#include "dataplane/path/turn_counters.hh"
#include "dataplane/ports/port.hh"
#include "dataplane/run/switch_resources.hh"
#include "lib/clock/link.hh"
#include "lib/frame/ip_address.hh"
#include "lib/record/decision_event.hh"
#include "lib/record/microburst.hh"
#include "lib/values/ids.hh"
#include "lib/values/port_set.hh"

namespace sluice {

class EgressQueueUse;
class MicroburstMeter;
class PacketQueue;
class PfcGenerator;
class PfcHonor;
class PortRecorder;
class PriorityGroup;
class StageMeter;
class WireDirection;
struct ControlPath;
struct InjectHead;
struct MacAddress;
struct PoolUse;
struct PortContext;
struct PortCounters;
struct PortTrace;
struct PortWatchdog;
struct ReceiveCounters;
struct ReceiveQueue;
struct Shared;
struct WorkerContext;

// Control's view of a port: the parts of its context by name, so that their readers need not be compiled
// again when the context changes. A handle, valid as long as its switch.
//
// While workers run, counters, watermarks and the frames from and to control may be read at any time. Other
// figures are then of an arbitrary moment; under the virtual clock they are exact.
class PortView {
  public:
    explicit PortView(PortContext& port) : port_(&port) {}

    PortId id() const;
    Port& io() const;
    const PortCounters& counters() const;
    const EgressQueueUse& use(ClassId queue) const;
    const PacketQueue& packets(ClassId queue) const;
    const MicroburstMeter& microburst(ClassId queue) const;
    const PriorityGroup& group(ClassId n) const;
    const PfcHonor& honor() const;
    const PfcGenerator& generator() const;
    const PortWatchdog& watchdog() const;
    std::uint8_t backlog() const;          // bit n: queue n holds packets
    std::uint8_t groups_in_use() const;    // bit n: group n holds cells or is in XOFF
    const PortTrace* trace() const;        // null: not traced
    const PortRecorder* recorder() const;  // null: off
    const WireDirection* wire() const;     // null: the port routes
    ControlPath* control() const;          // null: control takes and sends no frames

    // Receive queues, the first included.
    unsigned receive_queues() const;
    const ReceiveCounters& received_by(unsigned queue) const;
    const ReceiveQueue& more_receive_queue(unsigned queue) const;  // from 1
    // Sums over them: figure(const ReceiveCounters&).
    template <class Figure>
    std::uint64_t received(Figure figure) const {
        std::uint64_t sum = 0;
        for (unsigned queue = 0; queue < receive_queues(); ++queue) sum += figure(received_by(queue));
        return sum;
    }
    // Destination of a frame that was dropped as not_for_us; zeros: none was.
    MacAddress foreign_mac() const;

  private:
    PortContext* port_;
};

struct PortSpec {
    std::unique_ptr<Port> io;
    LinkTransmitter link;
    WorkerId owner = 0;
    unsigned trace_slots = 0;  // per queue; 0: no trace
    Duration trace_width{};
    std::vector<WorkerId> pollers{};  // of the receive queues beyond the first, which the owner polls
    bool on_wire = false;             // its policy has a wire, now and later
};

// BalanceCounters of a group, summed over workers.
struct BalanceCounts {
    std::uint64_t flowlets = 0, moves = 0, collisions = 0;
};

// Packets that a worker received from the queues that it polls, and sent by its own ports.
struct WorkerTraffic {
    std::uint64_t received = 0, sent = 0;
};

// Every frame is in exactly one place: rx + injected + generated = tx + dropped + punted + consumed + queued.
struct Ledger {
    std::uint64_t rx = 0, injected = 0, generated = 0;
    std::uint64_t tx = 0, dropped = 0, punted = 0, consumed = 0, queued = 0;
    bool balanced() const { return rx + injected + generated == tx + dropped + punted + consumed + queued; }
};

// What has changed in the last instant of the virtual clock, for those who look on after it: ports that may
// be among these.
struct InstantChanges {
    Time at{};
    PortSet pauses;  // a group's XOFF began or ended, or a pause by the peer did
    PortSet cells;   // groups took cells or gave them back
};

class Switch {
  public:
    using Resources = SwitchResources;
    Switch(unsigned workers, std::unique_ptr<const Policy> policy, std::vector<PortSpec> ports,
           const Resources& resources);
    ~Switch();
    Switch(const Switch&) = delete;
    Switch& operator=(const Switch&) = delete;

    // Control. The generation that `acknowledged` is asked for.
    std::uint64_t publish(std::unique_ptr<const Policy> policy);
    bool acknowledged(std::uint64_t generation);
    // Every worker takes up what is published. Only between turns, on the thread that runs them.
    void take_up();
    std::uint64_t generation() const;
    const Policy& policy() const;

    std::size_t port_count() const { return io_.size(); }
    PortView view(PortId id) const;
    // The state of the port itself, for runners and tests.
    PortContext& port(PortId id);
    const PortContext& port(PortId id) const;
    // Down once no worker touches the port's device any more. seq_cst, here and where these are written: a
    // poller sets `polled` and then reads the link; the owner writes the link; here it is read first. So
    // either the poller sees that the link is down, or we see that it polls.
    bool link_up(PortId id) const;
    unsigned worker_count() const { return static_cast<unsigned>(workers_.size()); }
    WorkerContext& worker(WorkerId id) { return *workers_[id]; }
    WorkerContext& owner(const PortContext& port);
    WorkerId owner_of(PortId id) const;
    Shared& shared() { return *shared_; }
    const Shared& shared() const { return *shared_; }

    // Control, between turns under the virtual clock: puts `wrap(port)` where the port was.
    template <class Wrap>
    void wrap_port(PortId id, Wrap wrap) {
        put_port(id, wrap(std::move(io_[id])));
    }
    // The ports that the virtual clock has to visit.
    AwakePorts& awake() { return awake_; }
    InstantChanges& changes() { return changes_; }
    const InstantChanges& changes() const { return changes_; }

    // Sums over workers.
    std::uint64_t dropped() const;
    std::uint64_t dropped(PortId ingress_port, DropReason reason) const;
    std::uint64_t dropped_lossless(PortId ingress_port, DropReason reason) const;
    std::uint64_t next_hop_packets(std::uint32_t next_hop) const;
    std::uint64_t next_hop_bytes(std::uint32_t next_hop) const;
    const PortLoad& load(PortId id) const;  // while something is balanced by it
    LinkQuality quality(PortId id, ClassId queue, Time now) const;
    // The next hop by the hash alone, as links are now; no_member: none is up.
    std::uint32_t hashed_hop(const NextHopGroup& group, std::uint32_t hash) const;
    BalanceCounts balance_counts(std::uint32_t next_hop_group) const;
    // Control looks at these first: see WorkerContext.
    std::uint64_t lossless_drops() const;
    std::uint64_t falls_behind() const;
    std::uint64_t watchdog_changes() const;
    std::uint64_t punts() const;
    // Grows with all of these, and with ended microbursts: while it stays the same, workers have nothing for
    // control but decisions and mirrored frames.
    std::uint64_t news() const;

    const TurnCounters& turns(WorkerId id) const;
    const Reactions* reactions(WorkerId id) const;  // null: under the virtual clock
    StageMeter& meter(WorkerId id);
    std::vector<PortId> own_ports(WorkerId id) const;
    WorkerTraffic traffic(WorkerId id) const;
    PoolUse& ingress_use(unsigned pool);
    const PoolUse& ingress_use(unsigned pool) const;
    PoolUse& egress_use(unsigned pool);

    // From a worker to control. Null: the switch was made without.
    EventRing<DecisionEvent>* decisions(WorkerId id) const;
    EventRing<Microburst>* microbursts(WorkerId id) const;
    EventRing<IpAddress>* unresolved(WorkerId id) const;
    // Control has put a frame into the port's ControlPath: its owner learns of it.
    void announce_injected(PortId id);
    // Puts a frame there, and announces it; false when there is no room.
    bool inject(PortId id, std::span<const std::uint8_t> frame, const InjectHead& head);

    // The ledger from counters, at any time; `queued` is the difference.
    Ledger counted() const;
    // Exact only while no worker runs.
    Ledger ledger() const;
    // After the last turn: frees queued packets, without counting, so that the pool is whole again.
    void empty();

  private:
    void put_port(PortId id, std::unique_ptr<Port> io);
    std::uint64_t in_hand_off() const;

    std::unique_ptr<Shared> shared_;
    AwakePorts awake_;  // ports point to it
    InstantChanges changes_;
    std::vector<std::unique_ptr<Port>> io_;
    std::vector<std::unique_ptr<WorkerContext>> workers_;
};

}  // namespace sluice
