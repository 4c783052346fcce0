#include "lib/roce/queue_pair.hh"

#include <algorithm>

#include "lib/roce/send_schedule.hh"

namespace sluice::roce {
namespace {

// A rate without a CNP for so long is not held down by a queue: it only rises too slowly.
constexpr Duration long_recovery = milliseconds(2);

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
      reply_(writer_of(nic, own, nic.ack)) {
    if (own.requests)
        end_.emplace<Requester>(flow.requester);
    else
        end_.emplace<RcResponder>(flow.responder);
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
        arrivals_.begin_message();
    }
}

void QueuePair::complete(Time now) {
    bool any = false;
    while (const auto message = as_requester().take_completion()) {
        any = true;
        arrivals_.completed(now);
        if (message->failed) {
            ++statistics.failed;
            continue;
        }
        ++statistics.completed;
        if (message->retransmissions != 0) ++statistics.retried;
        statistics.completed_bytes += message->bytes;
        const Duration took = now - Time{message->cookie};
        statistics.completion_time = statistics.completion_time + took;
        flow_statistics_->completion_time.record(took);
        if (!flow_statistics_->by_size.empty())
            flow_statistics_->by_size[size_class(message->bytes)].record(took);
        const std::int64_t empty = std::max<std::int64_t>(time_on_empty_path(*message).ps / 1000, 1);
        flow_statistics_->slowdown.record({took.ps / empty});
    }
    if (any) post_due(now);
}

Duration QueuePair::time_on_empty_path(const Requester::Completion& message) const {
    const std::uint64_t packets = (message.bytes + flow_->requester.mtu - 1) / flow_->requester.mtu;
    Outgoing middle;
    middle.opcode = Opcode::write_middle;
    const std::uint64_t bytes = message.bytes + packets * wire_bytes(data_.frame_bytes(middle));
    return flow_->path_delay + flow_->path_rate.byte_time() * static_cast<std::int64_t>(bytes);
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
    } else if (packet.opcode >= Opcode::read_response_first && packet.opcode <= Opcode::read_response_only) {
        const auto data = as_requester().receive_response(packet.psn, packet.payload_bytes(), now);
        if (data.bytes != 0) check(packet, data.offset, now);
    }
    complete(now);
}

void QueuePair::receive_cnp(Time now) {
    ++statistics.cnps_received;
    if (!nic_->ignore_cnp) reaction_.on_cnp(now);
}

}  // namespace sluice::roce
