#include "lib/roce/collective.hh"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sluice::roce {
namespace {

using Kind = CollectiveKind;

// The end of part `n` of `parts` in so many bytes, which is where the next begins.
constexpr std::uint64_t part_end(std::uint64_t bytes, std::uint64_t parts, std::uint64_t n) {
    return bytes / parts * (n + 1) + bytes % parts * (n + 1) / parts;
}
constexpr std::uint64_t part_begin(std::uint64_t bytes, std::uint64_t parts, std::uint64_t n) {
    return n == 0 ? 0 : part_end(bytes, parts, n - 1);
}

std::uint32_t log_2(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }

}  // namespace

BusFactor bus_factor(Kind kind, std::uint32_t ranks) {
    switch (kind) {
        case Kind::ring_allreduce:
        case Kind::halving_doubling:
            return {2ULL * (ranks - 1), ranks};
        case Kind::all_to_all:
        case Kind::all_gather:
        case Kind::reduce_scatter:
            return {ranks - 1ULL, ranks};
        case Kind::pipeline:
            break;
    }
    return {1, 1};
}

std::uint32_t CollectiveRounds::count() const {
    switch (kind_) {
        case Kind::ring_allreduce:
            return 2 * (ranks_ - 1);
        case Kind::halving_doubling:
            return 2 * log_2(ranks_);
        case Kind::all_gather:
        case Kind::reduce_scatter:
            return ranks_ - 1;
        case Kind::all_to_all:
            return 1;
        case Kind::pipeline:
            break;
    }
    return parts_ + 1;  // in round r a stage takes part r in and hands part r - 1 on
}

std::uint32_t CollectiveRounds::sends(std::uint32_t round) const {
    if (kind_ == Kind::all_to_all) return ranks_ - 1;
    if (kind_ != Kind::pipeline) return 1;
    return rank_ + 1 != ranks_ && round != 0 ? 1 : 0;
}

std::uint32_t CollectiveRounds::receives(std::uint32_t round) const {
    if (kind_ == Kind::all_to_all) return ranks_ - 1;
    if (kind_ != Kind::pipeline) return 1;
    return rank_ != 0 && round != parts_ ? 1 : 0;
}

// Reduce-scatter: rank r ends with chunk r. All-gather: it begins with chunk r.
std::uint32_t CollectiveRounds::ring_chunk(std::uint32_t round, std::uint32_t sender) const {
    const bool reduces =
        kind_ == Kind::reduce_scatter || (kind_ == Kind::ring_allreduce && round < ranks_ - 1);
    if (reduces) return (sender + 2 * ranks_ - 1 - round) % ranks_;
    const std::uint32_t gathers = kind_ == Kind::ring_allreduce ? round - (ranks_ - 1) : round;
    return (sender + ranks_ - gathers) % ranks_;
}

Transfer CollectiveRounds::send(std::uint32_t round, std::uint32_t n) const {
    switch (kind_) {
        case Kind::ring_allreduce:
        case Kind::all_gather:
        case Kind::reduce_scatter:
            return {after(1), ring_chunk(round, rank_), 1};
        case Kind::halving_doubling: {
            // Halving: of the chunks that it still reduces, a rank gives away the half where the peer lies.
            const std::uint32_t rounds = log_2(ranks_);
            const bool halves = round < rounds;
            const std::uint32_t distance = ranks_ >> (halves ? round + 1 : 2 * rounds - round);
            const std::uint32_t peer = rank_ ^ distance;
            return {peer, (halves ? peer : rank_) & ~(distance - 1), distance};
        }
        case Kind::all_to_all:
            return {after(n + 1), after(n + 1), 1};
        case Kind::pipeline:
            break;
    }
    return {rank_ + 1, round - 1, 1};
}

Transfer CollectiveRounds::receive(std::uint32_t round, std::uint32_t n) const {
    switch (kind_) {
        case Kind::ring_allreduce:
        case Kind::all_gather:
        case Kind::reduce_scatter:
            return {before(1), ring_chunk(round, before(1)), 1};
        case Kind::halving_doubling: {
            const Transfer own = send(round, n);
            return {own.peer, own.chunk ^ own.chunks, own.chunks};
        }
        case Kind::all_to_all:
            return {before(n + 1), rank_, 1};
        case Kind::pipeline:
            break;
    }
    return {rank_ - 1, round, 1};
}

std::vector<std::uint32_t> CollectiveRounds::receivers() const {
    std::vector<std::uint32_t> peers;
    for (std::uint32_t round = 0; round < count(); ++round)
        for (std::uint32_t n = 0; n < sends(round); ++n) peers.push_back(send(round, n).peer);
    std::ranges::sort(peers);
    peers.erase(std::ranges::unique(peers).begin(), peers.end());
    return peers;
}

CollectiveRank::CollectiveRank(const RankSettings& settings)
    : settings_(settings),
      rounds_(settings_.collective, settings.rank),
      begins_(Time{} + settings.collective.start),
      lines_(settings.queue_pairs) {
    const CollectiveSettings& collective = settings_.collective;
    assert(collective.ranks >= 2 && settings.rank < collective.ranks && collective.steps > 0);
    assert(collective.kind != Kind::halving_doubling || std::has_single_bit(collective.ranks));
    assert(collective.bytes / collective.chunks() >= collective.queue_pairs && collective.queue_pairs > 0);
    steps_.reserve(collective.steps);
}

void CollectiveRank::expire(Time now) {
    if (state_ != State::waiting || now < begins_) return;
    state_ = State::running;
    steps_.push_back({now, {}, {}});
    round_ = 0;
    begin_round();
    advance(now);
}

void CollectiveRank::begin_round() {
    send_ = send_qp_ = 0;
    missing_ = 0;
    for (std::uint32_t n = 0; n < rounds_.receives(round_); ++n) {
        const std::uint32_t first = settings_.peers[rounds_.receive(round_, n).peer].from;
        for (std::uint32_t qp = 0; qp < settings_.collective.queue_pairs; ++qp) {
            Line& line = lines_[first + qp];
            if (line.delivered < ++line.awaited) ++missing_;
        }
    }
}

void CollectiveRank::completed(QpIndex qp, bool failed, Time now) {
    --lines_[qp - settings_.first_qp].pending;
    --pending_;
    if (failed) state_ = State::failed;
    advance(now);
}

void CollectiveRank::delivered(QpIndex qp, Time now) {
    Line& line = lines_[qp - settings_.first_qp];
    if (++line.delivered == line.awaited) --missing_;
    advance(now);
}

std::optional<CollectiveRank::Post> CollectiveRank::next_post(Time now) {
    if (state_ != State::running || send_ == rounds_.sends(round_)) return std::nullopt;
    const CollectiveSettings& collective = settings_.collective;
    const Transfer transfer = rounds_.send(round_, send_);
    const std::uint32_t number = settings_.peers[transfer.peer].to + send_qp_;
    if (lines_[number].pending == max_ahead) return std::nullopt;
    const std::uint64_t begin = part_begin(collective.bytes, collective.chunks(), transfer.chunk);
    const std::uint64_t bytes =
        part_end(collective.bytes, collective.chunks(), transfer.chunk + transfer.chunks - 1) - begin;
    const std::uint64_t share = part_end(bytes, collective.queue_pairs, send_qp_) -
                                part_begin(bytes, collective.queue_pairs, send_qp_);
    ++lines_[number].pending;
    ++pending_;
    if (++send_qp_ == collective.queue_pairs) {
        send_qp_ = 0;
        ++send_;
    }
    advance(now);
    return Post{settings_.first_qp + number, static_cast<std::uint32_t>(share)};
}

void CollectiveRank::advance(Time now) {
    while (state_ == State::running && missing_ == 0) {
        Step& step = steps_.back();
        const bool last = round_ + 1 == rounds_.count();
        if (last && !step.received) step.received = now;
        if (send_ != rounds_.sends(round_)) return;
        if (!last) {
            ++round_;
            begin_round();
            continue;
        }
        if (pending_ != 0) return;
        step.ended = now;
        state_ = steps_.size() == settings_.collective.steps ? State::done : State::waiting;
        begins_ = now + settings_.collective.compute;
    }
}

}  // namespace sluice::roce
