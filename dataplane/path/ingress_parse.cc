// The first step of the ingress half: a frame's headers, its class and its priority group.
#include <rte_prefetch.h>

#include <vector>

#include "dataplane/path/decisions.hh"
#include "dataplane/path/ingress_stages.hh"
#include "lib/frame/parse_usual.hh"

namespace sluice {
namespace {

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

// For any headers in any segments: afterwards they lie in the first segment, up to the IP header's end.
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

// The packet's class_key(), or not_usual: it is to be parsed whole.
template <unsigned tags>
[[gnu::always_inline]] inline int parse_shortcut(Packet* packet, const UsualFrames<tags>& usual,
                                                 Parsed& parsed) {
    const std::uint8_t* first = frame_bytes(packet);
#ifdef SLUICE_EXACT_VIEWS
    const std::vector<std::uint8_t> exact(first, first + packet->data_len);
    first = exact.data();
#endif
    return packet->packet_type != packet_type_truncated
               ? parse_usual(first, packet->data_len, packet->pkt_len, usual, parsed)
               : not_usual;
}

[[gnu::noinline, gnu::cold]] void take_mac_control(WorkerContext& worker, PortId port, const Batch& batch,
                                                   Packet* packet) {
    if (batch.queue != nullptr)
        hand_off_frame(*batch.queue, packet, HandedOffFrame::Kind::mac_control);
    else
        consume(worker, *worker.shared.ports[port], packet);
}

// Of the packets of a burst that are not of the most usual.
struct Unusual {
    std::uint64_t other_bytes = 0;  // of packets in no group
    ClassWay by_rules;              // of the packet at hand, where no table has it
    Refused refused;
};
static_assert(burst_size < 256, "kinds are counted in bytes");

// A packet that is not of the most usual, number `at` of the batch: its way, or null when it is taken in or
// refused.
[[gnu::noinline]] const ClassWay* parse_unusual(WorkerContext& worker, PortId id, std::uint64_t sequence,
                                                Batch& batch, unsigned at, Packet* packet, Unusual& unusual) {
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
    if (is_recording(worker)) record_arrival(worker, packet, parsed);
    batch.packet[at] = packet;
    unusual.refused.add(at, parsed.drop);
    return nullptr;
}

// The first one is kept, for the user to compare with the port's.
[[gnu::noinline, gnu::cold]] void note_foreign_mac(ReceiveCounters& counters, const Batch& batch,
                                                   const Refused& refused) {
    if (counters.foreign_mac.is_set()) return;
    for (unsigned i = 0; i < batch.count; ++i)
        if ((refused.which >> i & 1U) != 0 && refused.why[i] == DropReason::not_for_us) {
            counters.foreign_mac.set(frame_bytes(batch.packet[i]));
            return;
        }
}

template <bool recording>
[[gnu::always_inline]] inline void parse_all(WorkerContext& worker, PortId id, ReceiveCounters& counters,
                                             ReceiveState& state, std::span<Packet* const> burst,
                                             Batch& batch) {
    const PortPolicy& policy = worker.policy->ports[id];
    const ClassTable& ways = *policy.ways;
    const CellSize cell = worker.policy->cell;
    const std::uint64_t first = state.next_sequence;
    TrafficSums groups;
    std::uint32_t all_cells = 0;
    std::uint32_t kinds = 0;
    unsigned at = 0;
    Unusual unusual;
    Packet* const* const handed_over = worker.handed_over.next_metas(burst.size());
    for (Packet* packet : burst) {
        rte_prefetch0(&meta(handed_over[at]));
        // Made where it stays: a copy of bytes written one by one would wait for the stores.
        Parsed& parsed = batch.parsed[at];
        const ClassWay* way = nullptr;
        if (const int key = parse_shortcut(packet, policy.usual, parsed); key != not_usual) [[likely]]
            way = &ways.way(static_cast<unsigned>(key));
        else if (way = parse_unusual(worker, id, first + at, batch, at, packet, unusual); way == nullptr) {
            at += unusual.refused.which >> at & 1U;
            continue;
        }
        describe(id, first + at, packet, *way, DropReason::none);
        if constexpr (recording) record_arrival(worker, packet, parsed);
        const std::uint32_t bytes = packet->pkt_len;
        const std::uint32_t cells = cell.cells(bytes);
        groups.add(way->priority_group, bytes);
        all_cells += cells;
        kinds += way->kinds;
        batch.packet[at] = packet;
        batch.cells[at++] = cells;
    }
    batch.count = at;
    batch.all_cells = all_cells;
    state.next_sequence = first + at;
    std::uint64_t all_bytes = unusual.other_bytes;
    groups.for_each([&](unsigned n, std::uint64_t frames, std::uint64_t bytes) {
        counters.group_rx[n].add(frames, bytes);
        all_bytes += bytes;
    });
    counters.rx.add(burst.size(), all_bytes);
    count_kinds(counters, kinds);
    if (unusual.refused.which != 0) [[unlikely]] {
        note_foreign_mac(counters, batch, unusual.refused);
        drop_refused(worker, batch, unusual.refused);
    }
}

}  // namespace

void parse_stage(WorkerContext& worker, PortId id, ReceiveCounters& counters, ReceiveState& state,
                 std::span<Packet* const> burst, Batch& batch) {
    if (is_recording(worker)) [[unlikely]]
        parse_all<true>(worker, id, counters, state, burst, batch);
    else
        parse_all<false>(worker, id, counters, state, burst, batch);
}

DropReason parse_again(WorkerContext& worker, PortContext& port, Packet* packet, Batch& batch) {
    const PortPolicy& own = worker.policy->ports[port.id];
    batch.count = 1;
    batch.packet[0] = packet;
    Parsed& parsed = batch.parsed[0];
    parsed = parse_whole(packet, own.station);
    describe(port.id, port.receive.next_sequence++, packet, own.ways->by_rules(parsed), parsed.drop);
    if (is_recording(worker)) record_arrival(worker, packet, parsed);
    batch.all_cells = batch.cells[0] = worker.policy->cell.cells(packet->pkt_len);
    return parsed.drop;
}

}  // namespace sluice
