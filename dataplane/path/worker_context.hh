// The state of a worker, and what workers share. Plain data: the stages work on it. Control asks Switch
// (run/switch.hh).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/path/control_path.hh"
#include "dataplane/path/policy.hh"
#include "dataplane/path/port_context.hh"
#include "dataplane/path/stage_meter.hh"
#include "dataplane/path/turn_counters.hh"
#include "lib/buffer/fill_board.hh"
#include "lib/buffer/pool_use.hh"
#include "lib/buffer/release_board.hh"
#include "lib/frame/drop_reason.hh"
#include "lib/frame/ip_address.hh"
#include "lib/queue/packet_queue.hh"
#include "lib/record/decision_event.hh"
#include "lib/record/microburst.hh"
#include "lib/route/port_load.hh"
#include "lib/threads/counters.hh"
#include "lib/threads/mailbox.hh"
#include "lib/threads/snapshot.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/lazy_array.hh"

namespace sluice {

// Written by one worker, summed by control.
struct alignas(64) DropCounters {
    std::array<Counter, drop_reason_count> all;
    std::array<Counter, drop_reason_count> lossless;  // those of a lossless class among them
};

// What load balancing did with the packets of a group. Written by one worker, summed by control.
struct BalanceCounters {
    Counter flowlets;    // that began
    Counter moves;       // of flows by `adaptive`, and away from members that were lost
    Counter collisions;  // packets that came to a live flowlet of another hash
};

struct Shared {
    // `exclusive_pools`: one thread runs all workers.
    Shared(unsigned worker_count, unsigned port_count, std::unique_ptr<const Policy> first,
           bool exclusive_pools, std::size_t all_flowlets);

    // Only before the workers start.
    void set_exclusive(bool exclusive_pools);

    unsigned workers;
    bool exclusive;  // the pools are: see PoolUse
    Snapshot<Policy> policy;
    std::vector<std::unique_ptr<PortContext>> ports;
    // By port, set at start. Not in the context, whose first lines its owner writes for every packet.
    std::array<WorkerId, max_ports> owner{};
    // By port: written by its owner, read by every worker once a packet. relaxed there: a packet that sees
    // the old state is a packet that came a moment earlier. Workers that poll a queue of it: see may_poll.
    std::array<std::atomic<bool>, max_ports> link_up{};
    // The only thing that workers read-modify-write together, once a burst; see pool_use.hh.
    std::array<PoolUse, max_pools> ingress_use, egress_use;
    ReleaseBoard releases;
    // By port: written by its owner while something is balanced, read by every worker.
    std::vector<PortLoad> loads;
    LazyArray<Flowlet> flowlets;      // of all receive queues; see ReceiveState
    std::unique_ptr<FillBoard> fill;  // null: neither recorder nor decisions
    // Set by control when the switch stops: nothing more is received, queued packets leave. relaxed: a turn
    // later is soon enough.
    std::atomic<bool> draining{false};
    // From worker to worker, [from * workers + to]; the diagonal is unused.
    std::vector<std::unique_ptr<Mailbox<Packet*>>> mailboxes;

    Mailbox<Packet*>& mailbox(WorkerId from, WorkerId to) { return *mailboxes[from * workers + to]; }
};

// Packets that stay with the worker that received them: an array, emptied every turn, always warm.
struct LocalInbox {
    explicit LocalInbox(std::size_t most) : packets(most) {}
    LazyArray<Packet*> packets;
    std::size_t count = 0;
    std::size_t taken = 0;
};

// Packets that other workers have handed over: taken out of their mailboxes when a turn begins, queued behind
// the packets that the turn receives. Meanwhile their cache lines, which another core wrote, are prefetched,
// one with each packet that is parsed or routed.
class HandedOver {
  public:
    void reserve(std::size_t most) { packets_.resize(most + burst_size, hot()); }
    void begin() { count_ = metas_ = mbufs_ = 0; }
    void collect(Mailbox<Packet*>& mailbox, std::size_t most) {
        count_ += mailbox.collect(std::span(packets_).subspan(count_, most));
    }
    void end() { std::fill_n(packets_.begin() + static_cast<std::ptrdiff_t>(count_), burst_size, hot()); }
    std::span<Packet* const> all() const { return std::span(packets_).first(count_); }

    // The packets whose metas, or mbufs, to prefetch beside so many packets of a burst; behind the last one
    // follow packets that are always in the cache.
    Packet* const* next_metas(std::size_t packets) { return next(metas_, packets); }
    Packet* const* next_mbufs(std::size_t packets) { return next(mbufs_, packets); }

  private:
    // A call, so that a loop keeps the answer in one register.
    [[gnu::noinline]] Packet* const* next(std::size_t& fetched, std::size_t packets) {
        Packet* const* first = packets_.data() + fetched;
        fetched = std::min(fetched + packets, count_);
        return first;
    }
    Packet* hot() { return reinterpret_cast<Packet*>(this); }

    std::size_t count_ = 0, metas_ = 0, mbufs_ = 0;
    std::vector<Packet*> packets_;
};

struct alignas(64) WorkerContext {
    WorkerContext(Shared& shared_state, WorkerId worker, std::size_t packets, rte_mempool* pool);

    Shared& shared;
    WorkerId id;
    const Policy* policy = nullptr;  // valid during a turn
    Time now{};                      // of the turn
    std::vector<PortContext*> own_ports;
    std::vector<PortContext*> wire_ports;         // those of them that are ends of wires
    std::vector<PortContext*> multi_queue_ports;  // those of them with more than one receive queue
    std::vector<ReceiveQueue*> polled;            // beyond the first, of any port
    ChunkPool chunks;
    rte_mempool* packet_pool;  // for the frames we make
    LocalInbox local;
    HandedOver handed_over;
    std::vector<DropCounters> drops;  // by ingress port
    Counter lossless_drops;           // all of them: control looks here first
    Counter falls_behind;             // times that one of its own ports paused its peer for it: likewise
    Counter watchdog_changes;         // storms and cuts that began or ended: likewise
    Counter punts;                    // frames given to control
    Counter microbursts_ended;        // and posted, or lost
    // Grows with all of these.
    std::uint64_t news() const {
        return lossless_drops.get() + falls_behind.get() + watchdog_changes.get() + punts.get() +
               microbursts_ended.get();
    }
    LazyArray<Traffic> next_hop_use;                      // by next hop, of counted groups
    LazyArray<BalanceCounters> balance_use;               // by next-hop group, of balanced packets
    std::unique_ptr<EventRing<DecisionEvent>> decisions;  // null: never recorded
    std::unique_ptr<EventRing<Microburst>> microbursts;   // null: not reported
    Time last_turn{};                                     // the one before `now`, under the real clock
    std::unique_ptr<Reactions> reactions;                 // null: under the virtual clock
    TurnCounters turns;
    StageMeter meter;
    // Destinations of packets dropped for an unknown next hop's MAC address. null: control does not resolve.
    std::unique_ptr<EventRing<IpAddress>> unresolved;
    // From control: the ports of frames that wait in a ControlPath, in this order; null: none ever.
    std::unique_ptr<Mailbox<PortId>> injections;
};

// The pools of one direction during a burst, each opened when first needed: reserved cells need none, so
// workers without congestion write no shared line.
class PoolBursts {
  public:
    PoolBursts(std::array<PoolUse, max_pools>& use, const std::array<PoolLimits, max_pools>& limits,
               std::uint32_t bound_cells)
        : use_(use), limits_(limits), bound_cells_(bound_cells) {}

    ~PoolBursts() {
        for_each_class(open_, [&](ClassId pool) { burst_[pool].~PoolBurst(); });
    }
    PoolBursts(const PoolBursts&) = delete;
    PoolBursts& operator=(const PoolBursts&) = delete;

    [[gnu::always_inline]] PoolBurst& operator[](unsigned pool) {
        if ((open_ >> pool & 1U) == 0) open(pool);
        return burst_[pool];
    }

  private:
    [[gnu::noinline]] void open(unsigned pool) {
        new (&burst_[pool]) PoolBurst(use_[pool], limits_[pool], bound_cells_);
        open_ |= 1U << pool;
    }

    std::array<PoolUse, max_pools>& use_;
    const std::array<PoolLimits, max_pools>& limits_;
    std::uint32_t bound_cells_;
    unsigned open_ = 0;  // bit n: burst_[n] has been made
    union {
        std::array<PoolBurst, max_pools> burst_;  // most bursts touch one or two: the rest is never written
    };
};

}  // namespace sluice
