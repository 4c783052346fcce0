// Queue pairs of a host that come and go with its transfers.
#include <algorithm>

#include "lib/roce/nic.hh"

namespace sluice::roce {

// A vacant place for a queue pair.
QpIndex Nic::take_place() {
    if (vacant_.empty()) {
        const auto before = static_cast<QpIndex>(queue_pairs_.size());
        const QpIndex count = std::max(2 * before, 8U);
        for (QpIndex place = count; place-- > before;) vacant_.push_back(place);
        const QpSettings nobody{.peer = settings_.address};
        queue_pairs_.reserve(count);
        while (queue_pairs_.size() < count)
            queue_pairs_.emplace_back(settings_, flows_[0], nobody, 0, flow_statistics_[0]).vacate();
        timers_.resize(count);
        schedule_.resize(count);
        notification_.resize(count);
        replies_.resize(count);
        cnps_.resize(count);
    }
    const QpIndex place = vacant_.back();
    vacant_.pop_back();
    return place;
}

// Opens the queue pair of a transfer.
QpIndex Nic::open(std::uint32_t transfer) {
    const QpIndex index = take_place();
    const ListedTransfer& own = transfers_[transfer];
    const FlowSettings& flow = flows_[own.flow];
    const std::uint32_t number = first_transfer_ + transfer;
    const std::uint64_t identity = payload_stream(settings_.address, number).seed;
    QueuePair& qp = queue_pairs_[index];
    qp =
        QueuePair(settings_, flow, {own.flow, own.requests, transfers_.peer(transfer), own.peer_qp, identity},
                  number, flow_statistics_[own.flow]);
    qp.listed.peer = transfer_peers_[own.peer];
    qp.listed.transfer = transfer;
    schedule_.set_class(index, flow.data.priority);
    notification_.forget(index);
    transfers_.set_slot(transfer, index);
    return index;
}

void Nic::start_transfers(Time now) {
    for (auto next = transfers_.next_start(); next && next->at <= now; next = transfers_.next_start()) {
        transfers_.start(*next);
        const auto& stop = flows_[transfers_[next->transfer].flow].stop;
        if (stop && next->at >= *stop) continue;
        const QpIndex index = open(next->transfer);
        queue_pairs_[index].begin_transfer(transfers_[next->transfer].bytes, next->at);
        note(index, now);
    }
}

// After an event of a transfer's queue pair.
void Nic::note_transfer(QpIndex index, Time now) {
    const QueuePair& qp = queue_pairs_[index];
    const std::uint32_t transfer = qp.listed.transfer;
    if (transfers_.has_ended(transfer)) return;
    const QpStatistics& figures = qp.statistics;
    const bool ended = qp.settings().requests ? figures.completed + figures.failed != 0
                                              : figures.delivered == transfers_[transfer].messages();
    if (!ended) return;
    transfers_.end(transfer, now);
    closing_.push_back(index);
}

bool Nic::may_close(QpIndex index) const {
    const QueuePair& qp = queue_pairs_[index];
    return qp.listed.in_rings == 0 && qp.listed.cnps == 0 && !replies_.waits[index] && !qp.has_reply();
}

// Queue pairs whose transfer has ended go when nothing of theirs waits to be sent.
void Nic::close_ended() {
    std::erase_if(closing_, [this](QpIndex index) {
        if (!may_close(index)) return false;
        QueuePair& qp = queue_pairs_[index];
        gone_[qp.settings().flow].add(qp);
        if (qp.listed.sends) schedule_.set_idle(index);
        if (qp.listed.timer) timers_.set(index, std::nullopt);
        transfers_.set_slot(qp.listed.transfer, Calendar::nobody);
        qp.vacate();
        vacant_.push_back(index);
        return true;
    });
}

// A host may have no event after the one that closes a queue pair, so it counts as closed before.
std::size_t Nic::open_queue_pairs() const {
    const auto closed = std::ranges::count_if(closing_, [this](QpIndex index) { return may_close(index); });
    return queue_pairs_.size() - vacant_.size() - static_cast<std::size_t>(closed);
}

const QueuePair* Nic::find_queue_pair(std::uint32_t number) const {
    QpIndex index = number - settings_.first_qp;  // wraps beyond all
    if (const std::uint32_t transfer = number - first_transfer_; transfer < transfers_.count())
        index = transfers_.slot(transfer);
    else if (number >= first_transfer_)
        return nullptr;
    return index < queue_pairs_.size() ? &queue_pairs_[index] : nullptr;
}

// The place of a transfer's queue pair, which opens for the first packet, and again for one that comes again;
// nobody: it is not there.
QpIndex Nic::place_for(std::uint32_t transfer, const Incoming& packet) {
    QpIndex index = transfers_.slot(transfer);
    const ListedTransfer& own = transfers_[transfer];
    if (index != Calendar::nobody || own.requests || !is_data(packet.opcode)) return index;
    index = open(transfer);
    if (transfers_.has_ended(transfer)) {
        const std::uint32_t mtu = flows_[own.flow].responder.mtu;
        queue_pairs_[index].continue_after(own.packets(mtu), own.messages());
        closing_.push_back(index);
    }
    return index;
}

// For a queue pair that is not there: it may have gone.
bool Nic::receive_late(std::uint32_t transfer, const Incoming& packet) {
    if (!transfers_.has_ended(transfer)) return false;
    QpStatistics& figures = gone_[transfers_[transfer].flow].qp;
    if (packet.opcode == Opcode::cnp)
        ++figures.cnps_received;
    else if (packet.opcode == Opcode::acknowledge)
        ++figures.acks_received;
    return true;
}

void Nic::release(std::uint32_t transfer, Time now) {
    catch_up(now);
    transfers_.release(transfer, now);
    settle(now);
}

}  // namespace sluice::roce
