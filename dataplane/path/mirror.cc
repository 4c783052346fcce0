#include "dataplane/path/mirror.hh"

#include <algorithm>
#include <array>

#include "dataplane/path/egress_pass.hh"
#include "lib/record/erspan.hh"
#include "lib/record/mirror_ring.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

void post(WorkerContext& worker, Packet* packet, MirrorHead& head) {
    const MirrorPolicy& policy = worker.policy->mirrors;
    head.mirrors = policy.wanted_by(head);
    if (head.mirrors == 0) return;
    std::array<std::uint8_t, parse_view_bytes> copy;
    const auto view = first_bytes(packet, copy);
    if (is_erspan(view)) return;
    MirrorRing& ring = *policy.rings[worker.id];
    auto* slot = ring.frames.claim();
    if (slot == nullptr) {
        for_each_class(head.mirrors, [&](unsigned n) { ring.lost[n].add(1); });
        return;
    }
    slot->head = head;
    slot->bytes = static_cast<std::uint32_t>(std::min<std::size_t>(view.size(), policy.bytes));
    std::copy_n(view.begin(), slot->bytes, slot->data.begin());
    ring.frames.post();
}

MirrorHead head_of(const WorkerContext& worker, const PacketMeta& info, MirrorEvent event, bool routed) {
    MirrorHead head;
    head.at = worker.now;
    head.event = event;
    head.sequence = info.sequence;
    head.ingress = info.ingress_port;
    head.frame_bytes = info.frame_bytes;
    head.of_classes = static_cast<std::uint8_t>(1U << info.treatment.traffic_class);
    head.lossless = info.treatment.lossless;
    if (routed) {
        head.egress = info.egress_port;
        head.queue = info.queue;
    }
    return head;
}

}  // namespace

static_assert(max_mirrored_bytes <= parse_view_bytes && max_mirrors <= classes);

void mirror_drop(WorkerContext& worker, Packet* packet, DropReason reason, bool routed) {
    MirrorHead head = head_of(worker, meta(packet), MirrorEvent::drop, routed);
    head.reason = reason;
    post(worker, packet, head);
}

void mirror_delays(WorkerContext& worker, std::span<const Picked> picked, Time now) {
    for (const Picked& frame : picked) {
        auto* packet = static_cast<Packet*>(frame.entry.packet());
        const Duration waited = now - meta(packet).enqueued;
        if (waited < worker.policy->mirrors.min_wait) continue;
        MirrorHead head = head_of(worker, meta(packet), MirrorEvent::delay, true);
        head.waited = waited;
        post(worker, packet, head);
    }
}

void mirror_pause(WorkerContext& worker, PortId port, Packet* packet, const PauseMap& map, bool sent) {
    MirrorHead head;
    head.at = worker.now;
    head.event = MirrorEvent::pause;
    (sent ? head.egress : head.ingress) = port;
    head.frame_bytes = static_cast<std::uint16_t>(packet->pkt_len);
    head.of_classes = map.class_enable;
    post(worker, packet, head);
}

}  // namespace sluice
