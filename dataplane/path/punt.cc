#include "dataplane/path/punt.hh"

#include "dataplane/base/described.hh"
#include "dataplane/path/drop.hh"
#include "dataplane/path/egress.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/path/ingress.hh"
#include "lib/frame/headers.hh"

namespace sluice {
namespace {

using Bytes = std::span<const std::uint8_t>;

// A packet whose TTL ends here may still be for us.
bool is_local(const Policy& policy, Bytes view) {
    const auto layers = frame_layers(view);
    if (!layers) return false;
    const std::uint8_t* l3 = view.data() + layers->l3_offset;
    return policy.fib->lookup(destination_of(layers->type == ether_type::ipv6, l3)) == group_local;
}

// `none` when control has it.
DropReason punt(WorkerContext& worker, PortContext& port, Packet* packet, DropReason reason) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    std::array<std::uint8_t, parse_view_bytes> copy;
    const Bytes view = first_bytes(packet, copy);
    auto punt = punt_class(reason, view, own.station.mac);
    if (!punt) return reason;
    if (*punt == PuntClass::ttl && is_local(policy, view)) punt = PuntClass::local;
    const auto number = static_cast<std::size_t>(*punt);
    TokenBucket& bucket = port.control->bucket[number];
    if (!bucket.limits()) return reason;
    if (!bucket.may_send(worker.now)) return DropReason::punt_rate;
    auto* slot = port.control->punted.claim();
    if (slot == nullptr) return DropReason::punt_full;
    bucket.spend(1, worker.now);
    const bool too_long = reason == DropReason::mtu_exceeded;
    slot->head = {*punt, too_long ? policy.ports[meta(packet).egress_port].mtu : std::uint16_t{0}};
    slot->bytes = packet->pkt_len;
    copy_frame(packet, slot->data.data());
    port.control->punted.post();
    worker.punts.add(1);
    port.counters.punted[number].add(1);
    if (meta(packet).observed != 0) [[unlikely]]
        post_punt(worker, meta(packet), *punt);
    rte_pktmbuf_free(packet);
    return DropReason::none;
}

void describe(const PortPolicy& own, PortId port, Packet* packet, Bytes view) {
    const Parsed parsed = parse_any(view, packet->pkt_len, {{}, true});
    // Everything but unicast IP is network control.
    const bool ip = parsed.kind == FrameKind::ipv4 || parsed.kind == FrameKind::ipv6;
    PacketMeta& info = meta(packet) = PacketMeta{};
    info.treatment.traffic_class =
        ip ? traffic_class(parsed, own.map) : own.map.dscp_to_tc[network_control_dscp];
    info.priority_group = lossy_group(own, info.treatment.traffic_class);
    info.queue = own.map.tc_to_queue[info.treatment.traffic_class];
    info.frame_bytes = static_cast<std::uint16_t>(packet->pkt_len);
    info.ingress_port = info.egress_port = port;
    if (ip) info.treatment.ecn = EcnBits::of(parsed.ecn(), color_of(parsed.dscp()), parsed.cnp);
    info.l3_offset = parsed.l3_offset;
}

// Gives a mirror's frame the class of its DSCP if group and queue of that are lossy, else the first class
// that is lossy so. False: there is none.
bool make_lossy(const PortPolicy& own, Packet* packet) {
    PacketMeta& info = meta(packet);
    const auto is_lossy = [&](ClassId traffic_class) {
        return !own.group[own.map.tc_to_priority_group[traffic_class]].lossless &&
               !own.queue[own.map.tc_to_queue[traffic_class]].lossless;
    };
    ClassId traffic_class = info.treatment.traffic_class;
    if (!is_lossy(traffic_class))
        for (traffic_class = 0; traffic_class < classes && !is_lossy(traffic_class);) ++traffic_class;
    if (traffic_class == classes) return false;
    info.treatment.traffic_class = traffic_class;
    info.priority_group = own.map.tc_to_priority_group[traffic_class];
    info.queue = own.map.tc_to_queue[traffic_class];
    std::uint8_t* frame = frame_bytes(packet);
    if (load_be<std::uint16_t>(frame + 12) == ether_type::vlan)  // PCP from the class, as of a routed packet
        frame[14] = static_cast<std::uint8_t>((frame[14] & 0x1FU) | traffic_class << 5U);
    return true;
}

bool admit(WorkerContext& worker, PortContext& port, PacketMeta& info) {
    const Policy& policy = *worker.policy;
    const std::uint32_t cells = policy.cell.cells(info.frame_bytes);
    const ClassId number = info.priority_group;
    const GroupLimits& limits = policy.ports[port.id].group[number];
    PoolBursts pools(worker.shared.ingress_use, policy.ingress_pools, cells);
    if (!is_admitted(port.group[number].admit(limits, pools[limits.pool], cells))) {
        port.counters.group[number].dropped.add(1);
        return false;
    }
    info.cells = static_cast<std::uint16_t>(cells);
    port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use | 1U << number);
    return true;
}

}  // namespace

ClassId lossy_group(const PortPolicy& own, ClassId traffic_class) {
    const ClassId wanted = own.map.tc_to_priority_group[traffic_class];
    if (!own.group[wanted].lossless) return wanted;
    for (unsigned n = classes; n-- > 0;)
        if (!own.group[n].lossless) return static_cast<ClassId>(n);
    return wanted;
}

[[gnu::cold, gnu::noinline]] void refuse(WorkerContext& worker, Packet* packet, DropReason reason) {
    PortContext& port = *worker.shared.ports[meta(packet).ingress_port];
    if (port.control && worker.policy->ports[port.id].punts) reason = punt(worker, port, packet, reason);
    if (reason != DropReason::none) drop(worker, packet, reason);
}

bool inject_next(WorkerContext& worker, Time now) {
    if (!has_injection(worker)) return false;
    PortContext& port = *worker.shared.ports[worker.injections->front()];
    const auto& slot = *port.control->injected.front();
    Packet* packet = make_packet(worker.packet_pool, slot.frame(), false);
    if (packet == nullptr) return false;
    const InjectHead head = slot.head;
    if (head.origin != InjectHead::Origin::returned)
        describe(worker.policy->ports[port.id], port.id, packet,
                 slot.frame().first(std::min<std::size_t>(slot.bytes, parse_view_bytes)));
    port.control->injected.pop();
    worker.injections->pop();
    PacketMeta& info = meta(packet);
    info.arrival = now;
    if (head.origin == InjectHead::Origin::returned) {
        port.counters.returned.add(1);
        route_again(worker, port, packet, head.drop);
        return true;
    }
    const bool mirrored = head.origin == InjectHead::Origin::mirrored;
    (mirrored                                   ? port.counters.mirrored
     : head.origin == InjectHead::Origin::reply ? port.counters.replied
                                                : port.counters.injected)
        .add(1);
    if ((!mirrored || make_lossy(worker.policy->ports[port.id], packet)) && admit(worker, port, info))
        enqueue(worker, {&packet, 1}, now);
    else
        drop(worker, packet, DropReason::ingress_limit);
    return true;
}

}  // namespace sluice
