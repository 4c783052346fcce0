#include "dataplane/path/ingress.hh"

#include <rte_prefetch.h>

#include <algorithm>

#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/mirror.hh"
#include "dataplane/path/note_spells.hh"
#include "dataplane/path/punt.hh"
#include "lib/pfc/pfc_frame.hh"

namespace sluice {
namespace {

// Measures from the arrival of a pause until it is obeyed.
void begin_to_obey(WorkerContext& worker, PortContext& port) {
    if (port.out.empty() && port.reactions.sent_early != worker.now)
        worker.reactions->pause_obeyed.record(worker.now - worker.last_turn);
    else if (!port.reactions.heard)
        port.reactions.heard = true, port.reactions.heard_since = worker.last_turn;
}

void watch_load(WorkerContext& worker, PortContext& port, unsigned received, Time now) {
    const bool full = come_full(port.receive, received);
    pause_peer(worker, port, port.io->falls_behind(now).value_or(full) || is_behind_elsewhere(port));
}

}  // namespace

void consume(WorkerContext& worker, PortContext& port, Packet* packet) {
    const PortPolicy& policy = worker.policy->ports[port.id];
    auto& counters = port.counters;
    counters.consumed.add(1);
    std::array<std::uint8_t, parse_view_bytes> copy;
    const MacControl control = decode_mac_control(first_bytes(packet, copy), policy.station.mac);
    if (control.kind == MacControl::Kind::pause && control.addressed) {
        counters.pfc.rx_pause_global.add(1);
    } else if (control.kind == MacControl::Kind::pfc && control.addressed) {
        if (worker.policy->mirrors.wants(MirrorEvent::pause))
            mirror_pause(worker, port.id, packet, control.map, false);
        const Time start = meta(packet).arrival;
        const Time end = start + policy.speed.byte_time() * wire_bytes(pfc_frame_bytes);
        const std::uint8_t paused = port.honor.unexpired();
        // A link hands a pause over when the reaction time has passed. Pauses from before the link went down
        // are forgotten.
        const Time obeyed = max(end, worker.now);
        if (port.link_up) {
            port.honor.expire(start);
            note_obeyed(port, start);
            port.honor.receive(control.map, start, end, obeyed, policy.speed, policy.pfc_honors);
            note_obeyed(port, obeyed);
        }
        if (worker.reactions && (port.honor.unexpired() & ~paused) != 0) begin_to_obey(worker, port);
    } else {
        counters.pfc.rx_unknown.add(1);
    }
    rte_pktmbuf_free(packet);
}

[[gnu::cold]] void drop_refused(WorkerContext& worker, Batch& batch, const Refused& refused) {
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

namespace {

// A mailbox holds every packet there is, so none is refused.
[[gnu::noinline]] void hand_off_to_workers(WorkerContext& worker, const Batch& batch) {
    Shared& shared = worker.shared;
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

}  // namespace

void hand_off_stage(WorkerContext& worker, const Batch& batch) {
    if (worker.shared.workers != 1) {
        hand_off_to_workers(worker, batch);
        return;
    }
    SLUICE_INVARIANT(worker.local.count + batch.count <= worker.local.packets.size());
    Packet** const place = worker.local.packets.data() + worker.local.count;
    for (unsigned i = 0; i < batch.count; ++i) place[i] = batch.packet[i];
    worker.local.count += batch.count;
}

bool come_full(ReceiveState& state, unsigned received) {
    constexpr unsigned many = 8;
    state.full_bursts = received < burst_size
                            ? std::uint8_t{0}
                            : static_cast<std::uint8_t>(std::min<unsigned>(state.full_bursts + 1U, many));
    return state.full_bursts == many;
}

[[gnu::cold]] void route_again(WorkerContext& worker, PortContext& port, Packet* packet, DropReason reason) {
    Batch batch;
    const DropReason malformed = parse_again(worker, port, packet, batch);
    if (reason == DropReason::none) reason = malformed;
    if (reason != DropReason::none) {
        drop(worker, packet, reason);
        return;
    }
    meta(packet).priority_group =
        lossy_group(worker.policy->ports[port.id], meta(packet).treatment.traffic_class);
    lookup_stage(*worker.policy, batch);
    route_stage(worker, port.receive, batch);
    admit_stage(worker, port, batch);
    hand_off_stage(worker, batch);
}

template <class Meter>
unsigned ingress(WorkerContext& worker, PortContext& port, Time now, Meter& meter) {
    std::array<Packet*, burst_size> burst;
    const unsigned received = port.io->receive(burst, now);
    watch_load(worker, port, received, now);
    meter.lap(received == 0 ? Stage::turn : Stage::receive, received);
    if (received == 0) return 0;
    for (unsigned i = 0; i < received; ++i) rte_prefetch0(frame_bytes(burst[i]));
    if (port.wire) [[unlikely]] {
        take_through_wire(worker, port, std::span(burst).first(received), now);
        meter.lap(Stage::admit, received);
        return received;
    }
    Batch batch;
    parse_stage(worker, port.id, port.counters, port.receive, std::span(burst).first(received), batch);
    meter.lap(Stage::parse, received);
    if (batch.count == 0) return received;
    lookup_stage(*worker.policy, batch);
    meter.lap(Stage::lookup, batch.count);
    route_stage(worker, port.receive, batch);
    meter.lap(Stage::route, batch.count);
    admit_batch(worker, port, batch, now, meter);
    return received;
}

template unsigned ingress(WorkerContext&, PortContext&, Time, NoLaps&);
template unsigned ingress(WorkerContext&, PortContext&, Time, Laps&);

}  // namespace sluice
