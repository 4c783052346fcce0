// The second step of the ingress half: the next hop, and the new headers.
#include <rte_prefetch.h>

#include <bit>
#include <cstring>

#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/load_balance.hh"
#include "dataplane/path/post_decisions.hh"
#include "lib/frame/checksum.hh"
#include "lib/frame/flow_hash.hh"
#include "lib/route/ecmp.hh"

namespace sluice {
namespace {

// Copies of the pointers that routing reads: behind each store the compiler would load them again.
struct RouteTables {
    RouteTables(const Policy& policy, const Shared& shared)
        : next_hop_groups(policy.next_hop_groups.data()),
          buckets(policy.buckets.data()),
          next_hops(policy.next_hops.data()),
          ports(policy.ports.data()),
          link_up(shared.link_up.data()) {}
    bool is_up(PortId port) const { return link_up[port].load(std::memory_order_relaxed); }

    const NextHopGroup* next_hop_groups;
    const std::uint32_t* buckets;
    const NextHop* next_hops;
    const PortPolicy* ports;
    const std::atomic<bool>* link_up;
};

// The hop of the flow when the port of its first one is down.
[[gnu::noinline, gnu::cold]] std::uint32_t walk_on(const RouteTables& tables, const NextHopGroup& group,
                                                   std::uint32_t hash) {
    return pick_member(tables.buckets + group.first_bucket, group.log2_buckets, hash,
                       [&](std::uint32_t hop) { return tables.is_up(tables.next_hops[hop].port); });
}

// Tells control of a destination whose neighbor is unknown, so that the kernel resolves it. One that does not
// fit into the ring is posted with its next packet.
[[gnu::noinline, gnu::cold]] DropReason refuse_route(WorkerContext& worker, const std::uint8_t* l3,
                                                     const Parsed& parsed, DropReason reason) {
    if (reason == DropReason::unresolved_next_hop && worker.unresolved)
        worker.unresolved->post(destination_of(parsed.kind == FrameKind::ipv6, l3));
    return reason;
}

// Input of load balancing: the state of the packet's receive queue; `record`: where to store the choice, or
// null.
struct Balancing {
    ReceiveState& state;
    BalanceChoice* record;
};

// The member by the hash alone unless its port is down, then another one; false when none is up.
[[gnu::always_inline]] inline bool take_hashed(const RouteTables& tables, const NextHopGroup& group,
                                               std::uint32_t hash, std::uint32_t& hop, PortId& port) {
    port = tables.next_hops[hop].port;
    if (tables.is_up(port)) [[likely]]
        return true;
    hop = walk_on(tables, group, hash);
    if (hop == no_member) return false;
    port = tables.next_hops[hop].port;
    return true;
}

// True when the packet goes on in its flowlet, whose member is up.
[[gnu::always_inline]] inline bool stay(const RouteTables& tables, const NextHopGroup& group,
                                        const BalanceSettings& settings, Flowlet& entry, std::uint32_t hash,
                                        Time arrival, std::uint32_t& hop, PortId& port) {
    if (!stays(entry, hash, arrival, settings)) return false;
    hop = tables.buckets[group.first_bucket + bucket_of(group.log2_buckets, entry.choice)];
    port = tables.next_hops[hop].port;
    if (!tables.is_up(port)) return false;
    entry.go_on(hash, arrival);
    return true;
}

[[gnu::always_inline]] inline bool take_balanced(WorkerContext& worker, const RouteTables& tables,
                                                 Packet* packet, const Parsed& parsed, std::uint32_t number,
                                                 std::uint32_t hash, const Balancing& balancing,
                                                 std::uint32_t& hop, PortId& port) {
    const NextHopGroup& group = tables.next_hop_groups[number];
    if (group.log2_buckets == 0) return take_hashed(tables, group, hash, hop, port);
    const PacketMeta& info = meta(packet);
    const ClassId traffic_class = info.treatment.traffic_class;
    const BalancePolicy& policy = worker.policy->balance;
    const LoadBalance mode = load_balance_of(policy, group, traffic_class, parsed);
    if (mode == LoadBalance::hash) return take_hashed(tables, group, hash, hop, port);
    if (mode == LoadBalance::flowlet && balancing.record == nullptr &&
        stay(tables, group, policy.settings, flowlet_of(balancing.state, hash), hash, info.arrival, hop,
             port)) [[likely]]
        return true;
    hop = choose_member(
        worker, mode,
        {info.ingress_port, balancing.state, number, hash, traffic_class, info.arrival, info.sequence},
        balancing.record);
    if (hop == no_member) return false;
    port = tables.next_hops[hop].port;
    return true;
}

// From the group and the member by hash to the next hop; `none` when the packet may leave. `balanced`: some
// groups balance by more than hashes.
template <bool balanced>
[[gnu::always_inline]] inline DropReason choose_next_hop(WorkerContext& worker, const RouteTables& tables,
                                                         const Batch& batch, unsigned i,
                                                         const std::uint8_t* l3, const Balancing& balancing,
                                                         std::uint32_t& hop) {
    const Parsed& parsed = batch.parsed[i];
    const std::uint32_t number = batch.next_hop_group[i];
    const NextHopGroup& group = tables.next_hop_groups[number];
    if (group.drop != DropReason::none) [[unlikely]]
        return refuse_route(worker, l3, parsed, group.drop);
    Packet* packet = batch.packet[i];
    PacketMeta& info = meta(packet);
    const std::uint32_t hash = batch.flow_hash[i];
    hop = batch.next_hop[i];
    PortId port = 0;
    const bool found = balanced
                           ? take_balanced(worker, tables, packet, parsed, number, hash, balancing, hop, port)
                           : take_hashed(tables, group, hash, hop, port);
    if (!found) return DropReason::link_down;
    if (group.counted) worker.next_hop_use[hop].add(packet->pkt_len);
    const PortPolicy& egress = tables.ports[port];
    info.egress_port = port;
    if (parsed.ip_bytes > egress.mtu) return DropReason::mtu_exceeded;
    info.queue = egress.map.tc_to_queue[info.treatment.traffic_class];
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
    if (hop.is_tagged())  // PCP from the traffic class
        frame[14] =
            static_cast<std::uint8_t>((frame[14] & 0x1FU) | meta(packet).treatment.traffic_class << 5);
}

// Tags off, the next hop's Ethernet header on, TTL minus one.
[[gnu::always_inline]] inline void rewrite(const NextHop& hop, Packet* packet, std::uint8_t* l3,
                                           const Parsed& parsed) {
    if (parsed.kind == FrameKind::ipv4) [[likely]]
        decrement_ttl(*reinterpret_cast<Ipv4Header*>(l3));
    else
        --reinterpret_cast<Ipv6Header*>(l3)->hop_limit;
    meta(packet).l3_offset = hop.header_bytes;
    if (hop.is_tagged() || parsed.l3_offset != NextHop::untagged) [[unlikely]]
        change_header(hop, packet, parsed);
    else
        std::memcpy(l3 - NextHop::untagged, hop.header.data(), 12);  // the EtherType is there
}

template <bool recording, bool balancing, std::size_t frames>
[[gnu::always_inline]] inline void route_all(WorkerContext& worker, ReceiveState& state, Batch& batch) {
    const RouteTables tables(*worker.policy, worker.shared);
    Packet* const* const handed_over = worker.handed_over.next_mbufs(count_of<frames>(batch));
    filter<frames>(
        worker, batch, [&](unsigned i, Packet* packet) __attribute__((always_inline)) {
            rte_prefetch0(handed_over[i]);
            const Parsed& parsed = batch.parsed[i];
            std::uint8_t* l3 = frame_bytes(packet) + parsed.l3_offset;
            std::uint32_t hop = no_member;
            BalanceChoice choice{.reason = BalanceReason::hashed};  // where it is recorded
            const DropReason reason = choose_next_hop<balancing>(
                worker, tables, batch, i, l3, Balancing{state, recording ? &choice : nullptr}, hop);
            if constexpr (recording)
                if (meta(packet).observed != 0)
                    record_route(worker, packet, parsed, {batch.next_hop_group[i], hop, choice}, reason);
            if (reason == DropReason::none) [[likely]]
                rewrite(tables.next_hops[hop], packet, l3, parsed);
            return reason;
        });
}

// Apart, so that the usual loop has its registers for itself.
template <bool recording>
[[gnu::noinline]] void balance_all(WorkerContext& worker, ReceiveState& state, Batch& batch) {
    route_all<recording, true, std::dynamic_extent>(worker, state, batch);
}

// The member of a group that a flow's hash picks, for many packets.
class MemberByHash {
  public:
    explicit MemberByHash(const Policy& policy)
        : groups_(policy.next_hop_groups.data()), buckets_(policy.buckets.data()), hash_(policy.hash) {}
    // For packet `i`, whose group has this number.
    [[gnu::always_inline]] void operator()(Batch& batch, unsigned i, const std::uint8_t* l3,
                                           std::uint32_t number) const {
        batch.next_hop_group[i] = number;
        const NextHopGroup& group = groups_[number];
        if (group.drop != DropReason::none) [[unlikely]]
            return;
        const std::uint32_t hash = group.log2_buckets == 0 ? 0 : hash_(batch.parsed[i], l3);
        batch.flow_hash[i] = hash;
        batch.next_hop[i] = buckets_[group.first_bucket + bucket_of(group.log2_buckets, hash)];
    }

  private:
    const NextHopGroup* groups_;
    const std::uint32_t* buckets_;
    FlowHash hash_;
};

// Bit i of `packets`: packet i. Apart, so that each loop has its registers for itself.
[[gnu::noinline]] void look_up_v6(const Policy& policy, Batch& batch, std::uint32_t packets) {
    const PrefixLookup v6 = policy.fib->tables(true).lookup();
    const MemberByHash pick(policy);  // made anew: handed over, it would lie in memory
    for (; packets != 0; packets &= packets - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(packets));
        const std::uint8_t* l3 = frame_bytes(batch.packet[i]) + batch.parsed[i].l3_offset;
        pick(batch, i, l3, v6.find(l3 + offsetof(Ipv6Header, destination)));
    }
}

template <std::size_t frames>
[[gnu::always_inline]] inline void look_up_all(const Policy& policy, Batch& batch) {
    const PrefixLookup v4 = policy.fib->tables(false).lookup();
    const MemberByHash pick(policy);
    std::uint32_t others = 0;
    for (unsigned i = 0, count = count_of<frames>(batch); i < count; ++i) {
        const Parsed& parsed = batch.parsed[i];
        const std::uint8_t* l3 = frame_bytes(batch.packet[i]) + parsed.l3_offset;
        if (parsed.kind == FrameKind::ipv4) [[likely]]
            pick(batch, i, l3, v4.find(load_be<std::uint32_t>(l3 + offsetof(Ipv4Header, destination))));
        else
            others |= 1U << i;
    }
    if (others != 0) look_up_v6(policy, batch, others);
}

}  // namespace

// Packets do not depend on each other, so the reads of several overlap. Dependent reads of one packet are
// split over two loops, here and in route_stage, so that each waits less.
void lookup_stage(const Policy& policy, Batch& batch) {
    if (batch.count == 1) return look_up_all<1>(policy, batch);
    look_up_all<std::dynamic_extent>(policy, batch);
}

void route_stage(WorkerContext& worker, ReceiveState& state, Batch& batch) {
    const bool balancing = worker.policy->balance.active;
    if (is_recording(worker)) [[unlikely]]
        return balancing ? balance_all<true>(worker, state, batch)
                         : route_all<true, false, std::dynamic_extent>(worker, state, batch);
    if (balancing) [[unlikely]]
        return balance_all<false>(worker, state, batch);
    if (batch.count == 1) return route_all<false, false, 1>(worker, state, batch);
    route_all<false, false, std::dynamic_extent>(worker, state, batch);
}

}  // namespace sluice
