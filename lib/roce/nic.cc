#include "lib/roce/nic.hh"

#include <algorithm>
#include <cassert>

#include "lib/values/class_mask.hh"
#include "lib/values/rng.hh"

namespace sluice::roce {
namespace {

std::vector<ClassId> data_classes(std::span<const FlowSettings> flows, std::span<const QpSettings> qps) {
    std::vector<ClassId> result;
    for (const QpSettings& qp : qps) result.push_back(flows[qp.flow].data.priority);
    return result;
}

std::vector<IpAddress> peers_of(std::span<const QpSettings> qps, const TransferList* transfers) {
    std::vector<IpAddress> peers;
    for (const QpSettings& qp : qps) peers.push_back(qp.peer);
    if (transfers != nullptr) peers.insert(peers.end(), transfers->peers.begin(), transfers->peers.end());
    std::ranges::sort(peers);
    peers.erase(std::ranges::unique(peers).begin(), peers.end());
    return peers;
}

std::uint32_t number_of(const IpAddress& peer, const std::vector<IpAddress>& peers) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(peers, peer) - peers.begin());
}

}  // namespace

Nic::Nic(const NicSettings& settings, std::vector<FlowSettings> flows,
         std::span<const QpSettings> queue_pairs, std::span<const RankSettings> ranks,
         std::shared_ptr<const TransferList> transfers, std::span<const ProgramSettings> programs)
    : settings_(settings),
      flows_(std::move(flows)),
      flow_statistics_(flows_.size()),
      schedule_(data_classes(flows_, queue_pairs)),
      timers_(queue_pairs.size()),
      ranks_(ranks.begin(), ranks.end()),
      programs_(programs.begin(), programs.end()),
      transfers_(std::move(transfers)),
      first_transfer_(settings.first_qp + static_cast<std::uint32_t>(queue_pairs.size())),
      gone_(flows_.size()),
      notification_(settings.cnp_scope, settings.cnp_interval, queue_pairs.size(), queue_pairs.size()),
      replies_(queue_pairs.size()),
      cnps_(queue_pairs.size()) {
    assert(settings.ring_frames > 0 && settings.first_qp > 0);
    in_use_ = 1U << settings.ack.priority | 1U << settings.cnp.priority;
    queue_pairs_.reserve(queue_pairs.size());
    const std::vector<IpAddress> peers = peers_of(queue_pairs, transfers_.list());
    const auto use = [&](std::uint32_t index) {
        const FlowSettings& flow = flows_[index];
        rings_[flow.data.priority].set_capacity(settings.ring_frames);
        room_ |= 1U << flow.data.priority;
    };
    for (QpIndex n = 0; n < queue_pairs.size(); ++n) {
        const QpSettings& own = queue_pairs[n];
        use(own.flow);
        queue_pairs_.emplace_back(settings_, flows_[own.flow], own, settings.first_qp + n,
                                  flow_statistics_[own.flow]);
        queue_pairs_.back().listed.peer = number_of(own.peer, peers);
        note_others(n);
    }
    for (std::uint32_t n = 0; n < transfers_.count(); ++n) use(transfers_[n].flow);
    if (transfers_.list() != nullptr)
        for (const IpAddress& peer : transfers_.list()->peers)
            transfer_peers_.push_back(number_of(peer, peers));
    in_use_ |= room_;
    settle(Time{});
}

// Fills with data that is due since the event before, each at its time.
void Nic::fill_rings(Time now) {
    for (auto turn = schedule_.first(room_); turn.is_due(now); turn = schedule_.first(room_)) {
        const Time moment = max(turn.at, moment_);
        QueuePair& qp = queue_pairs_[turn.number];
        const ClassId priority = qp.flow().data.priority;
        Ring& ring = rings_[priority];
        ring.push_back({turn.number, qp.next_data(moment), pushed_++});
        ++qp.listed.in_rings;
        if (ring.full()) room_ &= ~(1U << priority);
        qp.listed.sends = qp.has_data();
        if (qp.listed.sends)
            schedule_.set_ready(turn.number, qp.paced_until());
        else
            schedule_.set_idle(turn.number);
        note_others(turn.number);
    }
    moment_ = max(moment_, now);
    const auto next = schedule_.first(in_use_);  // even if it waits for room
    if (next.number == Calendar::nobody || next.number == fetched_) return;
    fetched_ = next.number;
    queue_pairs_[next.number].fetch();
    schedule_.fetch(next.number);
}

// Before an event.
void Nic::catch_up(Time now) {
    if (!closing_.empty()) [[unlikely]]
        close_ended();
    if (next_fill_ && *next_fill_ <= now) fill_rings(now);
    moment_ = max(moment_, now);
}

// After it.
void Nic::settle(Time now) {
    fill_rings(now);
    unsigned waiting = 0;
    if (cnps_.any()) waiting |= 1U << settings_.cnp.priority;
    if (replies_.any()) waiting |= 1U << settings_.ack.priority;
    ready_count_ = 0;
    for_each_class(in_use_, [&](ClassId n) {
        if ((waiting >> n & 1U) != 0 || !rings_[n].empty())
            ready_[ready_count_++] = {n, moment_};
        else if (const auto at = schedule_.next_time(1U << n))
            ready_[ready_count_++] = {n, *at};
    });
    next_timer_ = timers_.earliest();
    if (const auto at = next_of_posters()) take_earlier(next_timer_, *at);
    if (const auto start = transfers_.next_start()) take_earlier(next_timer_, start->at);
    next_fill_ = schedule_.next_time(room_);
}

// Updates the schedules after an event of the queue pair.
void Nic::note(QpIndex index, Time now) {
    QueuePair& qp = queue_pairs_[index];
    if (qp.has_data() != qp.listed.sends) {
        qp.listed.sends = !qp.listed.sends;
        if (qp.listed.sends)
            schedule_.set_ready(index, max(qp.paced_until(), now));
        else
            schedule_.set_idle(index);
    }
    note_others(index);
}

void Nic::note_others(QpIndex index) {
    QueuePair& qp = queue_pairs_[index];
    if (qp.has_reply()) replies_.add(index);
    const auto timer = qp.next_timer();
    std::optional<Time>& listed = qp.listed.timer;
    if (timer && !(listed && *listed <= *timer)) {
        listed = timer;
        timers_.set(index, timer);
    } else if (!timer && listed) {
        listed.reset();
        timers_.set(index, std::nullopt);
    }
}

NicFrame Nic::frame_of(QpIndex index, FrameKind kind, ClassId priority, const Outgoing& packet) {
    ++statistics_.frames_sent;
    return {index, kind, priority, queue_pairs_[index].writer(kind).frame_bytes(packet), packet};
}

Nic::Ring* Nic::oldest(unsigned allowed) {
    Ring* best = nullptr;
    for_each_class(allowed & in_use_, [&](ClassId n) {
        Ring& ring = rings_[n];
        if (ring.empty()) return;
        if (best == nullptr || ring.front().order < best->front().order) best = &ring;
    });
    return best;
}

std::optional<NicFrame> Nic::next_frame(Time now, unsigned allowed) {
    catch_up(now);
    std::optional<NicFrame> frame;
    if (cnps_.any() && (allowed >> settings_.cnp.priority & 1U) != 0) {
        const QpIndex index = cnps_.take();
        if (--queue_pairs_[index].listed.cnps != 0) cnps_.add(index);
        ++queue_pairs_[index].statistics.cnps_sent;
        statistics_.last_cnp = now;
        statistics_.unanswered_since.reset();
        Outgoing cnp;
        cnp.opcode = Opcode::cnp;
        frame = frame_of(index, FrameKind::cnp, settings_.cnp.priority, cnp);
    }
    while (!frame && replies_.any() && (allowed >> settings_.ack.priority & 1U) != 0) {
        const QpIndex index = replies_.take();
        QueuePair& qp = queue_pairs_[index];
        // A READ that came since is answered first.
        if (!qp.has_reply()) continue;
        const Outgoing reply = qp.next_reply();
        if (reply.opcode == Opcode::acknowledge) ++qp.statistics.acks_sent;
        frame = frame_of(index, FrameKind::reply, settings_.ack.priority, reply);
    }
    if (!frame) {
        if (Ring* ring = oldest(allowed)) {
            const InRing& head = ring->front();
            QueuePair& qp = queue_pairs_[head.qp];
            const ClassId priority = qp.flow().data.priority;
            --qp.listed.in_rings;
            frame = frame_of(head.qp, FrameKind::data, priority, head.packet);
            ring->pop_front();
            room_ |= 1U << priority;
        }
    }
    settle(now);
    return frame;
}

void Nic::expire(Time now) {
    catch_up(now);
    while (const auto index = timers_.take_due(now)) {
        queue_pairs_[*index].listed.timer.reset();
        on_queue_pair(*index, now, [now](QueuePair& qp) { qp.expire(now); });
    }
    expire_posters(now);
    start_transfers(now);
    settle(now);
}

// An event of a queue pair, and its poster's reaction to messages that it ends.
template <class Event>
void Nic::on_queue_pair(QpIndex index, Time now, Event event) {
    QueuePair& qp = queue_pairs_[index];
    const auto poster = qp.settings().poster;
    if (!poster) [[likely]] {
        event(qp);
        note(index, now);
        if (qp.listed.transfer != Calendar::nobody) note_transfer(index, now);
        return;
    }
    const QpStatistics before = qp.statistics;
    event(qp);
    note(index, now);
    if (poster->kind == Poster::Kind::rank)
        tell_rank(index, before, now);
    else
        tell_program(index, before, now);
}

void Nic::foretell(std::span<const std::uint8_t> frame) const {
    const QueuePair* qp = find_queue_pair(guess_destination_qp(frame));
    if (qp == nullptr) return;
    qp->fetch();
    notification_.fetch(static_cast<std::size_t>(qp - queue_pairs_.data()));
}

// False: it is a stranger's.
bool Nic::receive_known(const Incoming& packet, Time now) {
    if (packet.destination != settings_.address) return false;
    QpIndex index = packet.qp - settings_.first_qp;  // both wrap beyond all
    const std::uint32_t transfer = packet.qp - first_transfer_;
    if (transfer < transfers_.count()) {
        if (packet.source != transfers_.peer(transfer)) return false;
        index = place_for(transfer, packet);
        if (index == Calendar::nobody) return receive_late(transfer, packet);
    } else if (index >= first_transfer_ - settings_.first_qp ||
               packet.source != queue_pairs_[index].settings().peer) {
        return false;
    }
    on_queue_pair(index, now, [&](QueuePair&) { receive_of(index, packet, now); });
    return true;
}

void Nic::receive_packet(const Incoming& packet, Time now) {
    catch_up(now);
    ++statistics_.frames_received;
    if (packet.refusal == Incoming::Refusal::trimmed)
        receive_trimmed(packet, now);
    else if (packet.refusal != Incoming::Refusal::none)
        ++statistics_.refused;
    else if (!receive_known(packet, now))
        ++statistics_.strangers;
    settle(now);
}

// Congestion on the packet's way: its sender gets a CNP when one is due.
void Nic::notify(QpIndex index, Time now) {
    QueuePair& qp = queue_pairs_[index];
    const bool due = !statistics_.last_cnp || now - *statistics_.last_cnp >= settings_.cnp_interval;
    if (due && !statistics_.unanswered_since) statistics_.unanswered_since = now;
    if (!settings_.echo_ce || !notification_.on_marked(index, qp.listed.peer, now)) return;
    ++qp.listed.cnps;
    cnps_.add(index);
}

// Its queue pair may ask for it; only then it counts as marked.
[[gnu::cold]] void Nic::receive_trimmed(const Incoming& packet, Time now) {
    ++statistics_.trimmed;
    if (!receive_known(packet, now)) ++statistics_.strangers;
}

void Nic::receive_of(QpIndex index, const Incoming& packet, Time now) {
    QueuePair& qp = queue_pairs_[index];
    if (packet.refusal == Incoming::Refusal::trimmed) [[unlikely]] {
        const bool asks = qp.receive_trimmed(packet, now);
        if (asks && (settings_.trim_marks || packet.ecn == Ecn::ce)) notify(index, now);
        return;
    }
    if (packet.opcode == Opcode::cnp) return qp.receive_cnp(now);
    if (is_data(packet.opcode)) {
        if (packet.ecn == Ecn::ce) {
            ++qp.statistics.ce_received;
            notify(index, now);
        }
        if (packet.ecn == Ecn::not_ect) {
            ++qp.statistics.not_ect_received;
            statistics_.not_ect_dscp = packet.dscp;
        }
    }
    std::optional<std::uint8_t> rnr;
    if (settings_.rnr_chance != 0 && packet.opcode <= Opcode::send_only) {
        const std::uint64_t drawn =
            draw({settings_.seed ^ scramble(qp.settings().identity), 4, 0, sends_seen_++});
        if (chance(drawn, settings_.rnr_chance)) rnr = settings_.rnr_timer;
    }
    qp.receive(packet, rnr, now);
}

void Nic::keep_log(const PauseSender& wire) {
    log_ = std::make_unique<MessageLog>();
    log_->wire = &wire;
    for (FlowStatistics& flow : flow_statistics_) flow.log = log_.get();
}

void Nic::stop(Time now) {
    catch_up(now);
    for (FlowSettings& flow : flows_) take_earlier(flow.stop, now);
    transfers_.stop();
    for (QpIndex n = 0; n < queue_pairs_.size(); ++n)
        if (!queue_pairs_[n].is_vacant()) note_others(n);
    settle(now);
}

void Nic::set_reaction(const ReactionParameters& parameters) {
    assert(parameters.valid() && parameters.line_rate == settings_.reaction.line_rate);
    settings_.reaction = parameters;
    for (QueuePair& qp : queue_pairs_) qp.set_reaction(settings_.reaction);
}

}  // namespace sluice::roce
