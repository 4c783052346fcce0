#include "dataplane/ingress.hh"

#include <rte_prefetch.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "dataplane/decisions.hh"
#include "dataplane/drop.hh"
#include "dataplane/fib.hh"
#include "dataplane/punt.hh"
#include "lib/checksum.hh"
#include "lib/class_mask.hh"
#include "lib/ecmp.hh"
#include "lib/flow_hash.hh"
#include "lib/parse_usual.hh"
#include "lib/pfc_frame.hh"

namespace sluice {
namespace {

// Left uninitialised: only the first `count` of each mean something, and clearing a kilobyte costs as much as
// a packet.
struct Batch {
    Batch() {}  // NOLINT(modernize-use-equals-default): the union has no default
    unsigned count = 0;
    std::array<Packet*, burst_size> packet;
    union {
        std::array<Parsed, burst_size> parsed;
    };
    std::array<std::uint32_t, burst_size> group;
    std::array<std::uint32_t, burst_size> cells;
    std::uint32_t all_cells;        // of all that was classified
    ReceiveQueue* queue = nullptr;  // received for the port's owner; null: by it
};

// Frames of one burst and their bytes, by class: one addition a packet, counted when the burst has ended.
class TrafficSums {
  public:
    void add(ClassId n, std::uint32_t frame_bytes) { sum_[n] += one_frame | frame_bytes; }
    template <class Take>  // take(class, frames, bytes)
    void for_each(Take take) const {
        for (unsigned n = 0; n < classes; ++n)
            if (sum_[n] != 0) take(n, sum_[n] >> 32, sum_[n] & (one_frame - 1));
    }

  private:
    static constexpr std::uint64_t one_frame = std::uint64_t{1} << 32;
    static_assert(std::uint64_t{burst_size} * max_frame_bytes < one_frame);
    std::array<std::uint64_t, classes> sum_{};
};

Parsed parse_whole(Packet* packet, const Station& station) {
    std::array<std::uint8_t, parse_view_bytes> copy;
    auto view = first_bytes(packet, copy);
#ifdef SLUICE_EXACT_VIEWS
    // Sanitizers do not watch EAL memory: an exact heap copy shows a byte read too far.
    const std::vector<std::uint8_t> exact(view.begin(), view.end());
    view = exact;
#endif
    return parse_any(view, packet->pkt_len, station);
}

// False: the packet is to be parsed whole.
[[gnu::always_inline]] inline bool parse_shortcut(Packet* packet, const UsualFrames& usual, Parsed& parsed) {
    const std::uint8_t* first = frame_bytes(packet);
#ifdef SLUICE_EXACT_VIEWS
    const std::vector<std::uint8_t> exact(first, first + packet->data_len);
    first = exact.data();
#endif
    return packet->packet_type != packet_type_truncated &&
           parse_usual(first, packet->data_len, packet->pkt_len, usual, parsed);
}

// To the owner of the port. There is room: else the queue had not been polled.
void pass_on(ReceiveQueue& queue, Packet* packet, Passed what, DropReason refusal = DropReason::none) {
    PacketMeta& info = meta(packet);
    info.passed = what;
    info.refusal = refusal;
    [[maybe_unused]] const std::size_t posted = queue.passed.post({&packet, 1});
    assert(posted == 1);
}

// A pause has come: from now on no frame of its class leaves a queue.
void begin_to_obey(WorkerContext& worker, PortContext& port) {
    if (port.out.count == 0)
        worker.reactions->pause_obeyed.record(worker.now - worker.last_turn);
    else if (!port.reactions.heard)
        port.reactions.heard = true, port.reactions.heard_since = worker.last_turn;
}

// MAC control frames are consumed: counted, never data, never dropped data.
void consume(WorkerContext& worker, PortContext& port, Packet* packet) {
    const PortPolicy& policy = worker.policy->ports[port.id];
    auto& counters = port.counters;
    counters.consumed.add(1);
    std::array<std::uint8_t, parse_view_bytes> copy;
    const MacControl control = decode_mac_control(first_bytes(packet, copy), policy.station.mac);
    if (control.kind == MacControl::Kind::pause) {
        counters.pfc.rx_pause_global.add(1);
    } else if (control.kind == MacControl::Kind::pfc && control.addressed) {
        const Time end = meta(packet).arrival + policy.speed.byte_time() * wire_bytes(pfc_frame_bytes);
        const std::uint8_t held = port.honor.held();
        // One that was passed on before the link went down is forgotten, as the others are.
        if (port.link_up) port.honor.receive(control.map, end, policy.speed, policy.pfc_honours);
        if (worker.reactions && (port.honor.held() & ~held) != 0) begin_to_obey(worker, port);
    } else {
        counters.pfc.rx_unknown.add(1);
    }
    rte_pktmbuf_free(packet);
}

[[gnu::noinline, gnu::cold]] void take_mac_control(WorkerContext& worker, PortId port, const Batch& batch,
                                                   Packet* packet) {
    if (batch.queue != nullptr)
        pass_on(*batch.queue, packet, Passed::mac_control);
    else
        consume(worker, *worker.shared.ports[port], packet);
}

// All that is known of a packet on arrival. `drop`: one that is refused as malformed belongs to no class.
inline void describe(const PortPolicy& policy, PortId port, std::uint64_t sequence, Packet* packet,
                     const ClassWay& way, DropReason drop) {
    PacketMeta& info = meta(packet);
    info.sequence = sequence;
    info.frame_bytes = static_cast<std::uint16_t>(packet->pkt_len);
    info.cells = 0;
    info.ingress_port = port;
    info.priority_group = way.priority_group;
    info.observed = 0;
    static_cast<Treatment&>(info) = way.treatment;
    info.lossless = policy.group[way.priority_group].lossless && drop == DropReason::none;
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

// Only the owner of the port knows what control may still get of it.
void refuse_for_owner(WorkerContext& worker, ReceiveQueue& queue, Packet* packet, DropReason reason) {
    if (worker.policy->ports[queue.port].punts)
        pass_on(queue, packet, Passed::refused, reason);
    else
        drop(worker, packet, reason);
}

[[gnu::noinline, gnu::cold]] void drop_refused(WorkerContext& worker, Batch& batch, const Refused& refused) {
    unsigned kept = 0;
    for (unsigned i = 0; i < batch.count; ++i) {
        if ((refused.which >> i & 1U) != 0) {
            if (batch.queue != nullptr)
                refuse_for_owner(worker, *batch.queue, batch.packet[i], refused.why[i]);
            else
                refuse(worker, batch.packet[i], refused.why[i]);
            continue;
        }
        batch.packet[kept] = batch.packet[i];
        batch.parsed[kept] = batch.parsed[i];
        batch.cells[kept++] = batch.cells[i];
    }
    batch.count = kept;
}

// Keeps the packets for which `judge` finds no reason to drop.
template <class Judge>
[[gnu::always_inline]] inline void filter(WorkerContext& worker, Batch& batch, Judge judge) {
    Refused refused;
    for (unsigned i = 0, count = batch.count; i < count; ++i) {
        const DropReason reason = judge(i, batch.packet[i]);
        if (reason == DropReason::none) [[likely]]
            continue;
        refused.add(i, reason);
    }
    if (refused.which != 0) [[unlikely]]
        drop_refused(worker, batch, refused);
}

// What the packets of a burst come to.
struct Arrivals {
    std::uint64_t other_bytes = 0;  // of what is in no group
    std::uint32_t cells = 0;
    std::uint32_t kinds = 0;
    unsigned kept = 0;
    TrafficSums groups;
    ClassWay by_rules;  // of the packet at hand, where no table has it
    Refused refused;
};
static_assert(burst_size < 256, "kinds are counted in bytes");

// A packet that is not parsed by the shortcut: its way, or null when it is taken in or refused.
[[gnu::noinline]] const ClassWay* parse_unusual(WorkerContext& worker, PortId id, std::uint64_t sequence,
                                                Batch& batch, Packet* packet, Arrivals& arrivals) {
    const PortPolicy& policy = worker.policy->ports[id];
    Parsed& parsed = batch.parsed[arrivals.kept];
    parsed = parse_whole(packet, policy.station);
    if (parsed.kind == FrameKind::mac_control) {
        arrivals.other_bytes += packet->pkt_len;
        take_mac_control(worker, id, batch, packet);
        return nullptr;
    }
    if (packet->packet_type == packet_type_truncated) parsed.drop = DropReason::truncated_capture;
    const ClassWay* way = &arrivals.by_rules;
    if (policy.ways->has(parsed))
        way = &policy.ways->way(parsed);
    else
        arrivals.by_rules = class_way(parsed, policy.map);
    if (parsed.drop == DropReason::none) [[likely]]
        return way;
    arrivals.other_bytes += packet->pkt_len;
    describe(policy, id, sequence, packet, *way, parsed.drop);
    if (is_recording(worker)) record_arrival(worker, packet, parsed);
    batch.packet[arrivals.kept] = packet;
    arrivals.refused.add(arrivals.kept++, parsed.drop);
    return nullptr;
}

template <bool recording>
[[gnu::always_inline]] inline void parse_all(WorkerContext& worker, PortId id, ReceiveCounters& counters,
                                             ReceiveState& state, std::span<Packet* const> burst,
                                             Batch& batch) {
    const PortPolicy& policy = worker.policy->ports[id];
    const ClassTable& ways = *policy.ways;
    const CellSize cell = worker.policy->cell;
    const std::uint64_t first = state.next_sequence;
    Arrivals arrivals;
    for (Packet* packet : burst) {
        const unsigned at = arrivals.kept;
        // Made where it stays: a copy of what was written byte by byte would wait for the stores.
        Parsed& parsed = batch.parsed[at];
        const ClassWay* way = nullptr;
        if (parse_shortcut(packet, policy.usual, parsed)) [[likely]]
            way = &ways.way(parsed);
        else if (way = parse_unusual(worker, id, first + at, batch, packet, arrivals); way == nullptr)
            continue;
        describe(policy, id, first + at, packet, *way, DropReason::none);
        if constexpr (recording) record_arrival(worker, packet, parsed);
        const std::uint32_t bytes = packet->pkt_len;
        const std::uint32_t cells = cell.cells(bytes);
        arrivals.groups.add(way->priority_group, bytes);
        arrivals.cells += cells;
        arrivals.kinds += way->kinds;
        batch.packet[at] = packet;
        batch.cells[at] = cells;
        arrivals.kept = at + 1;
    }
    batch.count = arrivals.kept;
    batch.all_cells = arrivals.cells;
    state.next_sequence = first + arrivals.kept;
    std::uint64_t all_bytes = arrivals.other_bytes;
    arrivals.groups.for_each([&](unsigned n, std::uint64_t frames, std::uint64_t bytes) {
        counters.group_rx[n].add(frames, bytes);
        all_bytes += bytes;
    });
    counters.rx.add(burst.size(), all_bytes);
    counters.roce.add(arrivals.kinds & 0xFF);
    counters.cnp.add(arrivals.kinds >> 8 & 0xFF);
    counters.ce_arrived.add(arrivals.kinds >> 16);
    if (arrivals.refused.which != 0) [[unlikely]]
        drop_refused(worker, batch, arrivals.refused);
}

// Headers, class and priority group, in one go while they are at hand. MAC control is taken in; what is left
// in the batch is IP to be routed.
[[gnu::noinline]] void parse_stage(WorkerContext& worker, PortId id, ReceiveCounters& counters,
                                   ReceiveState& state, std::span<Packet* const> burst, Batch& batch) {
    if (is_recording(worker)) [[unlikely]]
        parse_all<true>(worker, id, counters, state, burst, batch);
    else
        parse_all<false>(worker, id, counters, state, burst, batch);
}

// Longest-prefix match. Packets do not depend on each other: the reads of several are under way together.
[[gnu::noinline]] void lookup_stage(const Fib& fib, Batch& batch) {
    for (unsigned i = 0; i < batch.count; ++i) {
        const Parsed& parsed = batch.parsed[i];
        const std::uint8_t* l3 = frame_bytes(batch.packet[i]) + parsed.l3_offset;
        batch.group[i] = parsed.kind == FrameKind::ipv4
                             ? fib.lookup(load_be<std::uint32_t>(l3 + offsetof(Ipv4Header, destination)))
                             : fib.lookup(l3 + offsetof(Ipv6Header, destination));
    }
}

// Control has the kernel find the neighbour out. Who sends more than the ring holds is heard next time.
[[gnu::cold]] void report_unresolved(EventRing<Unresolved>& ring, Packet* packet, const Parsed& parsed) {
    const std::uint8_t* l3 = frame_bytes(packet) + parsed.l3_offset;
    Unresolved event{{}, parsed.kind == FrameKind::ipv6};
    if (event.is_v6)
        std::memcpy(event.destination.data(), l3 + offsetof(Ipv6Header, destination), 16);
    else
        std::memcpy(event.destination.data(), l3 + offsetof(Ipv4Header, destination), 4);
    ring.post(event);
}

// What routing a packet reads, at hand: behind each store the compiler would load it again.
struct RouteTables {
    RouteTables(const Policy& policy, const Shared& shared)
        : groups(policy.groups.data()),
          buckets(policy.buckets.data()),
          next_hops(policy.next_hops.data()),
          ports(policy.ports.data()),
          link_up(shared.link_up.data()),
          hash(policy.hash) {}
    bool is_up(PortId port) const { return link_up[port].load(std::memory_order_relaxed); }

    const Group* groups;
    const std::uint32_t* buckets;
    const NextHop* next_hops;
    const PortPolicy* ports;
    const std::atomic<bool>* link_up;
    FlowHash hash;
};

// The hop of the flow when the port of its first one is down.
[[gnu::noinline, gnu::cold]] std::uint32_t walk_on(const RouteTables& tables, const Group& group,
                                                   std::uint32_t hash) {
    return pick_member(tables.buckets + group.first_bucket, group.log2_buckets, hash,
                       [&](std::uint32_t hop) { return tables.is_up(tables.next_hops[hop].port); });
}

[[gnu::noinline, gnu::cold]] DropReason refuse_route(WorkerContext& worker, Packet* packet,
                                                     const Parsed& parsed, DropReason reason) {
    if (reason == DropReason::unresolved_next_hop && worker.unresolved)
        report_unresolved(*worker.unresolved, packet, parsed);
    return reason;
}

// Group and hash to next hop; `none` when the packet may leave. `l3`: its IP header.
[[gnu::always_inline]] inline DropReason choose_next_hop(WorkerContext& worker, const RouteTables& tables,
                                                         Packet* packet, const Parsed& parsed,
                                                         const std::uint8_t* l3, std::uint32_t number) {
    const Group& group = tables.groups[number];
    if (group.drop != DropReason::none) [[unlikely]]
        return refuse_route(worker, packet, parsed, group.drop);
    PacketMeta& info = meta(packet);
    const std::uint32_t hash = group.log2_buckets == 0 ? 0 : tables.hash(parsed, l3);
    std::uint32_t hop = tables.buckets[group.first_bucket + bucket_of(group.log2_buckets, hash)];
    PortId port = tables.next_hops[hop].port;
    if (!tables.is_up(port)) [[unlikely]] {
        hop = walk_on(tables, group, hash);
        if (hop == no_member) return DropReason::link_down;
        port = tables.next_hops[hop].port;
    }
    if (group.counted) worker.next_hop_use[hop].add(packet->pkt_len);
    const PortPolicy& egress = tables.ports[port];
    info.next_hop = hop;
    info.egress_port = port;
    if (parsed.ip_bytes > egress.mtu) return DropReason::mtu_exceeded;
    info.queue = egress.map.tc_to_queue[info.traffic_class];
    return DropReason::none;
}

// The next hop's Ethernet header, tag included, in place of another one or of the same length.
[[gnu::noinline]] void change_header(const NextHop& hop, Packet* packet, const Parsed& parsed) {
    const bool v4 = parsed.kind == FrameKind::ipv4;
    const std::uint32_t l3_offset = parsed.l3_offset;
    const std::uint32_t header_bytes = hop.header_bytes;
    if (l3_offset > header_bytes)
        rte_pktmbuf_adj(packet, static_cast<std::uint16_t>(l3_offset - header_bytes));
    else if (l3_offset < header_bytes)
        rte_pktmbuf_prepend(packet, static_cast<std::uint16_t>(header_bytes - l3_offset));
    std::uint8_t* frame = frame_bytes(packet);
    meta(packet).frame_bytes = static_cast<std::uint16_t>(packet->pkt_len);
    std::memcpy(frame, hop.header.data(), header_bytes - 2);
    store_be<std::uint16_t>(frame + header_bytes - 2, v4 ? ether_type::ipv4 : ether_type::ipv6);
    if (hop.tagged)  // PCP from the traffic class
        frame[14] = static_cast<std::uint8_t>((frame[14] & 0x1FU) | meta(packet).traffic_class << 5);
}

// Tags off, the next hop's Ethernet header on, TTL minus one. False when the headers lie in too many
// segments.
[[gnu::always_inline]] inline bool rewrite(const NextHop& hop, Packet* packet, const Parsed& parsed) {
    const bool v4 = parsed.kind == FrameKind::ipv4;
    const std::uint32_t header_end = parsed.l3_offset + (v4 ? sizeof(Ipv4Header) : sizeof(Ipv6Header));
    if (packet->data_len < header_end && !make_contiguous(packet, header_end)) [[unlikely]]
        return false;
    std::uint8_t* frame = frame_bytes(packet);
    std::uint8_t* l3 = frame + parsed.l3_offset;
    if (v4)
        decrement_ttl(*reinterpret_cast<Ipv4Header*>(l3));
    else
        --reinterpret_cast<Ipv6Header*>(l3)->hop_limit;
    meta(packet).l3_offset = hop.header_bytes;
    if (hop.tagged || hop.header_bytes != parsed.l3_offset) [[unlikely]]
        change_header(hop, packet, parsed);
    else
        std::memcpy(frame, hop.header.data(), 12);  // the EtherType is there
    return true;
}

template <bool recording>
[[gnu::always_inline]] inline void route_all(WorkerContext& worker, Batch& batch) {
    const RouteTables tables(*worker.policy, worker.shared);
    filter(worker, batch, [&](unsigned i, Packet* packet) {
        const Parsed& parsed = batch.parsed[i];
        const DropReason reason = choose_next_hop(worker, tables, packet, parsed,
                                                  frame_bytes(packet) + parsed.l3_offset, batch.group[i]);
        if constexpr (recording)
            if (meta(packet).observed != 0) record_route(worker, packet, parsed, batch.group[i], reason);
        if (reason != DropReason::none) [[unlikely]]
            return reason;
        return rewrite(tables.next_hops[meta(packet).next_hop], packet, parsed)
                   ? DropReason::none
                   : DropReason::headers_too_long;
    });
}

// From here on a packet is as it leaves. The next hop is at hand now, and whoever is refused later is gone.
[[gnu::noinline]] void route_stage(WorkerContext& worker, Batch& batch) {
    if (is_recording(worker)) [[unlikely]]
        route_all<true>(worker, batch);
    else
        route_all<false>(worker, batch);
}

// Why the buffer has no place for a packet.
[[gnu::cold]] DropReason no_place(PortContext& port, ClassId group, Admission admission) {
    GroupCounters& counters = port.counters.group[group];
    counters.dropped.add(1);
    if (admission == Admission::ingress_limit) return DropReason::ingress_limit;
    if (port.watchdog.takes_overrun(group)) return DropReason::watchdog_drop;
    counters.headroom_overruns.add(1);
    return DropReason::headroom_overrun;
}

// The only packet of its burst, where nobody else looks at the pool: one that is opened for it costs less
// than room for all of them.
[[gnu::noinline]] Admission admit_alone(WorkerContext& worker, PriorityGroup& group,
                                        const GroupLimits& limits, std::uint32_t cells) {
    PoolBurst pool(worker.shared.ingress_use[limits.pool], worker.policy->ingress_pools[limits.pool], cells);
    return group.admit_beyond(limits, pool, cells);
}

template <bool recording>
[[gnu::always_inline]] inline void admit_all(WorkerContext& worker, PortContext& port, Batch& batch) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    PoolBursts pools(worker.shared.ingress_use, policy.ingress_pools, batch.all_cells);
    const bool alone = !recording && batch.count == 1 && worker.shared.exclusive;
    unsigned in_use = port.groups_in_use;
    filter(worker, batch, [&](unsigned i, Packet* packet) {
        PacketMeta& info = meta(packet);
        const ClassId number = info.priority_group;
        const GroupLimits& limits = own.group[number];
        PriorityGroup& group = port.group[number];
        const std::uint32_t cells = batch.cells[i];
        std::conditional_t<recording, std::optional<AdmissionRecord>, std::nullptr_t> record{};
        if constexpr (recording) record.emplace(group, limits, pools[limits.pool].view(), cells);
        Admission admission = Admission::reserved;
        if (!group.admit_reserved(limits, cells))
            admission = alone ? admit_alone(worker, group, limits, cells)
                              : group.admit_beyond(limits, pools[limits.pool], cells);
        DropReason reason = DropReason::none;
        if (is_admitted(admission)) [[likely]] {
            info.cells = static_cast<std::uint16_t>(cells);
            in_use |= 1U << number;
        } else {
            reason = no_place(port, number, admission);
        }
        if constexpr (recording) record->post(worker, port, info);
        return reason;
    });
    port.groups_in_use = static_cast<std::uint8_t>(in_use);
}

// Ingress admission: from here on the packet has its place in the buffer.
[[gnu::noinline]] void admit_stage(WorkerContext& worker, PortContext& port, Batch& batch) {
    if (is_recording(worker)) [[unlikely]]
        admit_all<true>(worker, port, batch);
    else
        admit_all<false>(worker, port, batch);
}

// To the worker that owns the egress port; a mailbox holds every packet there is, so none is refused.
[[gnu::noinline]] void hand_off_stage(WorkerContext& worker, const Batch& batch) {
    Shared& shared = worker.shared;
    if (shared.workers == 1) {
        for (unsigned i = 0; i < batch.count; ++i)
            worker.local.packets[worker.local.count++] = batch.packet[i];
        return;
    }
    std::array<std::array<Packet*, burst_size>, max_workers> out;
    std::array<unsigned, max_workers> count{};
    for (unsigned i = 0; i < batch.count; ++i) {
        const WorkerId to = shared.owner[meta(batch.packet[i]).egress_port];
        if (to == worker.id)
            worker.local.packets[worker.local.count++] = batch.packet[i];
        else
            out[to][count[to]++] = batch.packet[i];
    }
    for (WorkerId to = 0; to < shared.workers; ++to) {
        if (count[to] == 0) continue;
        const auto posted = shared.mailbox(worker.id, to).post(std::span(out[to]).first(count[to]));
        assert(posted == count[to]);
        static_cast<void>(posted);
    }
}

// A worker that falls behind must pause its peers, not drop.
void hold_peer(PortContext& port, bool behind) {
    if (behind == port.hold_peer) return;
    port.hold_peer = behind;
    if (behind) port.counters.behind.add(1);
    port.groups_in_use |= port.groups_judged;  // each is judged anew, with or without cells
}

// Behind is: bursts come full, 8 in a row, or the receive ring fills up where the device tells.
bool come_full(ReceiveState& state, unsigned received) {
    constexpr unsigned many = 8;
    state.full_bursts = received < burst_size
                            ? std::uint8_t{0}
                            : static_cast<std::uint8_t>(std::min<unsigned>(state.full_bursts + 1U, many));
    return state.full_bursts == many;
}

// Likewise of a queue that is polled for us.
bool is_behind_elsewhere(const PortContext& port) {
    return std::any_of(port.more_receive_queues.begin(), port.more_receive_queues.end(),
                       [](const auto& queue) { return queue->is_behind.load(std::memory_order_relaxed); });
}

void watch_load(PortContext& port, unsigned received, Time now) {
    const bool full = come_full(port.receive, received);
    hold_peer(port, port.io->falls_behind(now).value_or(full) || is_behind_elsewhere(port));
}

void say_behind(ReceiveQueue& queue, bool behind) {
    if (behind == queue.is_behind.load(std::memory_order_relaxed)) return;
    queue.is_behind.store(behind, std::memory_order_relaxed);
    if (behind) queue.behind.add(1);
}

// Whether the queue's device may be asked. While the link is down it may be another's, or nobody's.
bool may_poll(Shared& shared, ReceiveQueue& queue) {
    // seq_cst: see Switch::link_up.
    const std::atomic<bool>& link = shared.link_up[queue.port];
    if (link.load(std::memory_order_seq_cst) == queue.open) [[likely]]
        return queue.open;
    if (!queue.open) {
        queue.polled.store(true, std::memory_order_seq_cst);
        queue.open = link.load(std::memory_order_seq_cst);
        if (queue.open) return true;
    }
    queue.open = false;
    queue.polled.store(false, std::memory_order_seq_cst);
    queue.state.full_bursts = 0;
    say_behind(queue, false);
    return false;
}

// All that is left of the batch, in order, with the cells that it wants.
[[gnu::noinline]] void pass_on_stage(const Batch& batch) {
    for (unsigned i = 0; i < batch.count; ++i) {
        PacketMeta& info = meta(batch.packet[i]);
        info.passed = Passed::data;
        info.wanted_cells = static_cast<std::uint16_t>(batch.cells[i]);
    }
    [[maybe_unused]] const std::size_t posted =
        batch.queue->passed.post(std::span(batch.packet).first(batch.count));
    assert(posted == batch.count);
}

// What others have received: data stays in the batch, to be admitted.
[[gnu::noinline]] void sort_stage(WorkerContext& worker, PortContext& port, std::span<Packet* const> burst,
                                  Batch& batch) {
    const PortPolicy& own = worker.policy->ports[port.id];
    std::uint32_t all_cells = 0;
    unsigned kept = 0;
    for (Packet* packet : burst) {
        PacketMeta& info = meta(packet);
        switch (info.passed) {
            case Passed::data:
                // The poller's policy may be another than ours; ours is what admits it.
                info.lossless = own.group[info.priority_group].lossless;
                batch.packet[kept] = packet;
                batch.cells[kept++] = info.wanted_cells;
                all_cells += info.wanted_cells;
                break;
            case Passed::mac_control:
                consume(worker, port, packet);
                break;
            case Passed::refused:
                refuse(worker, packet, info.refusal);
                break;
        }
    }
    batch.count = kept;
    batch.all_cells = all_cells;
}

}  // namespace

[[gnu::noinline]] void judge_groups_in_use(WorkerContext& worker, PortContext& port, Time now) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    unsigned idle = 0;
    unsigned lossy = 0;
    for_each_class(port.groups_in_use & port.groups_judged, [&](ClassId n) {
        const GroupLimits& limits = own.group[n];
        PriorityGroup& group = port.group[n];
        if (!limits.lossless && !group.in_xoff() && !port.trace) {  // nobody is paused for it
            lossy |= 1U << n;
            if (group.used_cells() == 0) idle |= 1U << n;
            return;
        }
        const PoolView pool(worker.shared.ingress_use[limits.pool], policy.ingress_pools[limits.pool]);
        const auto bit = static_cast<std::uint8_t>(1U << n);
        const XoffSignal signal = group.update_xoff(limits, pool, port.hold_peer);
        if (signal != XoffSignal::none && is_recording(worker)) [[unlikely]]
            record_pause(worker, port, n, pool, signal);
        switch (signal) {
            case XoffSignal::send_xoff:
                port.counters.group[n].xoff.add(1);
                port.want_xoff |= bit;
                port.want_xon = static_cast<std::uint8_t>(port.want_xon & ~bit);
                if (worker.reactions && !port.reactions.over)
                    port.reactions.over = true, port.reactions.over_since = worker.now;
                break;
            case XoffSignal::send_xon:
                port.want_xon |= bit;
                port.want_xoff = static_cast<std::uint8_t>(port.want_xoff & ~bit);
                break;
            case XoffSignal::none:
                break;
        }
        if (port.trace) {
            port.trace->group[n].record(now, group.used_cells());
            port.trace->limit[n].record(now, static_cast<std::uint32_t>(group.limit_cells(limits, pool)));
        }
        if (group.used_cells() == 0 && !group.in_xoff()) idle |= bit;
    });
    port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use & ~idle);
    port.groups_judged = static_cast<std::uint8_t>(port.groups_judged & ~lossy);
}

[[gnu::noinline]] void collect_releases(WorkerContext& worker, PortContext& port, Time now) {
    if (port.hold_peer && port.io->falls_behind(now) == false && !is_behind_elsewhere(port))
        hold_peer(port, false);
    if (port.groups_in_use == 0) return;
    const PortPolicy& own = worker.policy->ports[port.id];
    auto& use = worker.shared.ingress_use;
    const auto& limits = worker.policy->ingress_pools;
    const bool exclusive = worker.shared.exclusive;
    PoolBursts pools(use, limits, 0);
    unsigned idle = 0;
    worker.shared.releases.collect(port.id, port.groups_in_use, [&](ClassId n, std::uint32_t cells) {
        PriorityGroup& group = port.group[n];
        const unsigned pool = own.group[n].pool;
        if (!group.release_reserved(cells)) {
            if (exclusive) {  // opened for each group costs less than kept open for the next one
                PoolBurst burst(use[pool], limits[pool], 0);
                group.release(burst, cells);
            } else {
                group.release(pools[pool], cells);
            }
        }
        if (group.used_cells() == 0 && !group.in_xoff()) idle |= 1U << n;
    });
    // Of such a group there is nothing to judge, unless the peer is to be held all the same.
    if (!port.hold_peer && !port.trace)
        port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use & ~idle);
}

[[gnu::cold]] void route_again(WorkerContext& worker, PortContext& port, Packet* packet, DropReason reason) {
    const PortPolicy& own = worker.policy->ports[port.id];
    Batch batch;
    batch.count = 1;
    batch.packet[0] = packet;
    Parsed& parsed = batch.parsed[0];
    parsed = parse_whole(packet, own.station);
    describe(own, port.id, port.receive.next_sequence++, packet, class_way(parsed, own.map), parsed.drop);
    if (is_recording(worker)) record_arrival(worker, packet, parsed);
    if (reason == DropReason::none) reason = parsed.drop;
    if (reason != DropReason::none) {
        drop(worker, packet, reason);
        return;
    }
    meta(packet).priority_group = lossy_group(own, meta(packet).traffic_class);
    batch.all_cells = batch.cells[0] = worker.policy->cell.cells(packet->pkt_len);
    lookup_stage(*worker.policy->fib, batch);
    route_stage(worker, batch);
    admit_stage(worker, port, batch);
    hand_off_stage(worker, batch);
}

template <class Meter>
unsigned ingress(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    std::array<Packet*, burst_size> burst;
    const unsigned received = port.io->receive(burst, now);
    watch_load(port, received, now);
    meter.lap(received == 0 ? Stage::turn : Stage::receive, received);
    if (received == 0) return 0;
    for (unsigned i = 0; i < received; ++i) rte_prefetch0(frame_bytes(burst[i]));
    Batch batch;
    parse_stage(worker, port.id, port.counters, port.receive, std::span(burst).first(received), batch);
    meter.lap(Stage::parse, received);
    if (batch.count == 0) return received;
    lookup_stage(*worker.policy->fib, batch);
    meter.lap(Stage::lookup, batch.count);
    route_stage(worker, batch);
    meter.lap(Stage::route, batch.count);
    admit_stage(worker, port, batch);
    meter.lap(Stage::admit, batch.count);
    hand_off_stage(worker, batch);
    meter.lap(Stage::hand_off, batch.count);
    judge_groups(worker, port, now);
    meter.lap(Stage::judge, batch.count);
    return received;
}

template <class Meter>
unsigned receive_for_owner(WorkerContext& worker, ReceiveQueue& queue, Time now, Meter& meter) {
    if (!may_poll(worker.shared, queue) || worker.shared.draining.load(std::memory_order_relaxed)) return 0;
    if (queue.passed.room() < burst_size) {  // the owner falls behind
        say_behind(queue, true);
        return 0;
    }
    std::array<Packet*, burst_size> burst;
    const unsigned received = queue.io->receive_from(queue.number, burst, now);
    const bool full = come_full(queue.state, received);
    say_behind(queue, queue.io->queue_falls_behind(queue.number).value_or(full));
    meter.lap(received == 0 ? Stage::turn : Stage::receive, received);
    if (received == 0) return 0;
    for (unsigned i = 0; i < received; ++i) rte_prefetch0(frame_bytes(burst[i]));
    Batch batch;
    batch.queue = &queue;
    parse_stage(worker, queue.port, queue.counters, queue.state, std::span(burst).first(received), batch);
    meter.lap(Stage::parse, received);
    lookup_stage(*worker.policy->fib, batch);
    meter.lap(Stage::lookup, batch.count);
    route_stage(worker, batch);
    meter.lap(Stage::route, batch.count);
    pass_on_stage(batch);
    meter.lap(Stage::hand_off, batch.count);
    return received;
}

template <class Meter>
unsigned take_over(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    std::array<Packet*, burst_size> burst;
    unsigned total = 0;
    for (const auto& queue : port.more_receive_queues) {
        // What is there now: its poller goes on meanwhile.
        for (std::size_t left = queue->passed.size(); left != 0;) {
            const auto count = static_cast<unsigned>(
                queue->passed.collect(std::span(burst).first(std::min<std::size_t>(left, burst_size))));
            left -= count;
            total += count;
            for (unsigned i = 0; i < count; ++i) rte_prefetch0(&meta(burst[i]));
            Batch batch;
            sort_stage(worker, port, std::span(burst).first(count), batch);
            meter.lap(Stage::receive, count);
            admit_stage(worker, port, batch);
            meter.lap(Stage::admit, batch.count);
            hand_off_stage(worker, batch);
            meter.lap(Stage::hand_off, batch.count);
            judge_groups(worker, port, now);
            meter.lap(Stage::judge, batch.count);
        }
    }
    return total;
}

template unsigned ingress(WorkerContext&, PortContext&, Time, NoLaps&);
template unsigned ingress(WorkerContext&, PortContext&, Time, Laps&);
template unsigned receive_for_owner(WorkerContext&, ReceiveQueue&, Time, NoLaps&);
template unsigned receive_for_owner(WorkerContext&, ReceiveQueue&, Time, Laps&);
template unsigned take_over(WorkerContext&, PortContext&, Time, NoLaps&);
template unsigned take_over(WorkerContext&, PortContext&, Time, Laps&);

}  // namespace sluice
