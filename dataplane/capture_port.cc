#include "dataplane/capture_port.hh"

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/parse.hh"
#include "lib/pfc_frame.hh"

namespace sluice {

tl::expected<std::unique_ptr<CapturePort>, std::string> CapturePort::open(const CapturePortSpec& spec) {
    std::unique_ptr<CapturePort> port(new CapturePort(spec));
    if (!spec.input.empty()) {
        auto reader = CaptureReader::open(spec.input);
        if (!reader) return tl::unexpected(reader.error());
        port->reader_ = std::move(*reader);
        port->read_next();
    }
    if (!spec.output.empty()) {
        auto writer = CaptureWriter::create(spec.output);
        if (!writer) return tl::unexpected(writer.error());
        port->writer_ = std::move(*writer);
    }
    return port;
}

ClassId CapturePort::priority_of(const CaptureReader::Frame& frame) const {
    const auto view = frame.bytes.first(std::min(frame.bytes.size(), parse_view_bytes));
    const Parsed parsed =
        parse(view, static_cast<std::uint32_t>(frame.bytes.size()), {.mac = {}, .promiscuous = true});
    if (parsed.kind == FrameKind::mac_control) return PauseSender::no_class;
    return spec_.map.tc_to_priority_group[traffic_class(parsed, spec_.map)];
}

void CapturePort::read_next() {
    has_next_ = reader_ && reader_->read(next_);
    if (!has_next_) return;
    stamp_ = input_time_.time_of(next_.timestamp_ns);
}

ClassId CapturePort::next_class() const {
    const bool matters = spec_.obeys && (holds_ != 0 || sender_.is_anything_paused());
    return matters ? priority_of(next_) : PauseSender::no_class;
}

std::optional<CapturePort::Next> CapturePort::next_start() const {
    std::optional<Next> best;
    // Held frames first at one instant: they have waited longer.
    for_each_class(holds_, [&](ClassId n) {
        const Time at = sender_.earliest_start(n);
        if (!best || at < best->at) best = Next{at, static_cast<int>(n)};
    });
    if (has_next_) {
        const Time at = next_of_file();
        if (!best || at < best->at) best = Next{at, -1};
    }
    return best;
}

std::optional<Time> CapturePort::find_next_arrival() const {
    if (is_unhindered()) [[likely]]
        return has_next_ ? std::optional(next_of_file()) : std::nullopt;
    const auto next = next_start();
    return next ? std::optional(sender_.next_step(next->at)) : std::nullopt;
}

bool CapturePort::expects_frames() const {
    if (has_next_) return true;
    bool may_start = false;
    for_each_class(holds_, [&](ClassId n) { may_start = may_start || sender_.may_start(n); });
    return may_start;
}

Packet* CapturePort::start(const CaptureReader::Frame& frame, ClassId priority, Time at) {
    sender_.started(priority, wire_bytes(frame.wire_length));
    Packet* packet = make_packet(spec_.pool, frame.bytes, frame.bytes.size() < frame.wire_length);
    if (packet != nullptr) meta(packet).arrival = at;
    return packet;
}

Packet* CapturePort::start_next(ClassId priority, Time at) {
    // Stamps are whole nanoseconds: frames back to back may seem to overlap by less than one.
    if (at - stamp_ >= nanoseconds(1)) ++moved_;
    Packet* packet = start(next_, priority, at);
    read_next();
    return packet;
}

bool CapturePort::step(Time now, Packet*& started, bool& lost) {
    started = nullptr;
    lost = false;
    if (is_unhindered()) [[likely]] {
        if (!has_next_) return false;
        const Time at = next_of_file();
        if (sender_.step(now, at) == PauseSender::Step::none) return false;
        forget_arrival();
        started = start_next(PauseSender::no_class, at);
        lost = started == nullptr;
        return true;
    }
    const std::optional<Next> next = next_start();
    const auto step = sender_.step(now, next ? std::optional(next->at) : std::nullopt);
    if (step == PauseSender::Step::none) return false;
    forget_arrival();
    if (step == PauseSender::Step::heard) return true;
    if (next->held_class >= 0) {
        auto& queue = held_[static_cast<unsigned>(next->held_class)];
        const HeldFrame& frame = queue.front();
        started =
            start({0, frame.wire_length, frame.bytes}, static_cast<ClassId>(next->held_class), next->at);
        lost = started == nullptr;
        queue.pop_front();
        if (queue.empty()) holds_ = static_cast<std::uint8_t>(holds_ & ~(1U << next->held_class));
        return true;
    }
    // In order within a class: behind held frames of its own class a frame is held too.
    const ClassId n = next_class();
    if (n != PauseSender::no_class && (!sender_.may_start(n) || !held_[n].empty())) {
        held_[n].push_back({{next_.bytes.begin(), next_.bytes.end()}, next_.wire_length});
        holds_ = static_cast<std::uint8_t>(holds_ | 1U << n);
        ++held_count_;
        read_next();
    } else {
        started = start_next(n, next->at);
        lost = started == nullptr;
    }
    return true;
}

unsigned CapturePort::receive(std::span<Packet*> out, Time now) {
    unsigned count = 0;
    Packet* packet = nullptr;
    bool lost = false;
    if (now != instant_) ring_ = 0;
    instant_ = now;
    while (count < out.size() && step(now, packet, lost)) {
        if (packet != nullptr && ++ring_ > spec_.ring_frames) {  // it came when the ring was full
            rte_pktmbuf_free(packet);
            packet = nullptr;
            lost = true;
        }
        if (packet != nullptr) out[count++] = packet;
        if (lost) ++missed_;
    }
    return count;
}

PortAccount CapturePort::account() const {
    PortAccount account;
    account.missed = missed_;
    account.moved = moved_;
    account.held = held_count_;
    for (const auto& queue : held_) account.waiting += queue.size();
    account.overshot_bytes = sender_.overshot_bytes();
    return account;
}

std::uint64_t CapturePort::lose_until(Time now) {
    sender_.forget();
    forget_arrival();
    std::uint64_t frames = 0;
    Packet* packet = nullptr;
    bool lost = false;
    while (step(now, packet, lost)) {
        if (packet != nullptr || lost) ++frames;
        rte_pktmbuf_free(packet);
    }
    return frames;
}

void CapturePort::write(Packet* packet, Time departure) {
    std::array<std::span<const std::uint8_t>, 64> pieces;
    std::size_t count = 0;
    for (Packet* segment = packet; segment != nullptr && count < pieces.size(); segment = segment->next)
        pieces[count++] = {frame_bytes(segment), segment->data_len};
    writer_->write(output_time_.stamp_of(departure), std::span(pieces).first(count));
}

unsigned CapturePort::transmit(std::span<Packet* const> frames) {
    for (Packet* packet : frames) {
        const Time departure = meta(packet).departure;
        if (writer_) write(packet, departure);
        if (spec_.obeys && packet->pkt_len == pfc_frame_bytes) {
            const MacControl control = decode_mac_control({frame_bytes(packet), packet->pkt_len}, {});
            if (control.kind == MacControl::Kind::pfc) {
                sender_.receive(control.map,
                                departure + spec_.speed.byte_time() * wire_bytes(pfc_frame_bytes));
                forget_arrival();
            }
        }
        if (packet->nb_segs == 1) [[likely]]
            rte_pktmbuf_free_seg(packet);
        else
            rte_pktmbuf_free(packet);
    }
    return static_cast<unsigned>(frames.size());
}

std::string CapturePort::close() {
    std::string error = reader_ ? reader_->error() : std::string{};
    if (writer_) {
        const std::string failed = writer_->close();
        if (error.empty()) error = failed;
    }
    return error;
}

}  // namespace sluice
