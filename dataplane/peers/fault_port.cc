#include "dataplane/peers/fault_port.hh"

#include <algorithm>

#include "dataplane/peers/mac_control.hh"
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
        ++counters_.cut;
        return;
    }
    PauseMap map;
    map.class_enable = mask;
    map.quanta.fill(quanta);
    PfcBytes bytes;
    build_pfc_frame(bytes, MacAddress{}, map);
    // Behind frames added for the same moment, ahead of later ones.
    const auto place =
        std::find_if(added_.begin(), added_.end(), [&](const Kept& other) { return at < other.at; });
    added_.insert(place, Kept{at, {bytes.begin(), bytes.end()}, pfc_frame_bytes, {}, false, false, {}});
}

FaultPort::Kept FaultPort::keep(Packet* packet, Time at, bool lossless, std::optional<std::uint64_t> corrupt,
                                std::uint64_t& corrupted) {
    Kept frame{at, {}, packet->pkt_len, {}, packet->packet_type == packet_type_truncated, lossless, {}};
    if (is_described(packet) && !corrupt) {
        frame.bytes.assign(frame_bytes(packet), frame_bytes(packet) + packet->data_len);
        frame.tail = tail_of(packet);
    } else {
        frame.bytes.resize(packet->pkt_len);
        copy_frame(packet, frame.bytes.data());
    }
    if (corrupt && corrupt_bit(frame.bytes, *corrupt)) ++corrupted;
    rte_pktmbuf_free(packet);
    return frame;
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

// `now`: when the port behind has handed it over.
void FaultPort::disturb(Packet* packet, Time now) {
    const FrameFate fate = spec_.dice.frame(settings_, ++frames_, packet->pkt_len);
    const bool is_pause = is_mac_control(packet);
    const bool lossless = !is_pause && inner_->comes_from_switch() && meta(packet).treatment.lossless;
    if (fate.drop || fate.bad_fcs) {
        ++(fate.drop ? counters_.dropped : counters_.bad_fcs);
        counters_.lossless += lossless ? 1 : 0;
        rte_pktmbuf_free(packet);
        return;
    }
    const Time arrival = meta(packet).arrival;
    // A link hands a pause over when it takes effect, and its quanta count from its arrival.
    const Duration held_back = is_pause && inner_->comes_from_switch() ? now - arrival : Duration{};
    Kept frame =
        keep(packet, arrival + held_back + settings_.delay, lossless, fate.corrupt, counters_.corrupted);
    frame.held_back = held_back;
    frame.at = last_arrival_ = max(frame.at, last_arrival_);
    if (settings_.delay != Duration{}) ++counters_.delayed;
    arriving_.push_back(std::move(frame));
    if (!fate.duplicate) return;
    ++counters_.duplicated;
    Kept copy = arriving_.back();
    copy.at = last_arrival_ = frame_end(copy.at, copy.frame_bytes);
    arriving_.push_back(std::move(copy));
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
        const bool has_frame = !arriving_.empty() && arriving_.front().at <= now;
        if (!has_added && !has_frame) break;
        const bool added_first = has_added && (!has_frame || added_.front().at <= arriving_.front().at);
        auto& from = added_first ? added_ : arriving_;
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
    if (!arriving_.empty()) take_earlier(best, arriving_.front().at);
    if (!added_.empty()) take_earlier(best, added_.front().at);
    if (!late_.empty()) take_earlier(best, late_.front().departure);
    if (!leaving_.empty()) take_earlier(best, leaving_.front().at);
    if (storm_next_ < storm_end_) take_earlier(best, storm_next_);
    if (const auto pause = slow_.next()) take_earlier(best, *pause + spec_.cable * 2);
    return best;
}

// A late XON of ours, or one that the peer still owes us, sets things going, too.
bool FaultPort::expects_frames() const {
    return inner_->expects_frames() || !arriving_.empty() || !added_.empty() || !late_.empty() ||
           !leaving_.empty() || storm_next_ < storm_end_ || slow_.next().has_value();
}

// The cable is cut: frames under way on it, either way, are lost.
std::uint64_t FaultPort::lose_until(Time now) {
    forget_arrival();
    misbehave(now);
    return inner_->lose_until(now) + forget_kept();
}

// Those to the peer are counted here, the others are returned.
std::uint64_t FaultPort::forget_kept() {
    const std::uint64_t to_us = arriving_.size() + added_.size();
    counters_.tx_cut += late_.size() + leaving_.size();
    for (const Kept& frame : arriving_) counters_.lossless += frame.lossless ? 1 : 0;
    for (const Kept& frame : leaving_) counters_.lossless += frame.lossless ? 1 : 0;
    late_.clear();
    leaving_.clear();
    arriving_.clear();
    added_.clear();
    return to_us;
}

void FaultPort::cable_cut(bool is_cut) {
    if (is_cut && !cable_cut_) counters_.cut += forget_kept();
    cable_cut_ = is_cut;
}

void FaultPort::send_pfc(const PfcBytes& bytes, Time departure) {
    Packet* packet = make_packet(spec_.pool, bytes, false);
    if (packet != nullptr) {
        meta(packet) = PacketMeta{};
        meta(packet).departure = departure;
        if (send(packet)) return;
        rte_pktmbuf_free(packet);
    }
    ++counters_.pfc_lost;
}

void FaultPort::send_late(Time now) {
    for (; !late_.empty() && late_.front().departure <= now; late_.pop_front())
        send_pfc(late_.front().bytes, late_.front().departure);
    for (; !leaving_.empty() && leaving_.front().at <= now; leaving_.pop_front()) {
        const Kept& frame = leaving_.front();
        Packet* packet = packet_of(frame);
        if (packet != nullptr) {
            meta(packet) = PacketMeta{};
            meta(packet).departure = frame.at;
            meta(packet).treatment.lossless = frame.lossless;
            if (inner_->transmit({&packet, 1}) == 1) continue;
            rte_pktmbuf_free(packet);
        }
        ++counters_.tx_dropped;
        counters_.lossless += frame.lossless ? 1 : 0;
    }
}

bool FaultPort::send(Packet* packet) {
    const FrameFaults faults = settings_.of_sent();
    if (faults == FrameFaults{} && leaving_.empty()) [[likely]]
        return inner_->transmit({&packet, 1}) == 1;
    const FrameFate fate = spec_.dice.sent(settings_, ++sent_, packet->pkt_len);
    const bool lossless = meta(packet).treatment.lossless && !is_mac_control(packet);
    if (fate.drop || fate.bad_fcs) {
        ++(fate.drop ? counters_.tx_dropped : counters_.tx_bad_fcs);
        counters_.lossless += lossless ? 1 : 0;
        rte_pktmbuf_free(packet);
        return true;
    }
    const Time sent = meta(packet).departure;
    const Time departure = max(sent + faults.delay, last_leaving_);
    if (departure == sent && leaving_.empty() && !fate.corrupt && !fate.duplicate)
        return inner_->transmit({&packet, 1}) == 1;
    if (departure > sent) ++counters_.tx_delayed;
    Kept frame = keep(packet, departure, lossless, fate.corrupt, counters_.tx_corrupted);
    last_leaving_ = departure;
    leaving_.push_back(std::move(frame));
    if (fate.duplicate) {
        ++counters_.tx_duplicated;
        Kept copy = leaving_.back();
        copy.at = last_leaving_ = frame_end(departure, copy.frame_bytes);
        leaving_.push_back(std::move(copy));
    }
    return true;
}

// It counts as sent, with any fault afterwards.
bool FaultPort::transmit_pfc(Packet* packet) {
    const PfcFate fate = spec_.dice.pfc(settings_, ++pfc_frames_);
    const std::span<std::uint8_t, pfc_frame_bytes> frame(frame_bytes(packet), pfc_frame_bytes);
    if (fate.lose) {
        ++counters_.pfc_lost;
        rte_pktmbuf_free(packet);
        return true;
    }
    if (change_pfc(settings_, frame)) ++counters_.pfc_changed;
    PfcBytes bytes;
    std::copy(frame.begin(), frame.end(), bytes.begin());
    const Time sent = meta(packet).departure;
    const Time departure = max(sent + settings_.pfc_delay, last_late_);
    const bool is_late = departure > sent;
    if (!is_late && !send(packet)) return false;
    if (is_late) {
        ++counters_.pfc_delayed;
        rte_pktmbuf_free(packet);
        late_.push_back({departure, bytes});
    }
    last_late_ = departure;
    if (fate.duplicate) {
        ++counters_.pfc_duplicated;
        last_late_ = frame_end(departure, pfc_frame_bytes);
        late_.push_back({last_late_, bytes});
    }
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
            if (!transmit_pfc(packet)) break;
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
    while (!late_.empty()) send_late(late_.back().departure);
    while (!leaving_.empty()) send_late(leaving_.back().at);
    return inner_->close();
}

}  // namespace sluice
