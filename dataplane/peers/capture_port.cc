#include "dataplane/peers/capture_port.hh"

#include <algorithm>
#include <utility>

#include "lib/frame/parse.hh"
#include "lib/values/class_mask.hh"

namespace sluice {

template class PeerPort<CaptureSource>;

tl::expected<std::unique_ptr<CapturePort>, std::string> CapturePort::open(const CapturePortSpec& spec) {
    std::unique_ptr<CapturePort> port(new CapturePort(spec));
    if (std::string error = port->source_.open(spec); !error.empty()) return tl::unexpected(std::move(error));
    return port;
}

std::string CaptureSource::open(const CapturePortSpec& spec) {
    if (!spec.input.empty()) {
        auto reader = CaptureReader::open(spec.input);
        if (!reader) return reader.error();
        reader_ = std::move(*reader);
        read_next();
    }
    if (!spec.output.empty()) {
        auto output = CaptureOutput::create(spec.output, *spec.timeline);
        if (!output) return output.error();
        output_ = std::move(*output);
    }
    return {};
}

void CaptureSource::read_next() {
    has_next_ = reader_ && reader_->read(next_);
    if (!has_next_) return;
    stamp_ = input_time_.time_of(next_.timestamp_ns);
}

ClassId CaptureSource::class_of_next() const {
    const auto view = next_.bytes.first(std::min(next_.bytes.size(), parse_view_bytes));
    const Parsed parsed =
        parse(view, static_cast<std::uint32_t>(next_.bytes.size()), {.mac = {}, .promiscuous = true});
    if (parsed.kind == FrameKind::mac_control) return PauseSender::no_class;
    return map_.tc_to_priority_group[traffic_class(parsed, map_)];
}

// The backlog first at one instant: its frames have waited longer.
std::optional<CaptureSource::Next> CaptureSource::next_of_all(const PauseSender& wire) const {
    std::optional<Next> best;
    for_each_class(backlogged_classes_, [&](ClassId n) {
        const Time at = wire.earliest_start(n);
        if (!best || at < best->at) best = Next{at, static_cast<int>(n)};
    });
    if (has_next_) {
        const Time at = next_of_file(wire);
        if (!best || at < best->at) best = Next{at, -1};
    }
    return best;
}

bool CaptureSource::expects_frames(const PauseSender& wire) const {
    if (has_next_) return true;
    bool may_start = false;
    for_each_class(backlogged_classes_, [&](ClassId n) { may_start = may_start || wire.may_start(n); });
    return may_start;
}

Started CaptureSource::start_frame(const CaptureReader::Frame& frame, ClassId n, Time at, PauseSender& wire) {
    wire.started(n, wire_bytes(frame.wire_length));
    Packet* packet = make_packet(pool_, frame.bytes, frame.bytes.size() < frame.wire_length);
    if (packet != nullptr) meta(packet).arrival = at;
    return {packet, packet == nullptr};
}

Started CaptureSource::start_backlogged(ClassId n, Time at, PauseSender& wire) {
    auto& queue = backlog_[n];
    const BacklogFrame& frame = queue.front();
    const Started started = start_frame({0, frame.wire_length, frame.bytes}, n, at, wire);
    queue.pop_front();
    if (queue.empty()) backlogged_classes_ = static_cast<std::uint8_t>(backlogged_classes_ & ~(1U << n));
    return started;
}

void CaptureSource::backlog_next(ClassId n) {
    backlog_[n].push_back({{next_.bytes.begin(), next_.bytes.end()}, next_.wire_length});
    backlogged_classes_ = static_cast<std::uint8_t>(backlogged_classes_ | 1U << n);
    ++backlogged_count_;
    read_next();
}

Started CaptureSource::start(const Next& next, PauseSender& wire) {
    if (next.backlog_class >= 0) [[unlikely]]
        return start_backlogged(static_cast<ClassId>(next.backlog_class), next.at, wire);
    // In order within a class: behind a backlog of its own class a frame waits too.
    const ClassId n = next_class(wire);
    if (n != PauseSender::no_class && (!wire.may_start(n) || !backlog_[n].empty())) {
        backlog_next(n);
        return {};
    }
    // Stamps are whole nanoseconds: frames back to back may seem to overlap by less than one.
    if (next.at - stamp_ >= nanoseconds(1)) ++moved_;
    const Started started = start_frame(next_, n, next.at, wire);
    read_next();
    return started;
}

void CaptureSource::add_to(PortAccount& account) const {
    account.moved = moved_;
    account.delayed = backlogged_count_;
    for (const auto& queue : backlog_) account.waiting += queue.size();
}

std::string CaptureSource::close() {
    std::string error = reader_ ? reader_->error() : std::string{};
    if (output_) {
        const std::string failed = output_->close();
        if (error.empty()) error = failed;
    }
    return error;
}

}  // namespace sluice
