// A switch as a value: ports, workers, the mailboxes between them, the published policy. Several can live in
// one process. Runs nothing by itself; a runner does.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dataplane/path/worker_context.hh"

namespace sluice {

struct PortSpec {
    std::unique_ptr<Port> io;
    LinkTransmitter link;
    WorkerId owner = 0;
    unsigned trace_slots = 0;  // per queue; 0: no trace
    Duration trace_width{};
    std::vector<WorkerId> pollers{};  // of the receive queues beyond the first, which the owner polls
};

// Every frame is in exactly one place: rx + injected + generated = tx + dropped + punted + consumed + queued.
struct Ledger {
    std::uint64_t rx = 0, injected = 0, generated = 0;
    std::uint64_t tx = 0, dropped = 0, punted = 0, consumed = 0, queued = 0;
    bool balanced() const { return rx + injected + generated == tx + dropped + punted + consumed + queued; }
};

class Switch {
  public:
    // `packets`: mbufs of `pool`, which bounds what queues and mailboxes can ever hold. `one_thread`: all
    // workers are run by one, as under the virtual clock.
    struct Resources {
        rte_mempool* pool;
        std::size_t packets;
        bool one_thread;
        // Events that each worker can have under way to control; 0: none of the kind.
        std::size_t decision_ring = 0;
        std::size_t microburst_ring = 0;
        std::size_t unresolved_ring = 0;
        // Frames of each port that can be under way to control, and from it.
        std::uint16_t control_slots = 0;
    };
    Switch(unsigned workers, std::unique_ptr<const Policy> policy, std::vector<PortSpec> ports,
           const Resources& resources);
    // Bytes that such a switch takes beside its pool and its ports' devices, in parts.
    struct Memory {
        std::uint64_t workers = 0, mailboxes = 0, ports = 0, decisions = 0;
    };
    static Memory memory(unsigned workers, unsigned ports, const Resources& resources);

    // Control. The generation that `acknowledged` is asked for.
    std::uint64_t publish(std::unique_ptr<const Policy> policy) {
        awake_.wake();
        return shared_.policy.publish(std::move(policy));
    }
    bool acknowledged(std::uint64_t generation) { return shared_.policy.acknowledged(generation); }
    std::uint64_t generation() const { return shared_.policy.generation(); }
    const Policy& policy() const { return shared_.policy.latest(); }

    std::size_t port_count() const { return shared_.ports.size(); }
    PortContext& port(PortId id) { return *shared_.ports[id]; }
    const PortContext& port(PortId id) const { return *shared_.ports[id]; }
    // As all have seen it who receive from the port: once it is down none of them asks anything of the
    // device. seq_cst, here and where these are written: a poller says that it polls and then looks at the
    // link; the owner writes the link; here it is read first. In the one order of all of this either the
    // poller sees that the link is down, or we see that it polls.
    bool link_up(PortId id) const {
        if (shared_.link_up[id].load(std::memory_order_seq_cst)) return true;
        const auto& queues = shared_.ports[id]->more_receive_queues;
        return std::any_of(queues.begin(), queues.end(),
                           [](const auto& queue) { return queue->polled.load(std::memory_order_seq_cst); });
    }
    unsigned worker_count() const { return shared_.workers; }
    WorkerContext& worker(WorkerId id) { return *workers_[id]; }
    WorkerContext& owner(const PortContext& port) { return *workers_[shared_.owner[port.id]]; }
    Shared& shared() { return shared_; }
    const Shared& shared() const { return shared_; }

    // Control, between turns under the virtual clock: puts `wrap(port)` where the port was.
    template <class Wrap>
    void wrap_port(PortId id, Wrap wrap) {
        io_[id] = wrap(std::move(io_[id]));
        shared_.ports[id]->io = io_[id].get();
        io_[id]->wake_in(awake_, id);
        awake_.wake(id);
    }
    // What the virtual clock is to look at.
    AwakePorts& awake() { return awake_; }

    // Sums over workers.
    std::uint64_t dropped(PortId ingress_port, DropReason reason) const;
    std::uint64_t dropped_lossless(PortId ingress_port, DropReason reason) const;
    std::uint64_t next_hop_packets(std::uint32_t next_hop) const;
    std::uint64_t next_hop_bytes(std::uint32_t next_hop) const;

    // What counters tell; `queued` is what they leave open, which is right up to frames between two counters.
    // Any time.
    Ledger counted() const;
    // Exact only while no worker runs.
    Ledger ledger() const;
    // After the last turn: frees what is still queued, without counting, so that the pool is whole again.
    void empty();

  private:
    std::uint64_t in_hand_off() const;

    Shared shared_;
    AwakePorts awake_;  // ports point to it
    std::vector<std::unique_ptr<Port>> io_;
    std::vector<std::unique_ptr<WorkerContext>> workers_;
};

}  // namespace sluice
