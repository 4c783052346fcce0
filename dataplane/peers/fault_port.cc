#include "dataplane/peers/fault_port.hh"

#include <algorithm>

#include "dataplane/base/packet.hh"
#include "lib/pfc/pfc_frame.hh"

namespace sluice {
namespace {

// We forward no MAC control, so a PFC frame is one that we made.
bool is_our_pfc(Packet* packet) {
    return packet->pkt_len == pfc_frame_bytes && packet->data_len == pfc_frame_bytes &&
           decode_mac_control({frame_bytes(packet), pfc_frame_bytes}, {}).kind == MacControl::Kind::pfc;
}

}  // namespace

void FaultPort::configure(const FaultSettings& settings, std::uint8_t lossless, Time now) {
    forget_arrival();
    const FaultSettings before = settings_;
    settings_ = settings;
    received_.rules = rules_of(settings.received, LinkWay::received);
    sent_.rules = rules_of(settings.sent, LinkWay::sent);
    pfc_.rules = rules_of(settings.pfc, LinkWay::pfc);
    lossless_ = lossless;
    inner_->set_overshoot(settings.overshoot_bytes);
    if (settings.stuck_xoff != 0 && settings.stuck_xoff != before.stuck_xoff) {
        peer_pause(now, settings.stuck_xoff, fault_quanta);
        ++counters_.stuck_xoff;
    }
    if (settings.storm_classes != before.storm_classes || settings.storm_every != before.storm_every ||
        settings.storm_for != before.storm_for) {
        storm_next_ = now;
        storm_end_ = settings.storm_classes != 0 ? now + settings.storm_for : now;
    }
    if (settings.slow_receiver != before.slow_receiver ||
        settings.slow_buffer_bytes != before.slow_buffer_bytes)
        slow_.configure(settings.slow_receiver, {settings.slow_buffer_bytes, settings.slow_buffer_bytes / 2},
                        spec_.speed.byte_time() * (std::int64_t{fault_quanta} * quantum_bytes / 2), now);
}

void FaultPort::peer_pause(Time at, std::uint8_t mask, std::uint16_t quanta) {
    if (cable_cut_) {
        ++counters_.received.cut;
        return;
    }
    PauseMap map;
    map.class_enable = mask;
    map.quanta.fill(quanta);
    std::array<std::uint8_t, pfc_frame_bytes> bytes;
    build_pfc_frame(bytes, MacAddress{}, map);
    // Ordered by time, behind equal ones.
    const auto place =
        std::find_if(added_.begin(), added_.end(), [&](const Kept& other) { return at < other.at; });
    added_.insert(place, Kept{at, {bytes.begin(), bytes.end()}, pfc_frame_bytes, {}, false, false, {}});
}

std::optional<FrameFate> FaultPort::next_fate(Way& way, Packet* packet, bool lossless) {
    const FrameFate fate = fate_of(way.rules, spec_.seed, spec_.id, ++way.frames, packet->pkt_len);
    if (!fate.drop && !fate.bad_fcs) return fate;
    ++(fate.drop ? way.counters.dropped : way.counters.bad_fcs);
    counters_.lossless += lossless ? 1 : 0;
    rte_pktmbuf_free(packet);
    return std::nullopt;
}

void FaultPort::keep(Way& way, Packet* packet, Time at, const FrameFate& fate, bool lossless,
                     Duration held_back) {
    way.last = max(at, way.last);
    Kept& frame = way.kept.emplace_back(Kept{way.last,
                                             {},
                                             packet->pkt_len,
                                             {},
                                             packet->packet_type == packet_type_truncated,
                                             lossless,
                                             held_back});
    if (is_described(packet) && !fate.corrupt) {
        frame.bytes.assign(frame_bytes(packet), frame_bytes(packet) + packet->data_len);
        frame.tail = tail_of(packet);
    } else {
        frame.bytes.resize(packet->pkt_len);
        copy_frame(packet, frame.bytes.data());
    }
    if (fate.corrupt && corrupt_bit(frame.bytes, *fate.corrupt)) ++way.counters.corrupted;
    rte_pktmbuf_free(packet);
    if (!fate.duplicate) return;
    ++way.counters.duplicated;
    Kept copy = frame;
    copy.at = way.last = frame_end(copy.at, copy.frame_bytes);
    way.kept.push_back(std::move(copy));
}

Packet* FaultPort::packet_of(const Kept& frame) const {
    Packet* packet = make_packet(spec_.pool, frame.bytes, frame.truncated);
    if (packet != nullptr && frame.bytes.size() != frame.frame_bytes)
        describe_rest(packet, packet->data_len, frame.frame_bytes, frame.tail);
    return packet;
}

void FaultPort::misbehave(Time now) {
    for (; storm_next_ < storm_end_ && storm_next_ <= now;
         storm_next_ = storm_next_ + settings_.storm_every) {
        peer_pause(storm_next_, settings_.storm_classes, fault_quanta);
        ++counters_.storm_xoff;
    }
    const Duration there_and_back = spec_.cable * 2;
    while (const auto pause = slow_.take_due(now - there_and_back)) {
        peer_pause(pause->at + there_and_back, lossless_, pause->off ? fault_quanta : std::uint16_t{0});
        ++(pause->off ? counters_.slow_xoff : counters_.slow_xon);
    }
}

// `now`: when the inner port has handed it over.
void FaultPort::disturb(Packet* packet, Time now) {
    const bool is_pause = is_mac_control(packet);
    const bool lossless = !is_pause && inner_->comes_from_switch() && meta(packet).treatment.lossless;
    const auto fate = next_fate(received_, packet, lossless);
    if (!fate) return;
    if (fate->delay != Duration{}) ++counters_.received.delayed;
    const Time arrival = meta(packet).arrival;
    // A link hands a pause over when it takes effect, and its quanta count from its arrival.
    const Duration held_back = is_pause && inner_->comes_from_switch() ? now - arrival : Duration{};
    keep(received_, packet, arrival + held_back + fate->delay, *fate, lossless, held_back);
}

void FaultPort::receive_inner(Time now) {
    std::array<Packet*, burst_size> burst;
    while (true) {
        const unsigned count = inner_->receive(burst, now);
        for (unsigned i = 0; i < count; ++i) disturb(burst[i], now);
        if (count < burst.size()) return;
    }
}

unsigned FaultPort::receive(std::span<Packet*> out, Time now) {
    forget_arrival();
    send_late(now);
    receive_inner(now);
    misbehave(now);
    unsigned count = 0;
    while (count < out.size()) {
        const bool has_added = !added_.empty() && added_.front().at <= now;
        std::deque<Kept>& arriving = received_.kept;
        const bool has_frame = !arriving.empty() && arriving.front().at <= now;
        if (!has_added && !has_frame) break;
        const bool added_first = has_added && (!has_frame || added_.front().at <= arriving.front().at);
        std::deque<Kept>& from = added_first ? added_ : arriving;
        const Kept& frame = from.front();
        Packet* packet = packet_of(frame);
        if (packet != nullptr) {
            meta(packet).arrival = frame.at - frame.held_back;
            out[count++] = packet;
        } else {
            ++missed_;
        }
        from.pop_front();
    }
    return count;
}

std::optional<Time> FaultPort::find_next_arrival() const {
    std::optional<Time> best;
    take_earlier(best, inner_->next_arrival());
    for (const auto* kept : {&received_.kept, &added_, &pfc_.kept, &sent_.kept})
        if (!kept->empty()) take_earlier(best, kept->front().at);
    if (storm_next_ < storm_end_) take_earlier(best, storm_next_);
    if (const auto pause = slow_.next()) take_earlier(best, *pause + spec_.cable * 2);
    return best;
}

// A late XON, of ours or the peer's, lets frames go, too.
bool FaultPort::expects_frames() const {
    return inner_->expects_frames() || under_way() != 0 || storm_next_ < storm_end_ ||
           slow_.next().has_value();
}

std::uint64_t FaultPort::lose_until(Time now) {
    forget_arrival();
    misbehave(now);
    return inner_->lose_until(now) + forget_kept();
}

// Counts the frames to the peer, returns the number of the others.
std::uint64_t FaultPort::forget_kept() {
    const std::uint64_t to_us = received_.kept.size() + added_.size();
    counters_.sent.cut += leaving();
    for (auto* kept : {&received_.kept, &added_, &pfc_.kept, &sent_.kept}) {
        for (const Kept& frame : *kept) counters_.lossless += frame.lossless ? 1 : 0;
        kept->clear();
    }
    return to_us;
}

void FaultPort::cable_cut(bool is_cut) {
    if (is_cut && !cable_cut_) counters_.received.cut += forget_kept();
    cable_cut_ = is_cut;
}

void FaultPort::send_late(Time now) {
    for (Way* way : {&pfc_, &sent_})
        for (; !way->kept.empty() && way->kept.front().at <= now; way->kept.pop_front()) {
            const Kept& frame = way->kept.front();
            if (Packet* packet = packet_of(frame)) {
                meta(packet) = PacketMeta{};
                meta(packet).departure = frame.at;
                meta(packet).treatment.lossless = frame.lossless;
                if (go_on(*way, packet)) continue;
                rte_pktmbuf_free(packet);
            }
            ++way->counters.dropped;
            counters_.lossless += frame.lossless ? 1 : 0;
        }
}

bool FaultPort::send(Packet* packet) {
    if (sent_.rules.empty() && sent_.kept.empty()) [[likely]]
        return go_on(sent_, packet);
    return pass(sent_, packet);
}

bool FaultPort::pass(Way& way, Packet* packet) {
    const bool lossless = meta(packet).treatment.lossless && !is_mac_control(packet);
    const auto fate = next_fate(way, packet, lossless);
    if (!fate) return true;
    if (&way == &pfc_ &&
        change_pfc(settings_, std::span<std::uint8_t, pfc_frame_bytes>(frame_bytes(packet), pfc_frame_bytes)))
        ++counters_.pfc_changed;
    const Time sent = meta(packet).departure;
    const Time departure = max(sent + fate->delay, way.last);
    if (departure == sent && way.kept.empty() && !fate->corrupt && !fate->duplicate)
        return go_on(way, packet);
    if (departure > sent) ++way.counters.delayed;
    keep(way, packet, departure, *fate, lossless, {});
    return true;
}

unsigned FaultPort::transmit(std::span<Packet* const> frames) {
    forget_arrival();
    unsigned taken = 0;
    for (Packet* packet : frames) {
        const PacketMeta info = meta(packet);
        const std::uint32_t bytes = wire_bytes(packet->pkt_len);
        send_late(info.departure);
        if (is_our_pfc(packet)) {
            if (!pass(pfc_, packet)) break;
        } else {
            if (!send(packet)) break;
            if (info.treatment.lossless)
                slow_.receive(info.departure + spec_.speed.byte_time() * bytes, bytes);
        }
        ++taken;
    }
    return taken;
}

std::string FaultPort::close() {
    for (const auto* kept : {&pfc_.kept, &sent_.kept})
        while (!kept->empty()) send_late(kept->back().at);
    return inner_->close();
}

}  // namespace sluice
