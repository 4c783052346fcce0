#include "dataplane/path/post_decisions.hh"

#include <algorithm>

#include "lib/frame/flow_hash.hh"
#include "lib/route/ecmp.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

DecisionKey key_of(const PacketMeta& info) { return {info.ingress_port, info.sequence}; }

template <class What>
bool post(WorkerContext& worker, const DecisionKey& key, Time at, const What& what) {
    return worker.decisions->post({key, at, what});
}

bool is_recorded(const PacketMeta& info) { return (info.observed & observed_record) != 0; }
bool is_counted(const PacketMeta& info) { return (info.observed & observed_fill) != 0 && info.cells != 0; }

FillPlace place_of(const PacketMeta& info) {
    return {info.ingress_port, info.priority_group, info.egress_port, info.queue};
}

bool wants_group(const DecisionFilter& filter, const PortPolicy& port, PortId id, ClassId group) {
    return filter.ingress.contains(id) &&
           (filter.traffic_classes & classes_that_map_to(port.map.tc_to_priority_group, group)) != 0;
}

}  // namespace

void post_arrival(WorkerContext& worker, Packet* packet, const Parsed& parsed) {
    PacketMeta& info = meta(packet);
    std::array<std::uint8_t, parse_view_bytes> copy;
    Arrived arrived;
    const auto view = first_bytes(packet, copy);
    arrived.flow = flow_key(parsed, view);
    if (!worker.policy->decisions.wants(info.ingress_port, info.treatment.traffic_class, arrived.flow))
        return;
    std::copy_n(view.begin(), std::min(view.size(), arrived.to.bytes.size()), arrived.to.bytes.begin());
    arrived.station = worker.policy->ports[info.ingress_port].station.mac;
    arrived.frame_bytes = info.frame_bytes;
    arrived.tags = parsed.tags;
    arrived.dscp = parsed.dscp();
    arrived.ecn = parsed.ecn();
    arrived.opcode = parsed.opcode;
    arrived.psn = packet_sequence(parsed, view);
    arrived.fragment = parsed.fragment;
    arrived.lossless = info.treatment.lossless;
    arrived.traffic_class = info.treatment.traffic_class;
    arrived.priority_group = info.priority_group;
    // A packet whose first event is lost is not recorded at all: no record lacks its beginning.
    if (post(worker, key_of(info), info.arrival, arrived)) info.observed |= observed_record;
}

void record_route(WorkerContext& worker, Packet* packet, const Parsed& parsed, const RouteTaken& taken,
                  DropReason reason) {
    PacketMeta& info = meta(packet);
    const Policy& policy = *worker.policy;
    Routed routed;
    routed.next_hop_group = taken.group;
    routed.chosen = reason == DropReason::none || reason == DropReason::mtu_exceeded;
    if (routed.chosen) {
        const NextHopGroup& members = policy.next_hop_groups[taken.group];
        routed.buckets = 1U << members.log2_buckets;
        if (members.log2_buckets != 0) {
            routed.hash = flow_hash(parsed, frame_bytes(packet) + parsed.l3_offset, policy.hash);
            routed.balance = taken.choice;
            routed.bucket = routed.balance.reason == BalanceReason::hashed
                                ? bucket_of(members.log2_buckets, routed.hash)
                                : routed.balance.bucket;
        }
        routed.next_hop = taken.next_hop;
        routed.egress_port = info.egress_port;
        routed.queue = policy.ports[info.egress_port].map.tc_to_queue[info.treatment.traffic_class];
    }
    const DecisionFilter& filter = policy.decisions;
    if (!filter.any_egress && !(routed.chosen && filter.egress.contains(routed.egress_port))) {
        info.observed = static_cast<std::uint8_t>(info.observed & ~observed_record);
        post(worker, key_of(info), worker.now, Unwanted{});
        return;
    }
    post(worker, key_of(info), worker.now, routed);
}

AdmissionPost::AdmissionPost(const PriorityGroup& group, const GroupLimits& limits, PoolBursts& pools,
                             std::uint32_t cells)
    : free_cells_(pools[limits.pool].view().free_cells) {
    numbers_.in_xoff = group.in_xoff();
    numbers_.cells = cells;
    numbers_.reserved = group.reserved_cells();
    numbers_.reserved_size = limits.reserved_cells;
    numbers_.shared = group.shared_cells();
    numbers_.headroom = group.headroom_cells();
    numbers_.headroom_size = limits.headroom_cells;
    numbers_.limit = limits.threshold.limit_with(free_cells_, numbers_.shared, cells);
}

void AdmissionPost::post(WorkerContext& worker, const PortContext& port, PacketMeta& info,
                         Admission part) const {
    if (info.cells != 0) {
        info.observed |= observed_fill;
        worker.shared.fill->entered(place_of(info), info.cells);
    }
    if (!is_recorded(info)) return;
    const PriorityGroup& group = port.group[info.priority_group];
    const Policy& policy = *worker.policy;
    Admitted admitted = numbers_;
    admitted.part = part;
    admitted.fired_xoff = group.in_xoff() && !numbers_.in_xoff;
    admitted.pool_size =
        policy.ingress_pools[policy.ports[port.id].group[info.priority_group].pool].shared_cells;
    admitted.pool_used = admitted.pool_size - free_cells_;
    sluice::post(worker, key_of(info), worker.now, admitted);
}

void record_enqueue(WorkerContext& worker, const PortContext& port, const PacketMeta& info,
                    PoolBursts& pools) {
    if (!is_recorded(info) || !port.link_up) return;
    const Policy& policy = *worker.policy;
    const QueueLimits& limits = policy.ports[port.id].queue[info.queue];
    const EgressQueueUse& use = port.queue[info.queue].use;
    const std::int64_t free = pools[limits.pool].view().free_cells;
    Enqueued enqueued;
    enqueued.limited = !limits.lossless;
    enqueued.cells = info.cells;
    enqueued.packets = port.queue[info.queue].packets.packets();
    enqueued.used = use.used_cells();
    enqueued.limit = limits.threshold.limit_with(free, use.shared_cells(), info.cells);
    enqueued.pool_size = policy.egress_pools[limits.pool].shared_cells;
    enqueued.pool_used = enqueued.pool_size - free;
    post(worker, key_of(info), worker.now, enqueued);
}

void post_mark(WorkerContext& worker, const PacketMeta& info, const Drawn& drawn) {
    if (is_recorded(info)) post(worker, key_of(info), worker.now, drawn);
}

void post_drop(WorkerContext& worker, const PacketMeta& info, const Dropped& dropped) {
    if (is_counted(info)) {
        // Each side has its own counter; a worker that owns both may use either.
        if (worker.shared.owner[info.ingress_port] == worker.id)
            worker.shared.fill->withdrawn(place_of(info), info.cells);
        else
            worker.shared.fill->left(place_of(info), info.cells);
    }
    if (is_recorded(info)) post(worker, key_of(info), worker.now, dropped);
}

void post_punt(WorkerContext& worker, const PacketMeta& info, PuntClass punt) {
    if (is_recorded(info)) post(worker, key_of(info), worker.now, Punted{punt});
}

GroupPaused pause_of(const WorkerContext& worker, const PortContext& port, ClassId number, PoolView pool,
                     XoffSignal signal) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    const PriorityGroup& group = port.group[number];
    const GroupLimits& limits = own.group[number];
    GroupPaused paused;
    paused.xoff = signal == XoffSignal::send_xoff;
    paused.reserved = group.reserved_cells();
    paused.shared = group.shared_cells();
    paused.headroom = group.headroom_cells();
    paused.headroom_size = limits.headroom_cells;
    paused.limit = group.limit_cells(limits, pool);
    paused.pool_size = policy.ingress_pools[limits.pool].shared_cells;
    paused.pool_used = paused.pool_size - pool.free_cells;
    paused.behind = paused.xoff && port.pause_peer && !group.over(limits, pool);
    std::uint32_t known = 0;
    worker.shared.fill->for_each(port.id, number, [&](PortId egress, ClassId queue, std::uint32_t cells) {
        known += cells;
        add_most_first(paused.fillers, paused.filler_count, {cells, egress, queue}, paused.other_queues);
    });
    SLUICE_INVARIANT(known <= group.used_cells() && "queues hold no more of a group's cells than it has");
    paused.unknown = group.used_cells() - known;
    return paused;
}

void record_pause(WorkerContext& worker, const PortContext& port, ClassId number, PoolView pool,
                  XoffSignal signal) {
    const Policy& policy = *worker.policy;
    if (!wants_group(policy.decisions, policy.ports[port.id], port.id, number)) return;
    post(worker, {port.id, number}, worker.now, pause_of(worker, port, number, pool, signal));
}

void DeparturePost::remember(const OutBatch& out) {
    const std::span<Packet* const> packets = out.packets();
    for (std::uint16_t i = 0; i < packets.size(); ++i) {
        const PacketMeta& info = meta(packets[i]);
        if (is_recorded(info)) leaving_[count_++] = {key_of(info), info.departure, info.frame_bytes, i};
    }
}

void DeparturePost::post_sent(WorkerContext& worker, unsigned sent) const {
    for (unsigned i = 0; i < count_ && leaving_[i].place < sent; ++i)
        sluice::post(worker, leaving_[i].key, leaving_[i].at, Departed{leaving_[i].frame_bytes});
}

}  // namespace sluice
