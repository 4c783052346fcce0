// The first step of the ingress half, for any frame: headers, class, priority group. Most frames take the
// shortcut of ingress_parse_usual.cc.

#include "dataplane/path/ingress_parse.hh"
#include "dataplane/path/post_decisions.hh"

namespace sluice {
namespace {

// Parses headers in any segments; afterwards they lie in the first segment, up to the IP header's end.
Parsed parse_whole(Packet* packet, const Station& station) {
    std::array<std::uint8_t, parse_view_bytes> copy;
    auto view = first_bytes(packet, copy);
#ifdef SLUICE_EXACT_VIEWS
    // Sanitizers do not watch EAL memory: an exact heap copy shows a byte read too far.
    const std::vector<std::uint8_t> exact(view.begin(), view.end());
    view = exact;
#endif
    Parsed parsed = parse_any(view, packet->pkt_len, station);
    if (parsed.kind != FrameKind::ipv4 && parsed.kind != FrameKind::ipv6) return parsed;
    const std::uint32_t header_bytes =
        parsed.kind == FrameKind::ipv4 ? sizeof(Ipv4Header) : sizeof(Ipv6Header);
    if (parsed.drop == DropReason::none && !make_contiguous(packet, parsed.l3_offset + header_bytes))
        parsed.drop = DropReason::headers_too_long;
    return parsed;
}

[[gnu::noinline, gnu::cold]] void take_mac_control(WorkerContext& worker, PortId port, const Batch& batch,
                                                   Packet* packet) {
    if (batch.queue != nullptr)
        hand_off_frame(*batch.queue, packet, HandedOffFrame::Kind::mac_control);
    else
        consume(worker, *worker.shared.ports[port], packet);
}

}  // namespace

const ClassWay* parse_unusual(WorkerContext& worker, PortId id, std::uint64_t sequence, Batch& batch,
                              unsigned at, Packet* packet, Unusual& unusual) {
    const PortPolicy& policy = worker.policy->ports[id];
    Parsed& parsed = batch.parsed[at];
    if (parse_shortcut(packet, policy.usual_tagged, parsed) == not_usual)
        parsed = parse_whole(packet, policy.station);
    if (parsed.kind == FrameKind::mac_control) {
        unusual.other_bytes += packet->pkt_len;
        take_mac_control(worker, id, batch, packet);
        return nullptr;
    }
    if (packet->packet_type == packet_type_truncated) parsed.drop = DropReason::truncated_capture;
    const ClassWay* way = &unusual.by_rules;
    if (policy.ways->has(parsed))
        way = &policy.ways->way(parsed.class_key());
    else
        unusual.by_rules = policy.ways->by_rules(parsed);
    if (parsed.drop == DropReason::none) [[likely]]
        return way;
    unusual.other_bytes += packet->pkt_len;
    describe(id, sequence, packet, *way, parsed.drop);
    if (is_recording(worker)) post_arrival(worker, packet, parsed);
    batch.packet[at] = packet;
    unusual.refused.add(at, parsed.drop);
    return nullptr;
}

DropReason parse_again(WorkerContext& worker, PortContext& port, Packet* packet, Batch& batch) {
    const PortPolicy& own = worker.policy->ports[port.id];
    batch.count = 1;
    batch.packet[0] = packet;
    Parsed& parsed = batch.parsed[0];
    parsed = parse_whole(packet, own.station);
    describe(port.id, port.receive.next_sequence++, packet, own.ways->by_rules(parsed), parsed.drop);
    if (is_recording(worker)) post_arrival(worker, packet, parsed);
    batch.all_cells = batch.cells[0] = worker.policy->cell.cells(packet->pkt_len);
    return parsed.drop;
}

}  // namespace sluice
