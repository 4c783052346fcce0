#include "dataplane/peers/host_port.hh"

#include <algorithm>

#include "dataplane/base/described.hh"
#include "lib/frame/headers.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/endian.hh"

namespace sluice {
namespace {

// Fetches a frame, which has left the caches in the switch, while the one before it is checked.
void fetch_frame(Packet* packet) {
    constexpr unsigned line = 64;
    for (unsigned at = 0; at < packet->data_len; at += line) __builtin_prefetch(frame_bytes(packet) + at);
}

}  // namespace

template class PeerPort<HostSource>;

HostSource::HostSource(const HostPortSpec& spec)
    : pool_(spec.pool),
      byte_time_(spec.speed.byte_time()),
      cable_(spec.cable),
      levels_{spec.receive_buffer_bytes, spec.receive_xon_bytes},
      pause_quanta_(spec.pause_quanta),
      room_bytes_(spec.receive_buffer_bytes + spec.receive_headroom_bytes),
      drain_classes_(spec.drain_classes),
      describes_(spec.describes),
      nic_(spec.nic, spec.flows, spec.queue_pairs, spec.ranks, spec.transfers, spec.programs),
      arriving_(64),
      waiting_(64) {
    set_drain(spec.drain, Time{});
}

void HostSource::set_drain(std::optional<Rate> drain, Time now) {
    const Duration refresh = byte_time_ * (std::int64_t{pause_quanta_} * quantum_bytes / 2);
    drain_byte_time_ = drain ? drain->byte_time() : Duration{};
    buffer_.configure(drain_classes_ != 0 ? drain : std::nullopt, levels_, refresh, now);
}

HostSource::~HostSource() { forget_frames(); }

std::string HostSource::close() {
    forget_frames();
    return output_ ? output_->close() : std::string{};
}

void HostSource::forget_frames() {
    for (Line* line : {&arriving_, &waiting_}) {
        for (const Waiting& each : *line) rte_pktmbuf_free(each.packet);
        line->clear();
    }
}

std::size_t HostSource::under_way(Time now) const {
    const auto first =
        std::ranges::find_if_not(arriving_, [&](const Waiting& each) { return has_reached_host(each, now); });
    return static_cast<std::size_t>(arriving_.end() - first);
}

// Frames that have reached the host by `now` stay.
void HostSource::link_lost(Time now) {
    for (; !arriving_.empty() && !has_reached_host(arriving_.back(), now); arriving_.pop_back()) {
        Packet* packet = arriving_.back().packet;
        ++lost_on_wire_;
        lossless_lost_ += meta(packet).treatment.lossless ? 1 : 0;
        rte_pktmbuf_free(packet);
    }
}

std::optional<HostSource::Next> HostSource::next_start(const PauseSender& wire) const {
    std::optional<Next> best;
    const auto consider = [&](Time at, Step step) {
        if (!best || at < best->at) best = Next{at, step};
    };
    if (!waiting_.empty()) consider(waiting_.front().at, Step::receive);
    if (!arriving_.empty()) consider(arriving_.front().at, Step::arrive);
    if (const auto timer = nic_.next_timer()) consider(*timer, Step::timer);
    // Rings fill while nothing starts.
    if (const auto fill = wire.is_anything_paused() ? nic_.next_fill() : std::nullopt)
        consider(*fill, Step::timer);
    if (const auto pause = buffer_.next()) consider(max(*pause, wire.free_at()), Step::pause);
    for (const auto& ready : nic_.ready())
        consider(max(ready.at, wire.earliest_start(ready.priority)), Step::frame);
    return best;
}

Started HostSource::start(const Next& next, PauseSender& wire) {
    switch (next.step) {
        case Step::receive:
            receive(waiting_.front().packet, next.at);
            waiting_.pop_front();
            return {};
        case Step::arrive:
            arrive();
            return {};
        case Step::timer:
            nic_.expire(next.at);
            return {};
        case Step::pause:
            return send_pause(next.at, wire);
        case Step::frame:
            return send_frame(next.at, wire);
    }
    return {};
}

bool HostSource::expects_frames(const PauseSender& wire) const {
    if (!arriving_.empty() || !waiting_.empty() || nic_.next_timer()) return true;
    return std::ranges::any_of(nic_.ready(),
                               [&](const auto& ready) { return wire.may_start(ready.priority); });
}

bool HostSource::deliver(Packet*& packet, Time departure) {
    if (output_) output_->write(packet, departure);
    if (load_be<std::uint16_t>(frame_bytes(packet) + 12) == ether_type::mac_control) return false;
    const bool was_empty = arriving_.empty();
    nic_.foretell({frame_bytes(packet), packet->data_len});
    put(arriving_, {departure + byte_time_ * wire_bytes(packet->pkt_len) + cable_ * 2, packet});
    packet = nullptr;
    return was_empty;
}

void HostSource::put(Line& line, const Waiting& frame) {
    if (line.full()) line.set_capacity(2 * line.capacity());
    line.push_back(frame);
}

// The first frame on the cable has come to its end.
void HostSource::arrive() {
    const auto [now, packet] = arriving_.front();
    arriving_.pop_front();
    if (!arriving_.empty()) fetch_frame(arriving_.front().packet);
    if (drain_byte_time_.ps == 0 && waiting_.empty()) [[likely]]
        return receive(packet, now);
    Time at = now;
    if (drain_byte_time_.ps != 0) {
        if (drained_ - now > drain_byte_time_ * static_cast<std::int64_t>(room_bytes_)) {
            ++overrun_;
            lossless_lost_ += meta(packet).treatment.lossless ? 1 : 0;
            rte_pktmbuf_free(packet);
            return;
        }
        at = drained_ = max(drained_, now) + drain_byte_time_ * wire_bytes(packet->pkt_len);
        buffer_.receive(now, wire_bytes(packet->pkt_len));
    }
    put(waiting_,
        {waiting_.empty() ? at : max(at, waiting_.back().at), packet});  // in order also when a drain ends
}

void HostSource::receive(Packet* packet, Time now) {
    const std::uint32_t bytes = packet->pkt_len;
    if (is_described(packet)) {
        nic_.receive(described_frame(packet), now);
    } else if (packet->nb_segs == 1) {
        nic_.receive({frame_bytes(packet), bytes}, now);
    } else if (bytes <= bytes_.size()) {
        nic_.receive(
            {static_cast<const std::uint8_t*>(rte_pktmbuf_read(packet, 0, bytes, bytes_.data())), bytes},
            now);
    }
    rte_pktmbuf_free(packet);
}

Started HostSource::send_pause(Time now, PauseSender& wire) {
    const auto pause = buffer_.take_due(now);
    if (!pause) return {};
    PauseMap map;
    map.class_enable = drain_classes_;
    if (pause->off) for_each_class(drain_classes_, [&](ClassId n) { map.quanta[n] = pause_quanta_; });
    std::array<std::uint8_t, pfc_frame_bytes> frame;
    build_pfc_frame(frame, nic_.settings().mac, map);
    wire.started(PauseSender::no_class, wire_bytes(pfc_frame_bytes));
    ++pauses_sent_;
    Packet* packet = make_packet(pool_, frame, false);
    if (packet != nullptr) meta(packet).arrival = now;
    return {packet, packet == nullptr};
}

Started HostSource::send_frame(Time now, PauseSender& wire) {
    unsigned allowed = 0;
    for (const auto& ready : nic_.ready())
        if (wire.may_start(ready.priority)) allowed |= 1U << ready.priority;
    const auto frame = nic_.next_frame(now, allowed);
    if (!frame) return {};
    wire.started(frame->priority, wire_bytes(frame->bytes));
    Packet* packet = make_frame(*frame);
    if (packet != nullptr) meta(packet).arrival = now;
    return {packet, packet == nullptr};
}

Packet* HostSource::make_frame(const roce::NicFrame& frame) {
    const bool described = describes_ && frame.bytes >= min_described_frame;
    if (!described && frame.bytes > data_bytes_of(pool_)) [[unlikely]] {
        nic_.write(frame, bytes_);
        return make_packet(pool_, std::span(bytes_).first(frame.bytes), false);
    }
    Packet* packet = rte_pktmbuf_alloc(pool_);
    if (packet == nullptr) return nullptr;
    if (described) {
        describe_rest(packet, described_bytes, frame.bytes,
                      nic_.write_head(frame, {frame_bytes(packet), described_bytes}));
        return packet;
    }
    packet->data_len = static_cast<std::uint16_t>(frame.bytes);
    packet->pkt_len = frame.bytes;
    nic_.write(frame, {frame_bytes(packet), frame.bytes});
    return packet;
}

}  // namespace sluice
