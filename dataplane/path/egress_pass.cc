#include "dataplane/path/egress_pass.hh"

#include <bit>

#include "dataplane/path/congestion.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

// The place and start of a queue's next packet.
struct Next {
    Packet** place;
    Time start;
};

// Wire bytes of all packets, if they leave queue by queue, unmarked, and can be counted by sums; else 0. The
// first of a queue leaves most behind: if it is not marked, none is.
std::uint32_t plain_wire_bytes(const Policy& policy, const PortContext& port, Time now) {
    const PortPolicy& own = policy.ports[port.id];
    std::array<std::uint32_t, classes> wire_bytes;
    std::uint32_t all = 0;
    for (unsigned left = port.backlog; left != 0; left &= left - 1) {
        const auto queue = static_cast<unsigned>(std::countr_zero(left));
        const QueueSum& sum = port.aside.sum(queue);
        const std::uint64_t most_behind = std::uint64_t{sum.cells() - 1} * policy.cell.bytes();
        for (unsigned kinds = sum.ecn_kinds(); kinds != 0; kinds &= kinds - 1)
            if (most_behind >= unmarked_below_bytes(policy, own.wred[queue], QueueSum::first_of(kinds)))
                return 0;
        wire_bytes[queue] = sum.wire_bytes();
        all += sum.wire_bytes();
    }
    const bool at_once =
        port.link.can_start_all(now, all) && port.scheduler.empties_by_queue(port.backlog, wire_bytes);
    return at_once ? all : 0;
}

// Gives back the cells that ingress charged, and puts each packet at its queue's next place. It calls rare
// functions only, so that nothing is spilled.
[[gnu::noinline]] void place_all(WorkerContext& worker, const PortContext& port,
                                 std::array<Next, classes>& next) {
    const ReleaseBoard::Poster releases = worker.shared.releases.poster(worker.id);
    const Duration byte_time = port.link.byte_time();
    for (Packet* packet : port.aside.packets()) {
        // The buffer is soon this worker's to receive into, and its frame another core's line.
        rte_prefetch0_write(next_frame(packet));
        PacketMeta& info = meta(packet);
        Next& here = next[info.queue];
        *here.place++ = packet;
        info.departure = here.start;
        here.start = here.start + byte_time * wire_bytes(info.frame_bytes);
        release(worker, releases, packet, {info.ingress_port, info.priority_group, port.id, info.queue},
                info.cells, info.observed);
    }
}

// Packets of a queue that differ in their ECN.
[[gnu::noinline]] void count_one_by_one(PortContext& port, ClassId queue) {
    for (Packet* packet : port.aside.packets())
        if (const PacketMeta& info = meta(packet); info.queue == queue)
            count_taken(port.counters, queue, info.treatment.ecn, {}, 1);
}

}  // namespace

[[gnu::noinline]] unsigned pass(WorkerContext& worker, PortContext& port, Time now) {
    const Policy& policy = *worker.policy;
    const auto count = static_cast<unsigned>(port.aside.packets().size());
    if (count > port.out.room()) return 0;
    const std::uint32_t bytes = plain_wire_bytes(policy, port, now);
    if (bytes == 0) return 0;
    std::array<Next, classes> next;
    Packet** place = port.out.extend(count).data();
    Time start = port.link.start_all(now, bytes);
    port.scheduler.empty_by_queue(port.backlog, [&](ClassId number) {
        const QueueSum& sum = port.aside.sum(number);
        EgressQueue& queue = port.queue[number];
        next[number] = {place, start};
        place += sum.packets();
        start = start + port.link.byte_time() * sum.wire_bytes();
        const bool reserved = queue.use.release_reserved(sum.cells());
        assert(reserved && "an empty queue has no shared cells");
        SLUICE_INVARIANT(queue.holds_its_packets());
        queue.wred.became_empty(now);
        port.out.add_run(number, sum.packets(), sum.frame_bytes());
        if (std::has_single_bit(sum.ecn_kinds())) [[likely]]
            count_taken(port.counters, number, QueueSum::first_of(sum.ecn_kinds()), {}, sum.packets());
        else
            count_one_by_one(port, number);
    });
    place_all(worker, port, next);
    port.aside.clear();
    port.backlog = 0;
    return count;
}

[[gnu::noinline]] void queue_aside(WorkerContext& worker, PortContext& port, Time now) {
    for (Packet* packet : port.aside.packets()) {
        PacketMeta& info = meta(packet);
        port.queue[info.queue].packets.push(worker.chunks, entry_of(packet));
        info.enqueued = now;
    }
    port.aside.clear();
}

}  // namespace sluice
