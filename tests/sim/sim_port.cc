#include "tests/sim/sim_port.hh"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "lib/checksum.hh"
#include "lib/headers.hh"
#include "lib/rng.hh"

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

SimPort::~SimPort() {
    for (const OnWire& frame : on_wire_) rte_pktmbuf_free(frame.packet);
}

std::uint8_t SimPort::add(const Flow& flow) {
    forget_arrival();
    assert(flows_.size() < first_injected_flow);
    flows_.push_back({flow, flow.start, 0, 0});
    return static_cast<std::uint8_t>(flows_.size() - 1);
}

void SimPort::stop_flows() {
    forget_arrival();
    for (Sender& sender : flows_) sender.flow.frames = sender.sent;
}

void SimPort::send_pause(Time at, const PauseMap& map) {
    forget_arrival();
    control_.push_back({at, map});
}

void SimPort::send_pause(Time at, ClassId priority, std::uint16_t quanta) {
    PauseMap map;
    map.class_enable = static_cast<std::uint8_t>(1U << priority);
    map.quanta[priority] = quanta;
    send_pause(at, map);
}

void SimPort::cut(bool down) {
    forget_arrival();
    cut_ = down;
    if (down) sender_.forget();  // a peer forgets, too
}

void SimPort::inject(Time at, const Flow& flow, const std::vector<std::uint32_t>& sizes) {
    forget_arrival();
    for (const std::uint32_t bytes : sizes) injected_.push_back({at, flow, bytes, injected_sequence_++});
}

std::uint64_t SimPort::started() const {
    std::uint64_t sum = 0;
    for (const Sender& sender : flows_) sum += sender.sent;
    return sum;
}

std::uint64_t SimPort::departed(PortId from, std::uint8_t flow) const {
    const auto found = seen_.find({from, flow});
    return found == seen_.end() ? 0 : found->second.frames;
}

std::uint64_t SimPort::departed_wire_bytes(PortId from) const {
    const auto found = wire_bytes_from_.find(from);
    return found == wire_bytes_from_.end() ? 0 : found->second;
}

std::optional<SimPort::Next> SimPort::next_start() const {
    std::optional<Next> best;
    if (!control_.empty()) best = Next{max(control_.front().at, sender_.free_at()), -1};
    for (std::size_t i = 0; i < flows_.size(); ++i) {
        const Sender& sender = flows_[i];
        if (sender.sent >= sender.flow.frames) continue;
        const Time at = max(sender.ready, sender_.earliest_start(sender.flow.priority));
        const bool better = !best || at < best->at ||
                            (at == best->at && best->flow >= 0 &&
                             sender.wire_bytes < flows_[static_cast<std::size_t>(best->flow)].wire_bytes);
        if (better) best = Next{at, static_cast<int>(i)};
    }
    return best;
}

std::optional<Time> SimPort::find_next_arrival() const {
    std::optional<Time> best;
    if (!on_wire_.empty()) take_earlier(best, on_wire_.front().deliver);
    if (!injected_.empty()) take_earlier(best, injected_.front().at);
    if (const auto next = next_start())
        take_earlier(best, sender_.next_step(next->at));
    else
        take_earlier(best, sender_.next_change());
    return best;
}

Packet* SimPort::allocate(std::uint32_t bytes) const {
    Packet* head = rte_pktmbuf_alloc(spec_.pool);
    assert(head != nullptr && "the buffer refuses before the pool runs dry");
    Packet* segment = head;
    for (std::uint32_t left = bytes;;) {
        const std::uint32_t count = std::min<std::uint32_t>(left, packet_data_bytes);
        segment->data_len = static_cast<std::uint16_t>(count);
        left -= count;
        if (left == 0) break;
        segment->next = rte_pktmbuf_alloc(spec_.pool);
        assert(segment->next != nullptr && "the buffer refuses before the pool runs dry");
        segment = segment->next;
        ++head->nb_segs;
    }
    head->pkt_len = bytes;
    return head;
}

Packet* SimPort::data_frame(const Flow& flow, std::uint8_t number, std::uint64_t sequence,
                            std::uint32_t bytes) const {
    Packet* packet = allocate(bytes);
    std::uint8_t* frame = frame_bytes(packet);
    std::memset(frame, 0, 60);
    std::copy(spec_.switch_mac.bytes.begin(), spec_.switch_mac.bytes.end(), frame);
    frame[6] = 0x02;
    frame[11] = static_cast<std::uint8_t>(spec_.id);
    store_be<std::uint16_t>(frame + 12, ether_type::ipv4);
    std::uint8_t* ip = frame + l3;
    ip[0] = 0x45;
    ip[1] = static_cast<std::uint8_t>(flow.dscp << 2 | static_cast<unsigned>(flow.ecn));
    store_be<std::uint16_t>(ip + 2, static_cast<std::uint16_t>(bytes - l3));
    ip[8] = 64;
    ip[9] = 17;
    const std::array<std::uint8_t, 8> addresses{10, 0, static_cast<std::uint8_t>(spec_.id), 2,
                                                10, 0, static_cast<std::uint8_t>(flow.to),  2};
    std::copy(addresses.begin(), addresses.end(), ip + 12);
    store_be<std::uint16_t>(ip + 10, internet_checksum({ip, 20}));
    store_be<std::uint16_t>(frame + 34, static_cast<std::uint16_t>(1000 + number));
    store_be<std::uint16_t>(frame + 36, 9);
    store_be<std::uint16_t>(frame + 38, static_cast<std::uint16_t>(bytes - 34));
    const Mark mark{spec_.id, number, sequence};
    std::memcpy(frame + mark_at, &mark, sizeof mark);
    return packet;
}

void SimPort::start(const Next& next) {
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
    sender_.started(priority, wire_bytes(packet->pkt_len));
    meta(packet).arrival = next.at;
    on_wire_.push_back({packet, at_end_ ? sender_.free_at() : next.at});
}

// The sender's next step at or before `now`: a frame starts, or a pause or the end of one is taken up.
bool SimPort::step(Time now) {
    const auto next = next_start();
    const auto step = sender_.step(now, next ? std::optional(next->at) : std::nullopt);
    if (step == PauseSender::Step::frame) start(*next);
    return step != PauseSender::Step::none;
}

unsigned SimPort::receive(std::span<Packet*> out, Time now) {
    forget_arrival();
    if (now != instant_) ring_ = 0;
    instant_ = now;
    unsigned count = 0;
    while (count < std::min<std::size_t>(out.size(), burst_limit_)) {
        Packet* packet = nullptr;
        if (!on_wire_.empty() && on_wire_.front().deliver <= now) {
            packet = on_wire_.front().packet;
            on_wire_.pop_front();
        } else if (!injected_.empty() && injected_.front().at <= now) {
            const Injected& next = injected_.front();
            packet =
                data_frame(next.flow, static_cast<std::uint8_t>(first_injected_flow + next.flow.priority),
                           next.sequence, next.bytes);
            meta(packet).arrival = next.at;
            injected_.pop_front();
        } else if (step(now)) {
            continue;
        } else {
            break;
        }
        if (++ring_ > spec_.ring_frames) {  // it came when the ring was full
            rte_pktmbuf_free(packet);
            ++missed_;
            continue;
        }
        out[count++] = packet;
    }
    return count;
}

std::uint64_t SimPort::lose_until(Time now) {
    forget_arrival();
    sender_.forget();
    while (step(now)) {
    }
    std::uint64_t lost = 0;
    for (; !on_wire_.empty() && on_wire_.front().deliver <= now; on_wire_.pop_front(), ++lost)
        rte_pktmbuf_free(on_wire_.front().packet);
    return lost;
}

void SimPort::record(const Departure& departure) {
    ++departed_;
    departed_bytes_ += departure.bytes;
    wire_bytes_from_[departure.from] += wire_bytes(departure.bytes);
    for (const std::uint64_t word : {departure.at.ps, std::uint64_t{departure.bytes},
                                     std::uint64_t{departure.from} << 8 | departure.flow,
                                     departure.sequence << 2 | static_cast<unsigned>(departure.ecn)})
        digest_ = scramble(digest_ ^ word);
    Seen& seen = seen_[{departure.from, departure.flow}];
    if (departure.sequence < seen.next && disorder_.empty())
        disorder_ = "flow " + std::to_string(departure.flow) + " of port " + std::to_string(departure.from) +
                    ": frame " + std::to_string(departure.sequence) + " after " +
                    std::to_string(seen.next - 1);
    seen.next = departure.sequence + 1;
    ++seen.frames;
    if (on_departure) on_departure(departure);
}

unsigned SimPort::transmit(std::span<Packet* const> frames) {
    forget_arrival();
    for (Packet* packet : frames) {
        const Time at = meta(packet).departure;
        const MacControl control =
            decode_mac_control({frame_bytes(packet), std::min<std::size_t>(packet->data_len, 60)}, {});
        if (control.kind == MacControl::Kind::pfc) {
            pauses_.push_back({at, control.map});
            digest_ = scramble(digest_ ^ at.ps ^ control.map.class_enable);
            if (spec_.obeys && !cut_)
                sender_.receive(control.map, at + spec_.speed.byte_time() * wire_bytes(pfc_frame_bytes));
            if (on_pause) on_pause(pauses_.back());
        } else {
            Mark mark;
            std::memcpy(&mark, frame_bytes(packet) + mark_at, sizeof mark);
            record({at, packet->pkt_len, static_cast<PortId>(mark.from), static_cast<std::uint8_t>(mark.flow),
                    mark.sequence, static_cast<Ecn>(frame_bytes(packet)[l3 + 1] & 3U)});
        }
        rte_pktmbuf_free(packet);
    }
    return static_cast<unsigned>(frames.size());
}

}  // namespace sluice::sim
