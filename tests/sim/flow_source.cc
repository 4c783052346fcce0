#include "tests/sim/flow_source.hh"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "lib/frame/checksum.hh"
#include "lib/frame/headers.hh"

namespace sluice::sim {
namespace {

constexpr std::size_t l3 = 14;
constexpr std::size_t mark_at = 42;  // behind UDP: flow, sequence
struct Mark {
    std::uint32_t from;
    std::uint32_t flow;
    std::uint64_t sequence;
};
static_assert(mark_at + sizeof(Mark) <= 60);

constexpr std::uint8_t first_injected_flow = 0xF8;  // one a priority: order is kept within a class

}  // namespace

FlowSource::~FlowSource() {
    for (const OnWire& frame : on_wire_) rte_pktmbuf_free(frame.packet);
}

std::uint8_t FlowSource::add(const Flow& flow) {
    assert(flows_.size() < first_injected_flow);
    flows_.push_back({flow, flow.start, 0, 0});
    return static_cast<std::uint8_t>(flows_.size() - 1);
}

void FlowSource::stop_flows() {
    for (Sender& sender : flows_) sender.flow.frames = sender.sent;
}

void FlowSource::inject(Time at, const Flow& flow, const std::vector<std::uint32_t>& sizes) {
    for (const std::uint32_t bytes : sizes) injected_.push_back({at, flow, bytes, injected_sequence_++});
}

std::uint64_t FlowSource::started() const {
    std::uint64_t sum = 0;
    for (const Sender& sender : flows_) sum += sender.sent;
    return sum;
}

std::optional<FlowSource::Next> FlowSource::next_start(const PauseSender& wire) const {
    std::optional<Next> best;
    if (!control_.empty()) best = Next{max(control_.front().at, wire.free_at()), -1};
    for (std::size_t i = 0; i < flows_.size(); ++i) {
        const Sender& sender = flows_[i];
        if (sender.sent >= sender.flow.frames) continue;
        const Time at = max(sender.ready, wire.earliest_start(sender.flow.priority));
        const bool better = !best || at < best->at ||
                            (at == best->at && best->flow >= 0 &&
                             sender.wire_bytes < flows_[static_cast<std::size_t>(best->flow)].wire_bytes);
        if (better) best = Next{at, static_cast<int>(i)};
    }
    return best;
}

Packet* FlowSource::allocate(std::uint32_t bytes) const {
    Packet* head = rte_pktmbuf_alloc(pool_);
    assert(head != nullptr && "the buffer refuses before the pool runs dry");
    Packet* segment = head;
    for (std::uint32_t left = bytes;;) {
        const std::uint32_t count = std::min<std::uint32_t>(left, packet_data_bytes);
        segment->data_len = static_cast<std::uint16_t>(count);
        left -= count;
        if (left == 0) break;
        segment->next = rte_pktmbuf_alloc(pool_);
        assert(segment->next != nullptr && "the buffer refuses before the pool runs dry");
        segment = segment->next;
        ++head->nb_segs;
    }
    head->pkt_len = bytes;
    return head;
}

Packet* FlowSource::data_frame(const Flow& flow, std::uint8_t number, std::uint64_t sequence,
                               std::uint32_t bytes) const {
    Packet* packet = allocate(bytes);
    std::uint8_t* frame = frame_bytes(packet);
    std::memset(frame, 0, 60);
    std::copy(switch_mac_.bytes.begin(), switch_mac_.bytes.end(), frame);
    frame[6] = 0x02;
    frame[11] = static_cast<std::uint8_t>(id_);
    store_be<std::uint16_t>(frame + 12, ether_type::ipv4);
    std::uint8_t* ip = frame + l3;
    ip[0] = 0x45;
    ip[1] = static_cast<std::uint8_t>(flow.dscp << 2 | static_cast<unsigned>(flow.ecn));
    store_be<std::uint16_t>(ip + 2, static_cast<std::uint16_t>(bytes - l3));
    ip[8] = 64;
    ip[9] = 17;
    const std::array<std::uint8_t, 8> addresses{10, 0, static_cast<std::uint8_t>(id_),     2,
                                                10, 0, static_cast<std::uint8_t>(flow.to), 2};
    std::copy(addresses.begin(), addresses.end(), ip + 12);
    store_be<std::uint16_t>(ip + 10, internet_checksum({ip, 20}));
    store_be<std::uint16_t>(frame + 34, static_cast<std::uint16_t>(1000 + number));
    store_be<std::uint16_t>(frame + 36, 9);
    store_be<std::uint16_t>(frame + 38, static_cast<std::uint16_t>(bytes - 34));
    const Mark mark{id_, number, sequence};
    std::memcpy(frame + mark_at, &mark, sizeof mark);
    return packet;
}

Started FlowSource::start(const Next& next, PauseSender& wire) {
    Packet* packet = nullptr;
    ClassId priority = PauseSender::no_class;
    if (next.flow < 0) {
        packet = allocate(pfc_frame_bytes);
        build_pfc_frame(std::span<std::uint8_t, pfc_frame_bytes>(frame_bytes(packet), pfc_frame_bytes),
                        MacAddress{{2, 0, 0, 0, 1, 0}}, control_.front().map);
        control_.pop_front();
    } else {
        Sender& sender = flows_[static_cast<std::size_t>(next.flow)];
        const std::uint32_t bytes = sender.flow.size(next.at);
        assert(bytes >= 60 && bytes <= max_frame_bytes);
        packet = data_frame(sender.flow, static_cast<std::uint8_t>(next.flow), sender.sent++, bytes);
        sender.wire_bytes += wire_bytes(bytes);
        priority = sender.flow.priority;
        sender.ready = sender.flow.interval.ps == 0 ? next.at : sender.ready + sender.flow.interval;
    }
    wire.started(priority, wire_bytes(packet->pkt_len));
    meta(packet).arrival = next.at;
    if (!at_end_) return {packet, false};
    on_wire_.push_back({packet, wire.free_at()});
    return {};
}

std::optional<Time> FlowSource::next_under_way() const {
    std::optional<Time> best;
    if (!on_wire_.empty()) take_earlier(best, on_wire_.front().deliver);
    if (!injected_.empty()) take_earlier(best, injected_.front().at);
    return best;
}

Packet* FlowSource::arrived(Time now) {
    Packet* packet = nullptr;
    if (!on_wire_.empty() && on_wire_.front().deliver <= now) {
        packet = on_wire_.front().packet;
        on_wire_.pop_front();
    } else if (!injected_.empty() && injected_.front().at <= now) {
        const Injected& next = injected_.front();
        packet = data_frame(next.flow, static_cast<std::uint8_t>(first_injected_flow + next.flow.priority),
                            next.sequence, next.bytes);
        meta(packet).arrival = next.at;
        injected_.pop_front();
    }
    return packet;
}

std::uint64_t FlowSource::lose_under_way(Time now) {
    std::uint64_t lost = 0;
    for (; !on_wire_.empty() && on_wire_.front().deliver <= now; on_wire_.pop_front(), ++lost)
        rte_pktmbuf_free(on_wire_.front().packet);
    return lost;
}

bool FlowSource::deliver(Packet* packet, Time departure) {
    const MacControl control =
        decode_mac_control({frame_bytes(packet), std::min<std::size_t>(packet->data_len, 60)}, {});
    if (control.kind == MacControl::Kind::pfc) {
        record_.record(SentPause{departure, control.map});
    } else {
        Mark mark;
        std::memcpy(&mark, frame_bytes(packet) + mark_at, sizeof mark);
        record_.record(Departure{departure, packet->pkt_len, static_cast<PortId>(mark.from),
                                 static_cast<std::uint8_t>(mark.flow), mark.sequence,
                                 static_cast<Ecn>(frame_bytes(packet)[l3 + 1] & 3U),
                                 frame_bytes(packet)[l3 + 1] >> 2 == trimmed_dscp});
    }
    return false;
}

}  // namespace sluice::sim
