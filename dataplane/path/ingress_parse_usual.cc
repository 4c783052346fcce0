// The first step of the ingress half, for a burst: the usual frames are parsed here, by
// lib/frame/parse_usual, and counted together.
#include <rte_prefetch.h>

#include <type_traits>

#include "dataplane/path/ingress_parse.hh"
#include "dataplane/path/post_decisions.hh"

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

// The same for a burst of one.
class OneFrame {
  public:
    void add(ClassId n, std::uint32_t frame_bytes) {
        class_ = n;
        bytes_ = frame_bytes;
    }
    template <class Take>
    void for_each(Take take) const {
        if (bytes_ != 0) take(class_, 1, bytes_);
    }

  private:
    ClassId class_ = 0;
    std::uint32_t bytes_ = 0;
};

// Keeps the first foreign MAC, for the user to compare with the port's.
[[gnu::noinline, gnu::cold]] void note_foreign_mac(ReceiveCounters& counters, const Batch& batch,
                                                   const Refused& refused) {
    if (counters.foreign_mac.is_set()) return;
    for (unsigned i = 0; i < batch.count; ++i)
        if ((refused.which >> i & 1U) != 0 && refused.why[i] == DropReason::not_for_us) {
            counters.foreign_mac.set(frame_bytes(batch.packet[i]));
            return;
        }
}

// `frames`: of the burst, or std::dynamic_extent.
template <bool recording, std::size_t frames>
[[gnu::always_inline]] inline void parse_all(WorkerContext& worker, PortId id, ReceiveCounters& counters,
                                             ReceiveState& state, std::span<Packet* const, frames> burst,
                                             Batch& batch) {
    const PortPolicy& policy = worker.policy->ports[id];
    const ClassTable& ways = *policy.ways;
    const CellSize cell = worker.policy->cell;
    const std::uint64_t first = state.next_sequence;
    std::conditional_t<frames == 1, OneFrame, TrafficSums> groups;
    std::uint32_t all_cells = 0;
    std::uint32_t kinds = 0;
    unsigned at = 0;
    Unusual unusual;
    Packet* const* const handed_over = worker.handed_over.next_metas(burst.size());
    for (Packet* packet : burst) {
        rte_prefetch0(&meta(handed_over[at]));
        // Made in place: a copy of bytes written one by one would wait for the stores.
        Parsed& parsed = batch.parsed[at];
        const ClassWay* way = nullptr;
        if (const int key = parse_shortcut(packet, policy.usual, parsed); key != not_usual) [[likely]]
            way = &ways.way(static_cast<unsigned>(key));
        else if (way = parse_unusual(worker, id, first + at, batch, at, packet, unusual); way == nullptr) {
            at += unusual.refused.which >> at & 1U;
            continue;
        }
        describe(id, first + at, packet, *way, DropReason::none);
        if constexpr (recording) post_arrival(worker, packet, parsed);
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
    groups.for_each([&](unsigned n, std::uint64_t packets, std::uint64_t bytes) {
        counters.group_rx[n].add(packets, bytes);
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
        return parse_all<true>(worker, id, counters, state, burst, batch);
    if (burst.size() == 1) return parse_all<false>(worker, id, counters, state, burst.first<1>(), batch);
    parse_all<false>(worker, id, counters, state, burst, batch);
}

}  // namespace sluice
