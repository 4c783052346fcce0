#include "dataplane/path/note_spells.hh"

#include <array>

#include "dataplane/path/mirror.hh"
#include "dataplane/path/post_decisions.hh"
#include "lib/frame/parse.hh"

namespace sluice {
namespace {

constexpr std::int32_t never = INT32_MAX;

// Uniform from 1 to twice the mean: a fixed interval could sample one flow only where flows take turns.
std::int32_t next_interval(PortContext& port) {
    port.sample_draw = port.sample_draw * 1'664'525U + 1'013'904'223U;
    return static_cast<std::int32_t>(1 + (port.sample_draw >> (31 - log2_sample_interval)));
}

QueueFeeders feeders_of(const FillBoard& fill, ClassId group, const GroupPaused::Filler& queue) {
    QueueFeeders feeders;
    fill.for_each_feeder(
        group, queue.port, queue.queue, [&](PortId from, ClassId number, std::uint32_t cells) {
            add_most_first(std::span(feeders.from), feeders.count, {cells, from, number}, feeders.others);
        });
    return feeders;
}

// True when the drop belongs to the egress port: the packet had been admitted.
bool at_egress(const PacketMeta& info, bool sent) { return sent || info.cells != 0; }

FlowKey flow_of(Packet* packet) {
    std::array<std::uint8_t, parse_view_bytes> copy;
    const auto view = first_bytes(packet, copy);
    return flow_key(parse_any(view, packet->pkt_len, {{}, true}), view);
}

}  // namespace

void sample_some(WorkerContext& worker, PortContext& port, std::span<Packet* const> packets) {
    if (!port.recorder) {
        port.until_sample = never;
        return;
    }
    const PortPolicy& own = worker.policy->ports[port.id];
    while (port.until_sample <= 0) {
        const auto place = static_cast<std::int32_t>(packets.size()) - 1 + port.until_sample;
        port.until_sample += next_interval(port);
        if (place < 0) continue;  // the first one ever
        PacketMeta& info = meta(packets[static_cast<unsigned>(place)]);
        if (!own.group[info.priority_group].lossless || (info.observed & observed_fill) != 0) continue;
        info.observed |= observed_fill;
        worker.shared.fill->entered({info.ingress_port, info.priority_group, info.egress_port, info.queue},
                                    info.cells);
    }
}

void note_pause(WorkerContext& worker, PortContext& port, ClassId group, PoolView pool, XoffSignal signal) {
    PortRecorder& recorder = *port.recorder;
    if (signal == XoffSignal::send_xon) return recorder.xon_sent(group, worker.now);
    if (!recorder.begins_spell(group, worker.now)) {
        const GroupLimits& limits = worker.policy->ports[port.id].group[group];
        return recorder.xoff_sent(group, worker.now, port.pause_peer && !port.group[group].over(limits, pool),
                                  nullptr);
    }
    PortRecorder::Start start;
    start.group = pause_of(worker, port, group, pool, signal);
    start.all_counted = is_recording(worker);
    if (start.group.filler_count != 0)
        start.feeders = feeders_of(*worker.shared.fill, group, start.group.fillers[0]);
    recorder.xoff_sent(group, worker.now, start.group.behind, &start);
}

void end_pauses(PortContext& port, Time now) {
    port.honor.expire(now);
    note_obeyed(port, now);
}

void note_storm(PortContext& port, ClassId queue, bool begins, Time now) {
    if (!port.recorder) return;
    const WatchdogCounters& counters = port.watchdog.counters[queue];
    PortNote note;
    note.at = now;
    note.kind = begins ? PortNote::Kind::storm_begins : PortNote::Kind::storm_ends;
    note.queue = queue;
    note.action = static_cast<WatchdogAction>(counters.action.get());
    note.passed = counters.storm_passed.get();
    note.dropped = counters.storm_dropped.get();
    port.recorder->storm(note);
}

void note_drop(WorkerContext& worker, Packet* packet, DropReason reason, bool sent) {
    const PacketMeta& info = meta(packet);
    const bool egress = at_egress(info, sent);
    const bool routed = egress || reason == DropReason::ingress_limit ||
                        reason == DropReason::headroom_overrun || reason == DropReason::watchdog_drop;
    if (worker.policy->mirrors.wants(MirrorEvent::drop)) mirror_drop(worker, packet, reason, routed);
    const PortId at = egress ? info.egress_port : info.ingress_port;
    // Only the owner writes to a port's recorder; drops by other pollers are in the counters.
    if (worker.shared.owner[at] != worker.id) return;
    PortRecorder* recorder = worker.shared.ports[at]->recorder.get();
    if (recorder == nullptr) return;
    const PortRecorder::Drop drop{reason,
                                  info.ingress_port,
                                  routed ? std::optional(info.egress_port) : std::nullopt,
                                  info.treatment.traffic_class,
                                  info.priority_group,
                                  routed ? info.queue : ClassId{0},
                                  info.treatment.lossless,
                                  info.frame_bytes};
    recorder->dropped(drop, worker.now, recorder->goes_on(drop, worker.now) ? FlowKey{} : flow_of(packet));
}

}  // namespace sluice
