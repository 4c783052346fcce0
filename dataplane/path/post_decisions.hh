// Decision records: the stages post events of pauses, and of packets that the filter chose, to control.
//
// `is_recording` is called once a burst, the rest for packets whose `observed` is not 0, so a switch that
// records nothing tests a bit of a line in hand. Nothing here changes a decision. While recording is on, the
// cells of all packets are counted on the FillBoard. A chosen packet is recorded to its end, also after
// recording was switched off.
#pragma once

#include "dataplane/path/worker_context.hh"

namespace sluice {

inline bool is_recording(const WorkerContext& worker) {
    return worker.policy->decisions.enabled && worker.decisions != nullptr;
}

// Ingress, after classification: chooses the packet, or not.
void post_arrival(WorkerContext& worker, Packet* packet, const Parsed& parsed);
// After routing, which found `reason` and, unless there is none, `next_hop`; forgets a packet for an egress
// port that the filter leaves out.
struct RouteTaken {
    std::uint32_t group;
    std::uint32_t next_hop;
    BalanceChoice choice;  // beyond the hash
};
void record_route(WorkerContext& worker, Packet* packet, const Parsed& parsed, const RouteTaken& taken,
                  DropReason reason);

// Around ingress admission: made before it, posted after it.
class AdmissionPost {
  public:
    AdmissionPost(const PriorityGroup& group, const GroupLimits& limits, PoolBursts& pools,
                  std::uint32_t cells);
    // `part`: the answer of admission.
    void post(WorkerContext& worker, const PortContext& port, PacketMeta& info, Admission part) const;

  private:
    Admitted numbers_;
    std::int64_t free_cells_;
};

// Egress, before the queue is asked.
void record_enqueue(WorkerContext& worker, const PortContext& port, const PacketMeta& info,
                    PoolBursts& pools);
// WRED or ECN has drawn for the packet, with any outcome: a mark, a drop or nothing.
void post_mark(WorkerContext& worker, const PacketMeta& info, const Drawn& drawn);
// Before the packet's cells are posted as released.
void post_drop(WorkerContext& worker, const PacketMeta& info, const Dropped& dropped);
// Control has been given the packet.
void post_punt(WorkerContext& worker, const PacketMeta& info, PuntClass punt);
// The use of a group at XOFF or XON, and the queues that hold its counted cells.
GroupPaused pause_of(const WorkerContext& worker, const PortContext& port, ClassId number, PoolView pool,
                     XoffSignal signal);
void record_pause(WorkerContext& worker, const PortContext& port, ClassId number, PoolView pool,
                  XoffSignal signal);

// Around a transmit, after which the driver owns the frames that it takes.
class DeparturePost {
  public:
    DeparturePost(const WorkerContext& worker, const OutBatch& out) {
        if (worker.decisions) [[unlikely]]
            remember(out);
    }
    // `sent` frames were taken, from the front.
    void post(WorkerContext& worker, unsigned sent) const {
        if (count_ != 0) [[unlikely]]
            post_sent(worker, sent);
    }

  private:
    struct Leaving {
        DecisionKey key;
        Time at;
        std::uint16_t frame_bytes;
        std::uint16_t place;  // in the batch
    };
    void remember(const OutBatch& out);
    void post_sent(WorkerContext& worker, unsigned sent) const;

    unsigned count_ = 0;
    union {
        std::array<Leaving, burst_size> leaving_;  // the first count_; the rest is never written
    };
};

}  // namespace sluice
