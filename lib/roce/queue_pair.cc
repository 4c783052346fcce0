#include "lib/roce/queue_pair.hh"

#include <algorithm>

#include "lib/roce/send_schedule.hh"

namespace sluice::roce {
namespace {

// A rate without a CNP for so long is not held down by a queue: it only rises too slowly.
constexpr Duration long_recovery = milliseconds(2);

bool is_read_response(Opcode opcode) {
    return opcode >= Opcode::read_response_first && opcode <= Opcode::read_response_only;
}

PacketWriter writer_of(const NicSettings& nic, const QpSettings& own, const Marking& marking) {
    return {{.source_mac = nic.mac,
             .destination_mac = nic.gateway_mac,
             .vlan_tci = marking.vlan_tci,
             .source = nic.address,
             .destination = own.peer,
             .dscp = marking.dscp,
             .ecn = marking.ecn,
             .port_of_qp = nic.port_of_qp},
            own.peer_qp};
}

}  // namespace

Duration time_on_empty_path(const NicSettings& nic, const FlowSettings& flow, std::uint64_t bytes) {
    const QpSettings anybody{.peer = nic.address};
    const PacketWriter data = writer_of(nic, anybody, flow.data), reply = writer_of(nic, anybody, nic.ack);
    const std::uint32_t mtu = flow.requester.mtu;
    const auto wire = [&](const PacketWriter& writer, Opcode opcode, std::uint32_t payload) {
        Outgoing packet;
        packet.opcode = opcode;
        packet.payload_bytes = payload;
        return wire_bytes(writer.frame_bytes(packet));
    };
    const std::uint64_t packets = (bytes + mtu - 1) / mtu;
    const auto rest = static_cast<std::uint32_t>(bytes - (packets - 1) * mtu);
    const auto train = [&](Opcode first, Opcode middle, Opcode last, Opcode only) {
        return Train{packets, wire(data, first, mtu), wire(data, middle, mtu),
                     wire(data, packets == 1 ? only : last, rest)};
    };
    const auto alone = [&](std::uint32_t frame) { return Train{1, 0, 0, frame}; };
    using enum Opcode;
    const std::span<const PathLink> path = flow.path;
    if (flow.kind == Requester::Kind::read)
        return time_through(path, alone(wire(data, read_request, 0))) +
               time_back(path, train(read_response_first, read_response_middle, read_response_last,
                                     read_response_only));
    return time_through(path, flow.kind == Requester::Kind::send
                                  ? train(send_first, send_middle, send_last, send_only)
                                  : train(write_first, write_middle, write_last, write_only)) +
           time_back(path, alone(wire(reply, acknowledge, 0)));
}

std::uint32_t write_empty_request(const NicSettings& nic, const FlowSettings& flow, const IpAddress& peer,
                                  std::uint32_t peer_qp, std::span<std::uint8_t> out) {
    Outgoing packet;
    packet.opcode = flow.kind == Requester::Kind::read   ? Opcode::read_request
                    : flow.kind == Requester::Kind::send ? Opcode::send_only
                                                         : Opcode::write_only;
    return writer_of(nic, {.peer = peer, .peer_qp = peer_qp}, flow.data).write(packet, out);
}

QueuePair::QueuePair(const NicSettings& nic, const FlowSettings& flow, const QpSettings& own,
                     std::uint32_t number, FlowStatistics& flow_statistics)
    : nic_(&nic),
      flow_(&flow),
      flow_statistics_(&flow_statistics),
      settings_(own),
      stream_(payload_stream(nic.address, number)),
      reaction_(nic.reaction),
      data_(writer_of(nic, own, flow.data)),
      draws_{nic.seed, own.identity},
      arrivals_(flow.arrivals, draws_),
      cnp_(writer_of(nic, own, nic.cnp)),
      reply_(writer_of(nic, own, nic.ack)),
      number_(number) {
    if (own.requests)
        end_.emplace<Requester>(flow.requester);
    else
        end_.emplace<RcResponder>(flow.responder);
}

void QueuePair::vacate() {
    end_.emplace<std::monostate>();
    statistics = {};
    listed = {};
    parts_.reset();
}

bool QueuePair::has_room() const {
    const Requester* end = requester();
    return end != nullptr && end->state() != Requester::State::failed &&
           end->posted() < flow_->requester.messages && arrivals_.message() < flow_->messages;
}

std::optional<Time> QueuePair::next_timer() const {
    if (!settings_.requests) return responder()->next_timer();
    std::optional<Time> next = requester()->next_timer();
    if (!has_room()) return next;
    const auto message = arrivals_.next();
    if (message && (!flow_->stop || *message < *flow_->stop)) take_earlier(next, *message);
    return next;
}

void QueuePair::expire(Time now) {
    if (!settings_.requests) return as_responder().expire(now);
    as_requester().expire(now);
    complete(now);
    post_due(now);
}

// The cookie is when the message came, as it may have waited for room.
void QueuePair::post_due(Time now) {
    while (has_room()) {
        const auto at = arrivals_.next();
        if (!at || *at > now || (flow_->stop && *at >= *flow_->stop)) return;
        const std::uint32_t bytes = flow_->sizes.size(draws_(MessageDraw::size, arrivals_.message()));
        if (!as_requester().post(flow_->kind, bytes, at->ps)) return;
        note_begun(now);
        arrivals_.begin_message();
    }
}

bool QueuePair::post(std::uint32_t bytes, Time now, std::uint32_t key) {
    if (!as_requester().post(flow_->kind, bytes, now.ps, key)) return false;
    note_begun(now);
    return true;
}

void QueuePair::note_begun(Time at) {
    const MessageLog* log = flow_statistics_->log;
    if (log == nullptr) return;
    if (begun_ == nullptr) begun_ = std::make_unique<std::deque<Begun>>();
    begun_->push_back({statistics.cnps_received, log->wire->paused_time(flow_->data.priority, at)});
}

void QueuePair::begin_transfer(std::uint64_t bytes, Time at) {
    note_begun(at);
    if (bytes <= max_message_bytes) {
        as_requester().post(flow_->kind, static_cast<std::uint32_t>(bytes), at.ps);
        return;
    }
    parts_ = std::make_unique<Parts>();
    parts_->to_post = bytes;
    parts_->came = at;
    post_parts();
}

// Two at a time, so that the wire need not wait.
void QueuePair::post_parts() {
    while (parts_->to_post != 0) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(parts_->to_post, max_message_bytes));
        if (!as_requester().post(flow_->kind, bytes, parts_->came.ps)) return;
        parts_->to_post -= bytes;
    }
}

// A part of a transfer is not its last; else it becomes the whole.
bool QueuePair::joins(Requester::Completion& part) {
    if (part.failed) {
        parts_->to_post = 0;
    } else {
        parts_->bytes += part.bytes;
        parts_->retransmissions += part.retransmissions;
        post_parts();
    }
    if (requester()->posted() != 0) return true;
    part.bytes = parts_->bytes;
    part.retransmissions = parts_->retransmissions;
    return false;
}

void QueuePair::complete(Time now) {
    bool any = false;
    while (auto message = as_requester().take_completion()) {
        if (parts_ != nullptr && joins(*message)) continue;
        any = true;
        arrivals_.completed(now);
        count(*message, now);
    }
    if (any) post_due(now);
}

void QueuePair::count(const Requester::Completion& message, Time now) {
    const Duration ideal = time_on_empty_path(*nic_, *flow_, message.bytes);
    if (MessageLog* log = flow_statistics_->log) {
        const Begun begun = begun_->front();
        begun_->pop_front();
        log->ended.push_back({.came = Time{message.cookie},
                              .ended = now,
                              .bytes = message.bytes,
                              .ideal = ideal,
                              .paused = log->wire->paused_time(flow_->data.priority, now) - begun.paused,
                              .peer = settings_.peer,
                              .peer_qp = settings_.peer_qp,
                              .flow = settings_.flow,
                              .number = ended_++,
                              .qp = number_,
                              .retransmissions = message.retransmissions,
                              .cnps = static_cast<std::uint32_t>(statistics.cnps_received - begun.cnps),
                              .failed = message.failed});
    }
    if (message.failed) {
        ++statistics.failed;
        return;
    }
    ++statistics.completed;
    if (message.retransmissions != 0) ++statistics.retried;
    statistics.completed_bytes += message.bytes;
    const Duration took = now - Time{message.cookie};
    statistics.completion_time = statistics.completion_time + took;
    flow_statistics_->completion_time.record(took);
    flow_statistics_->slowdown.record(slowdown_of(took, ideal));
}

Outgoing QueuePair::next_data(Time now) {
    const Outgoing packet = settings_.requests ? *as_requester().next(now) : *as_responder().next();
    const std::uint32_t bytes = wire_bytes(data_.frame_bytes(packet));
    reaction_.on_sent(bytes, now);
    const Duration paced = pace(bytes, reaction_.rate());
    paced_until_ = now + paced;
    if (!reaction_.at_line() && reaction_.since_cut(now) > long_recovery) {
        if (statistics.recovering.ps == 0) statistics.recovering_from = reaction_.rate();
        statistics.recovering_from = std::min(statistics.recovering_from, reaction_.rate());
        statistics.recovering = statistics.recovering + paced;
    }
    ++statistics.data_packets;
    statistics.data_wire_bytes += bytes;
    return packet;
}

void QueuePair::check(const Incoming& packet, std::uint64_t offset, Time now) {
    statistics.delivered_bytes += packet.payload_bytes();
    statistics.last_delivered = now;
    if (nic_->checks_payload && !packet.has_payload_of(stream_, offset)) ++statistics.wrong_payload;
}

void QueuePair::receive(const Incoming& packet, std::optional<std::uint8_t> rnr, Time now) {
    if (!settings_.requests) {
        const RcResponder::Delivery delivery = as_responder().receive(packet, rnr, now);
        if (delivery.kind == RcResponder::Delivery::Kind::none) return;
        if (delivery.kind == RcResponder::Delivery::Kind::payload) check(packet, delivery.offset, now);
        statistics.delivered += delivery.messages;
        return;
    }
    if (packet.opcode == Opcode::acknowledge) {
        ++statistics.acks_received;
        as_requester().receive_aeth(packet.psn, packet.aeth, now);
    } else if (is_read_response(packet.opcode)) {
        const auto data = as_requester().receive_response(packet.psn, packet.payload_bytes(), now);
        if (data.bytes != 0) check(packet, data.offset, now);
    }
    complete(now);
}

bool QueuePair::receive_trimmed(const Incoming& packet, Time now) {
    const bool asks = settings_.requests ? is_read_response(packet.opcode) &&
                                               as_requester().receive_trimmed_response(packet.psn, now)
                                         : as_responder().receive_trimmed(packet, now);
    if (asks) ++statistics.trimmed_asked;
    return asks;
}

void QueuePair::receive_cnp(Time now) {
    ++statistics.cnps_received;
    if (!nic_->ignore_cnp) reaction_.on_cnp(now);
}

void QpTotals::add_counters(const Requester::Counters& other) {
    requester.packets += other.packets;
    requester.retransmissions += other.retransmissions;
    requester.timeouts += other.timeouts;
    requester.sequence_errors += other.sequence_errors;
    requester.rnr_naks += other.rnr_naks;
}

void QpTotals::add_reordering(const ReceiveWindow::Counters& other) {
    reordering.inversions += other.inversions;
    reordering.max_depth = std::max(reordering.max_depth, other.max_depth);
    reordering.repeated += other.repeated;
}

void QpTotals::add(const QueuePair& pair) {
    qp.add(pair.statistics);
    if (const Requester* end = pair.requester()) {
        ++requesters;
        add_counters(end->counters());
        early += end->counters().early;
        add_reordering(end->reordering());
    }
    if (const RcResponder* end = pair.responder()) {
        duplicates += end->counters().duplicates;
        early += end->counters().early;
        add_reordering(end->reordering());
    }
}

void QpTotals::add(const QpTotals& other) {
    qp.add(other.qp);
    add_counters(other.requester);
    add_reordering(other.reordering);
    duplicates += other.duplicates;
    early += other.early;
    requesters += other.requesters;
}

}  // namespace sluice::roce
