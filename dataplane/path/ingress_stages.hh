// The steps of the ingress half, functions over a batch, private to its files: ingress.cc calls them in their
// order, ingress_queues.cc in two halves.
#pragma once

#include <array>
#include <span>

#include "dataplane/base/packet.hh"
#include "dataplane/path/drop.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/path/ingress.hh"
#include "dataplane/path/worker_context.hh"

namespace sluice {

// Left uninitialized beyond the first `count` of each: clearing a kilobyte costs as much as a packet.
struct Batch {
    Batch() {}  // NOLINT(modernize-use-equals-default): the union has no default
    unsigned count = 0;
    std::array<Packet*, burst_size> packet;
    union {
        std::array<Parsed, burst_size> parsed;
    };
    // From the lookup on.
    std::array<std::uint32_t, burst_size> next_hop_group;
    std::array<std::uint32_t, burst_size> flow_hash;  // 0 where the group has one next hop, or none
    std::array<std::uint32_t, burst_size> next_hop;   // by the hash alone; undefined where the group drops
    std::array<std::uint32_t, burst_size> cells;
    std::uint32_t all_cells;        // of all that was classified
    ReceiveQueue* queue = nullptr;  // received for the port's owner; null: by it
};

// Where one packet comes alone, as on exact instants, a step is the same template with `frames` as a
// constant: so the compiler leaves out its loop and what many packets share. Else `frames` is
// std::dynamic_extent.
template <std::size_t frames>
unsigned count_of(const Batch& batch) {
    return frames == std::dynamic_extent ? batch.count : static_cast<unsigned>(frames);
}

// Packets of a batch that are to be dropped, and why.
struct Refused {
    void add(unsigned i, DropReason reason) {
        which |= 1U << i;
        why[i] = reason;
    }
    std::uint32_t which = 0;  // bit i: packet i
    std::array<DropReason, burst_size> why;
};
static_assert(burst_size <= 32);

// Takes them out of the batch: dropped, to control, or to the port's owner.
void drop_refused(WorkerContext& worker, Batch& batch, const Refused& refused);

// Keeps the packets for which `judge` finds no reason to drop.
template <std::size_t frames = std::dynamic_extent, class Judge>
[[gnu::always_inline]] inline void filter(WorkerContext& worker, Batch& batch, Judge judge) {
    Refused refused;
    for (unsigned i = 0, count = count_of<frames>(batch); i < count; ++i) {
        const DropReason reason = judge(i, batch.packet[i]);
        if (reason == DropReason::none) [[likely]]
            continue;
        refused.add(i, reason);
    }
    if (refused.which != 0) [[unlikely]]
        drop_refused(worker, batch, refused);
}

// Sets a packet's meta on arrival. `drop`: one that is refused as malformed belongs to no class.
inline void describe(PortId port, std::uint64_t sequence, Packet* packet, const ClassWay& way,
                     DropReason drop) {
    PacketMeta& info = meta(packet);
    info.sequence = sequence;
    info.arrive(static_cast<std::uint16_t>(packet->pkt_len), port, way.priority_group);
    info.treatment = way.treatment;
    if (drop != DropReason::none) info.treatment.lossless = false;
}

// Counts the sum of ClassWay::kinds over at most 255 packets.
inline void count_kinds(ReceiveCounters& counters, std::uint32_t kinds) {
    counters.roce.add(kinds & 0xFF);
    counters.cnp.add(kinds >> 8 & 0xFF);
    counters.ce_arrived.add(kinds >> 16 & 0xFF);
    counters.lossy_roce.add(kinds >> 24);
}

// Headers, class and priority group. MAC control is consumed; the batch keeps the IP packets to route.
// (ingress_parse_usual.cc)
void parse_stage(WorkerContext& worker, PortId id, ReceiveCounters& counters, ReceiveState& state,
                 std::span<Packet* const> burst, Batch& batch);
// The same for a packet that was counted when it came: the reason to drop it, or `none`. (ingress_parse.cc)
DropReason parse_again(WorkerContext& worker, PortContext& port, Packet* packet, Batch& batch);

// Longest-prefix match, and the member of the group that the flow's hash picks. (ingress_route.cc)
void lookup_stage(const Policy& policy, Batch& batch);
// Next hop, its port and queue, and the new headers. `state`: of the queue that the batch came by. After this
// the headers are rewritten; a refused packet can only be dropped.
void route_stage(WorkerContext& worker, ReceiveState& state, Batch& batch);

// Ingress admission: gives the packet a place in the buffer. (ingress_admit.cc)
void admit_stage(WorkerContext& worker, PortContext& port, Batch& batch);
[[gnu::cold]] DropReason no_place(PortContext& port, ClassId group, Admission admission);

// A group that is not in use has no cells: it is neither judged nor asked for released cells.
[[maybe_unused]] inline bool others_are_empty(const PortContext& port) {
    for (unsigned n = 0; n < classes; ++n)
        if ((port.groups_in_use >> n & 1U) == 0 && port.group[n].used_cells() != 0) return false;
    return true;
}

// (ingress_judge.cc)
// A worker that falls behind must pause its peers, not drop.
void pause_peer(WorkerContext& worker, PortContext& port, bool behind);
// True when a worker that polls a queue of the port falls behind.
bool is_any_poller_behind(const PortContext& port);
inline bool is_behind_elsewhere(const PortContext& port) {
    return !port.more_receive_queues.empty() && is_any_poller_behind(port);
}

// All of these for a burst of a port that is an end of a wire. (ingress_wire.cc)
void take_through_wire(WorkerContext& worker, PortContext& port, std::span<Packet* const> burst, Time now);

// To the workers that own the egress ports. (ingress.cc)
void hand_off_stage(WorkerContext& worker, const Batch& batch);

// The port's owner takes a routed batch, of its own poll or another worker's.
template <class Meter>
void admit_batch(WorkerContext& worker, PortContext& port, Batch& batch, Time now, Meter& meter) {
    admit_stage(worker, port, batch);
    meter.lap(Stage::admit, batch.count);
    hand_off_stage(worker, batch);
    meter.lap(Stage::hand_off, batch.count);
    judge_groups(worker, port, now);
    meter.lap(Stage::judge, batch.count);
}

// MAC control frames are consumed: counted, never data, never dropped data.
void consume(WorkerContext& worker, PortContext& port, Packet* packet);
// A worker falls behind when 8 bursts in a row come full, or when the device reports that the ring fills.
bool come_full(ReceiveState& state, unsigned received);

// To the owner of the port. There is room, or the queue would not have been polled. (ingress_queues.cc)
void hand_off_frame(ReceiveQueue& queue, Packet* packet, HandedOffFrame::Kind kind,
                    DropReason refusal = DropReason::none);
// Only the owner of the port knows the punt rate that is left.
void refuse_for_owner(WorkerContext& worker, ReceiveQueue& queue, Packet* packet, DropReason reason);

// Private to ingress_admit.cc: bursts that need not be admitted packet by packet.
//
// The only packet of its burst, where the pool is exclusive.
void admit_alone(WorkerContext& worker, PortContext& port, Batch& batch);

// All of a burst by the sums of its groups. False: nothing was done, and the next bursts skip it, as groups
// are full.
bool admit_by_group(WorkerContext& worker, PortContext& port, const Batch& batch);

}  // namespace sluice
