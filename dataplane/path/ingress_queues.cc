// Ports with several receive queues: the poller's part, and the owner's.
#include <rte_prefetch.h>

#include <algorithm>

#include "dataplane/path/ingress.hh"
#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/punt.hh"

namespace sluice {
namespace {

void say_behind(ReceiveQueue& queue, bool behind) {
    if (behind == queue.is_behind.load(std::memory_order_relaxed)) return;
    queue.is_behind.store(behind, std::memory_order_relaxed);
    if (behind) queue.behind.add(1);
}

// True when the queue's device may be polled. While the link is down control may have closed it.
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

// Hands the batch off in order, each frame with the cells that it needs.
[[gnu::noinline]] void hand_off_stage(const Batch& batch) {
    std::array<HandedOffFrame, burst_size> frames;
    for (unsigned i = 0; i < batch.count; ++i)
        frames[i] = {batch.packet[i], HandedOffFrame::Kind::data, DropReason::none,
                     static_cast<std::uint16_t>(batch.cells[i])};
    [[maybe_unused]] const std::size_t posted =
        batch.queue->handed_off.post(std::span(frames).first(batch.count));
    assert(posted == batch.count);
}

// Sorts frames that other workers received: data stays in the batch, to be admitted.
[[gnu::noinline]] void sort_stage(WorkerContext& worker, PortContext& port,
                                  std::span<const HandedOffFrame> frames, Batch& batch) {
    const PortPolicy& own = worker.policy->ports[port.id];
    std::uint32_t all_cells = 0;
    unsigned kept = 0;
    for (const HandedOffFrame& frame : frames) {
        PacketMeta& info = meta(frame.packet);
        switch (frame.kind) {
            case HandedOffFrame::Kind::data:
                // The poller may run another policy than ours; ours decides.
                info.treatment.lossless = own.group[info.priority_group].lossless;
                batch.packet[kept] = frame.packet;
                batch.cells[kept++] = frame.cells;
                all_cells += frame.cells;
                break;
            case HandedOffFrame::Kind::mac_control:
                consume(worker, port, frame.packet);
                break;
            case HandedOffFrame::Kind::refused:
                refuse(worker, frame.packet, frame.refusal);
                break;
        }
    }
    batch.count = kept;
    batch.all_cells = all_cells;
}

}  // namespace

void hand_off_frame(ReceiveQueue& queue, Packet* packet, HandedOffFrame::Kind kind, DropReason refusal) {
    const HandedOffFrame frame{packet, kind, refusal, 0};
    [[maybe_unused]] const std::size_t posted = queue.handed_off.post({&frame, 1});
    assert(posted == 1);
}

void refuse_for_owner(WorkerContext& worker, ReceiveQueue& queue, Packet* packet, DropReason reason) {
    if (worker.policy->ports[queue.port].punts)
        hand_off_frame(queue, packet, HandedOffFrame::Kind::refused, reason);
    else
        drop(worker, packet, reason);
}

template <class Meter>
unsigned receive_for_owner(WorkerContext& worker, ReceiveQueue& queue, Time now, Meter& meter) {
    if (!may_poll(worker.shared, queue) || worker.shared.draining.load(std::memory_order_relaxed)) return 0;
    if (queue.handed_off.room() < burst_size) {  // the owner falls behind
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
    lookup_stage(*worker.policy, batch);
    meter.lap(Stage::lookup, batch.count);
    route_stage(worker, queue.state, batch);
    meter.lap(Stage::route, batch.count);
    hand_off_stage(batch);
    meter.lap(Stage::hand_off, batch.count);
    return received;
}

template <class Meter>
unsigned receive_handed_off(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    std::array<HandedOffFrame, burst_size> frames;
    unsigned total = 0;
    for (const auto& queue : port.more_receive_queues) {
        // Only the frames that are there now: the poller goes on meanwhile.
        for (std::size_t left = queue->handed_off.size(); left != 0;) {
            const auto count = static_cast<unsigned>(
                queue->handed_off.collect(std::span(frames).first(std::min<std::size_t>(left, burst_size))));
            left -= count;
            total += count;
            for (unsigned i = 0; i < count; ++i) rte_prefetch0(&meta(frames[i].packet));
            Batch batch;
            sort_stage(worker, port, std::span(frames).first(count), batch);
            meter.lap(Stage::receive, count);
            admit_batch(worker, port, batch, now, meter);
        }
    }
    return total;
}

template unsigned receive_for_owner(WorkerContext&, ReceiveQueue&, Time, NoLaps&);
template unsigned receive_for_owner(WorkerContext&, ReceiveQueue&, Time, Laps&);
template unsigned receive_handed_off(WorkerContext&, PortContext&, Time, NoLaps&);
template unsigned receive_handed_off(WorkerContext&, PortContext&, Time, Laps&);

}  // namespace sluice
