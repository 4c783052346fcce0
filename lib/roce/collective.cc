#include "lib/roce/collective.hh"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace sluice::roce {
namespace {

// The queue pairs of a host as they are connected.
void add_queue_pairs(RankSettings& rank, QpIndex first, std::uint32_t count) {
    if (rank.queue_pairs == 0) rank.first_qp = first;
    rank.queue_pairs = first + count - rank.first_qp;
}

// A receiver mostly knows a sender by the place that the sender knows it by.
std::size_t place_of(const std::vector<std::uint32_t>& peers, std::uint32_t peer, std::size_t likely) {
    if (likely < peers.size() && peers[likely] == peer) return likely;
    return static_cast<std::size_t>(std::ranges::find(peers, peer) - peers.begin());
}

// In ascending order of peers.
std::vector<std::size_t> in_order(const std::vector<std::uint32_t>& peers) {
    std::vector<std::size_t> order(peers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t n) { return peers[n]; });
    return order;
}

}  // namespace

std::vector<RankSettings> connect_ranks(const CollectiveSettings& settings, std::uint32_t id,
                                        const ConnectRanks& connect) {
    std::vector<RankSettings> ranks(settings.ranks);
    std::vector<std::vector<Strand>> strands(settings.ranks);
    for (std::uint32_t n = 0; n < settings.ranks; ++n) {
        ranks[n].collective = settings;
        ranks[n].id = id;
        ranks[n].rank = n;
        strands[n] = strands_of(settings, n);
        for (const Strand& each : strands[n]) {
            RankSettings::Lines& lines = ranks[n].strands.emplace_back();
            lines.to.resize(each.targets.size());
            lines.from.resize(each.sources.size());
            if (settings.control_bytes == 0) continue;
            lines.clears.resize(each.sources.size());
            lines.cleared.resize(each.targets.size());
        }
    }
    const auto connected = [&](std::uint32_t from, std::uint32_t to, bool is_control) {
        const std::uint32_t count = is_control ? 1 : settings.queue_pairs;
        const LineEnds ends = connect(from, to, is_control);
        add_queue_pairs(ranks[from], ends.sender, count);
        add_queue_pairs(ranks[to], ends.receiver, count);
        return ends;
    };
    for (std::uint32_t rank = 0; rank < settings.ranks; ++rank)
        for (std::size_t own = 0; own < strands[rank].size(); ++own)
            for (const std::size_t n : in_order(strands[rank][own].targets)) {
                const std::uint32_t peer = strands[rank][own].targets[n];
                // The strand there that receives it.
                std::size_t other = 0, place = 0;
                for (;; ++other) {
                    const Strand& there = strands[peer][other];
                    place = place_of(there.sources, rank, n);
                    if (there.lane == strands[rank][own].lane && place != there.sources.size()) break;
                }
                const LineEnds data = connected(rank, peer, false);
                ranks[rank].strands[own].to[n] = data.sender;
                ranks[peer].strands[other].from[place] = data.receiver;
                if (settings.control_bytes == 0) continue;
                const LineEnds control = connected(peer, rank, true);
                ranks[peer].strands[other].clears[place] = control.sender;
                ranks[rank].strands[own].cleared[n] = control.receiver;
            }
    return ranks;
}

CollectiveRank::CollectiveRank(const RankSettings& settings)
    : settings_(settings),
      strands_(strands_of(settings_.collective, settings.rank)),
      progress_(strands_.size()),
      lines_(settings.queue_pairs),
      due_(Time{} + settings.collective.start) {
    assert(settings_.collective.steps > 0 && settings_.strands.size() == strands_.size());
    assert(!settings_.sizes || settings_.sizes->size() == settings_.collective.steps);
    for (std::uint32_t strand = 0; strand < strands_.size(); ++strand) {
        const RankSettings::Lines& own = settings_.strands[strand];
        for (const auto* firsts : {&own.to, &own.from})
            for (const QpIndex first : *firsts)
                for (std::uint32_t n = 0; n < settings_.collective.queue_pairs; ++n)
                    line(first + n).strand = strand;
        for (const auto* controls : {&own.clears, &own.cleared})
            for (const QpIndex qp : *controls) line(qp).strand = strand;
    }
    steps_.reserve(settings_.program ? 1 : settings_.collective.steps);
}

void CollectiveRank::expire(Time now) {
    if (!is_timed() || now < due_) return;
    if (state_ == State::waiting) return begin_step(now);
    came_[meeting_++ % 2] = 0;
    if (state_ == State::gathering) return end(now);
    begin(now);
}

void CollectiveRank::command(Time now) {
    const std::uint64_t bytes = settings_.sizes->at(begun_);
    if (std::exchange(settings_.collective.bytes, bytes) != bytes)
        strands_ = strands_of(settings_.collective, settings_.rank);
    begin_step(now);
}

void CollectiveRank::begin_step(Time now) {
    if (settings_.program) steps_.clear();
    steps_.push_back({now, {}, {}});
    ++begun_;
    if (settings_.collective.is_hierarchical()) return meet(State::reducing, now);
    begin(now);
}

void CollectiveRank::meet(State part, Time now) {
    state_ = part;
    arrivals_.push_back({meeting_, now});
    join(arrivals_.back(), now);
}

void CollectiveRank::join(const Arrival& arrival, Time now) {
    const std::size_t place = arrival.meeting % 2;
    last_came_[place] = came_[place] == 0 ? arrival.came : max(last_came_[place], arrival.came);
    ++came_[place];
    if (arrival.meeting == meeting_ && !misses_ranks())
        due_ = max(last_came_[place] + settings_.collective.time_in_server(), now);
}

void CollectiveRank::begin(Time now) {
    state_ = State::running;
    to_send_ = to_receive_ = 0;
    for (std::uint32_t strand = 0; strand < strands_.size(); ++strand) {
        progress_[strand] = {};
        to_send_ += strands_[strand].sends();
        to_receive_ += strands_[strand].receives();
        take(strand);
    }
    awake_ = 0;
    asleep_ = static_cast<std::uint32_t>(strands_.size());
    advance(now);
}

void CollectiveRank::end(Time now) {
    steps_.back().ended = now;
    is_over_ = true;
    ended_bytes_ += settings_.collective.bytes;
    state_ = begun_ == settings_.collective.steps ? State::done : State::waiting;
    due_ = max(now, steps_.back().begun + settings_.collective.overlap) + settings_.collective.compute;
}

// Counts messages that have come, in the strand's order.
void CollectiveRank::take(std::uint32_t strand) {
    Progress& own = progress_[strand];
    for (const std::uint32_t all = strands_[strand].receives(); own.received != all; ++own.received) {
        const std::uint32_t source = strands_[strand].receive(own.received).peer;
        Line* const first = &line(settings_.strands[strand].from[source]);
        const std::span shared(first, settings_.collective.queue_pairs);
        if (std::ranges::any_of(shared, [](const Line& each) { return each.delivered == each.taken; }))
            return;
        for (Line& each : shared) ++each.taken;
        --to_receive_;
    }
}

void CollectiveRank::wake(std::uint32_t strand) {
    if (awake_ == asleep_) awake_ = asleep_ = strand;
    awake_ = std::min(awake_, strand);
    asleep_ = std::max(asleep_, strand + 1);
}

void CollectiveRank::completed(QpIndex qp, bool failed, Time now) {
    Line& own = line(qp);
    --own.pending;
    --pending_;
    if (failed) {
        state_ = State::failed;
        is_over_ = true;
    }
    wake(own.strand);
    advance(now);
}

void CollectiveRank::delivered(QpIndex qp, Time now) {
    Line& own = line(qp);
    ++own.delivered;
    if (state_ != State::running) return;
    take(own.strand);
    wake(own.strand);
    advance(now);
}

std::optional<CollectiveRank::Post> CollectiveRank::next_post(Time now) {
    if (state_ != State::running) return std::nullopt;
    for (; awake_ != asleep_; ++awake_) {
        std::optional<Post> made = next_clearance(awake_);
        if (!made) made = next_data(awake_);
        if (!made) continue;
        advance(now);
        return made;
    }
    return std::nullopt;
}

CollectiveRank::Post CollectiveRank::post(QpIndex qp, std::uint64_t bytes) {
    ++line(qp).pending;
    ++pending_;
    return {qp, static_cast<std::uint32_t>(bytes)};
}

std::optional<CollectiveRank::Post> CollectiveRank::next_clearance(std::uint32_t strand) {
    const std::uint32_t bytes = settings_.collective.control_bytes;
    const Strand& messages = strands_[strand];
    Progress& own = progress_[strand];
    const std::uint64_t ahead = own.received + std::uint64_t{max_ahead} * messages.sources.size();
    if (bytes == 0 || own.cleared == messages.receives() || own.cleared >= ahead) return std::nullopt;
    const QpIndex qp = settings_.strands[strand].clears[messages.receive(own.cleared).peer];
    if (line(qp).pending == max_ahead) return std::nullopt;
    ++own.cleared;
    return post(qp, bytes);
}

std::optional<CollectiveRank::Post> CollectiveRank::next_data(std::uint32_t strand) {
    const Strand& messages = strands_[strand];
    Progress& own = progress_[strand];
    if (own.sent == messages.sends() || own.received < messages.awaits(own.sent)) return std::nullopt;
    const auto [target, data] = messages.send(own.sent);
    const RankSettings::Lines& lines = settings_.strands[strand];
    const QpIndex qp = lines.to[target] + own.sent_qps;
    if (line(qp).pending == max_ahead) return std::nullopt;
    if (settings_.collective.control_bytes != 0 && own.sent_qps == 0) {
        Line& clearances = line(lines.cleared[target]);
        if (clearances.delivered == clearances.taken) return std::nullopt;
        ++clearances.taken;
    }
    const std::uint32_t queue_pairs = settings_.collective.queue_pairs;
    const Post made = post(qp, data.share(queue_pairs, own.sent_qps).bytes);
    if (++own.sent_qps == queue_pairs) {
        own.sent_qps = 0;
        ++own.sent;
        --to_send_;
    }
    return made;
}

void CollectiveRank::advance(Time now) {
    if (state_ != State::running || to_receive_ != 0) return;
    Step& step = steps_.back();
    if (!step.received && to_send_ <= strands_.size()) step.received = now;
    if (to_send_ != 0 || pending_ != 0) return;
    if (settings_.collective.is_hierarchical() && !settings_.collective.is_one_way)
        return meet(State::gathering, now);
    end(now);
}

}  // namespace sluice::roce
