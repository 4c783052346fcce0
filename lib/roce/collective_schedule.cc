#include "lib/roce/collective_schedule.hh"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sluice::roce {
namespace {

using Kind = CollectiveKind;

constexpr std::uint64_t most_tree_chunk = 512 * 1024;
constexpr std::uint64_t least_tree_chunk = 32 * 1024;

constexpr std::uint64_t ratio_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

std::uint32_t log_2(std::uint32_t size) { return static_cast<std::uint32_t>(std::bit_width(size)) - 1; }

// Ranks in order stand left to right: one with n zero bits at its end is n levels above the leaves. Rank 0 is
// the root and has one child. Where a right child would lie beyond the last rank, it is the nearest below.
TreePlace first_tree(std::uint32_t size, std::uint32_t place) {
    if (place == 0) return {{}, {std::bit_floor(size - 1)}};
    const std::uint32_t level = place & (~place + 1);
    const std::uint32_t above = (place - level) | (level << 1);
    TreePlace made{above < size ? above : place - level, {}};
    if (level == 1) return made;
    made.children.push_back(place - level / 2);
    std::uint32_t right = level / 2;
    while (right != 0 && place + right >= size) right /= 2;
    if (right != 0) made.children.push_back(place + right);
    return made;
}

class StrandMaker {
  public:
    StrandMaker(const CollectiveSettings& settings, std::uint32_t rank)
        : settings_(settings), rank_(rank), group_(settings.group()), place_(group_.place(rank)) {}

    std::vector<Strand> make() {
        for (std::uint32_t lane = 0; lane < settings_.lanes(); ++lane)
            add_lane(lane, settings_.buffer(rank_).share(settings_.lanes(), lane));
        return std::move(made_);
    }

  private:
    void add_lane(std::uint32_t lane, Extent data) {
        switch (settings_.kind) {
            case Kind::ring_allreduce:
            case Kind::hierarchical_allreduce:
                return add_ring(lane, data, true, true);
            case Kind::all_gather:
                return add_ring(lane, data, false, true);
            case Kind::reduce_scatter:
                return add_ring(lane, data, true, false);
            case Kind::halving_doubling: {
                const HalvingStrand own{data, group_.size, place_};
                std::vector<std::uint32_t> peers;
                for (std::uint32_t n = 0; n < own.sends() / 2; ++n) peers.push_back(place_ ^ own.distance(n));
                return add(lane, peers, peers, own);
            }
            case Kind::all_to_all: {
                std::vector<std::uint32_t> targets, sources;
                for (std::uint32_t n = 1; n < group_.size; ++n) {
                    targets.push_back((place_ + n) % group_.size);
                    sources.push_back((place_ + group_.size - n) % group_.size);
                }
                return add(lane, targets, sources, ExchangeStrand{data, group_.size, place_, settings_.skew});
            }
            case Kind::pipeline: {
                std::vector<std::uint32_t> next, before;
                if (place_ + 1 != group_.size) next.push_back(place_ + 1);
                if (place_ != 0) before.push_back(place_ - 1);
                return add_relay(lane, data, settings_.parts, next, before);
            }
            case Kind::tree_allreduce:
            case Kind::double_tree_allreduce:
                return add_tree(lane, data);
        }
    }

    void add_ring(std::uint32_t lane, Extent data, bool reduces, bool gathers) {
        std::uint64_t pieces = 1;
        if (settings_.chunk_bytes)
            pieces = std::max<std::uint64_t>(
                ratio_up(ratio_up(data.bytes, group_.size), *settings_.chunk_bytes), 1);
        add(lane, {(place_ + 1) % group_.size}, {(place_ + group_.size - 1) % group_.size},
            RingStrand{data, group_.size, place_, static_cast<std::uint32_t>(pieces), reduces, gathers});
    }

    // The root's strand turns around, the others' go up and down.
    void add_tree(std::uint32_t lane, Extent data) {
        const bool second = settings_.kind == Kind::double_tree_allreduce && lane % 2 == 1;
        const TreePlace own = tree_place(group_.size, place_, second);
        const std::uint64_t size = settings_.chunk_bytes.value_or(tree_chunk(data.bytes, group_.size));
        const auto chunks =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(ratio_up(data.bytes, size), 1));
        if (!own.parent) return add_relay(lane, data, chunks, own.children, own.children);
        add_relay(lane, data, chunks, {*own.parent}, own.children);
        add_relay(lane, data, chunks, own.children, {*own.parent});
    }

    void add_relay(std::uint32_t lane, Extent data, std::uint32_t chunks,
                   const std::vector<std::uint32_t>& targets, const std::vector<std::uint32_t>& sources) {
        add(lane, targets, sources,
            RelayStrand{data, chunks, static_cast<std::uint32_t>(targets.size()),
                        static_cast<std::uint32_t>(sources.size())});
    }

    // Peers come as places and become ranks.
    void add(std::uint32_t lane, std::vector<std::uint32_t> targets, std::vector<std::uint32_t> sources,
             Strand::Algorithm algorithm) {
        for (auto* peers : {&targets, &sources})
            for (std::uint32_t& peer : *peers) peer = group_.rank_at(peer, rank_);
        made_.push_back({lane, std::move(targets), std::move(sources), algorithm});
    }

    const CollectiveSettings& settings_;
    std::uint32_t rank_;
    RankGroup group_;
    std::uint32_t place_;
    std::vector<Strand> made_;
};

}  // namespace

std::uint64_t CollectiveSettings::shares() const {
    const std::uint64_t size = group().size;
    const std::uint64_t of_all = std::uint64_t{lanes()} * (is_hierarchical() ? group().stride : 1);
    switch (kind) {
        case Kind::pipeline:
            return parts;
        case Kind::all_to_all:
            return size - 1 + skew;
        case Kind::tree_allreduce:
        case Kind::double_tree_allreduce:
            return of_all;
        default:
            return of_all * size;
    }
}

std::uint64_t CollectiveSettings::message_bytes() const {
    const std::uint64_t share = bytes / shares();
    const bool is_tree = kind == Kind::tree_allreduce || kind == Kind::double_tree_allreduce;
    if (!is_tree) return std::min(share, chunk_bytes.value_or(share));
    return std::min(share, chunk_bytes.value_or(tree_chunk(share, group().size)));
}

Duration CollectiveSettings::time_in_server() const {
    if (!is_hierarchical()) return {};
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t size = group().stride;
    const Wide bits = static_cast<Wide>(ratio_up(bytes, size)) * 8;
    const auto of_part =
        static_cast<std::int64_t>(bits * 1'000'000'000'000 / server_bandwidth.bits_per_second);
    return (server_latency + Duration{of_part}) * static_cast<std::int64_t>(size - 1);
}

BusFactor bus_factor(const CollectiveSettings& settings) {
    const std::uint64_t size = settings.is_hierarchical() ? settings.ranks : settings.group().size;
    switch (settings.kind) {
        case Kind::ring_allreduce:
        case Kind::halving_doubling:
        case Kind::tree_allreduce:
        case Kind::double_tree_allreduce:
        case Kind::hierarchical_allreduce:
            return {2 * (size - 1), size};
        case Kind::all_to_all:
        case Kind::all_gather:
        case Kind::reduce_scatter:
            return {size - 1, size};
        case Kind::pipeline:
            break;
    }
    return {1, 1};
}

// Reduce-scatter: place p ends with chunk p. All-gather: it begins with chunk p.
Extent RingStrand::piece(std::uint32_t n, std::uint32_t sender) const {
    const std::uint32_t round = n / pieces;
    const bool is_reduced = reduces && round < size - 1;
    const std::uint32_t gathered = reduces ? round - (size - 1) : round;
    const std::uint32_t chunk =
        is_reduced ? (sender + 2 * size - 1 - round) % size : (sender + size - gathered) % size;
    return data.share(size, chunk).share(pieces, n % pieces);
}

std::uint32_t HalvingStrand::sends() const { return 2 * log_2(size); }

std::uint32_t HalvingStrand::distance(std::uint32_t n) const {
    const std::uint32_t rounds = log_2(size);
    return size >> (n < rounds ? n + 1 : 2 * rounds - n);
}

// Halving: of the chunks that it still reduces, a rank gives away the half where the peer lies.
Transfer HalvingStrand::send(std::uint32_t n) const {
    const std::uint32_t apart = distance(n), rounds = log_2(size);
    const bool halves = n < rounds;
    const std::uint32_t first = (halves ? place ^ apart : place) & ~(apart - 1);
    return {halves ? n : 2 * rounds - 1 - n, data.shares(size, first, first + apart)};
}

Transfer HalvingStrand::receive(std::uint32_t n) const {
    const std::uint32_t peer = place ^ distance(n);
    return {send(n).peer, HalvingStrand{data, size, peer}.send(n).data};
}

Extent ExchangeStrand::data_for(std::uint32_t receiver) const {
    const std::uint32_t whole = size - 1 + skew;
    return receiver == 0 ? data.shares(whole, 0, skew) : data.share(whole, skew + receiver - 1);
}

std::vector<Strand> strands_of(const CollectiveSettings& settings, std::uint32_t rank) {
    assert(rank < settings.ranks);
    if (settings.group().size == 1) return {};  // the only server
    assert(settings.ranks % (settings.group().size * settings.group().stride) == 0);
    assert(settings.kind != Kind::halving_doubling || std::has_single_bit(settings.group().size));
    assert(settings.bytes / settings.shares() >= settings.queue_pairs && settings.queue_pairs > 0);
    return StrandMaker(settings, rank).make();
}

std::uint64_t tree_chunk(std::uint64_t bytes, std::uint32_t ranks) {
    const auto levels = static_cast<std::uint64_t>(std::bit_width(ranks - 1));
    std::uint64_t chunk = most_tree_chunk;
    while (chunk > least_tree_chunk && bytes / chunk < 8 * levels) chunk /= 2;
    return chunk;
}

TreePlace tree_place(std::uint32_t size, std::uint32_t place, bool second) {
    if (!second) return first_tree(size, place);
    const bool mirrors = size % 2 == 0;
    TreePlace made = first_tree(size, mirrors ? size - 1 - place : (place + size - 1) % size);
    const auto back = [&](std::uint32_t other) { return mirrors ? size - 1 - other : (other + 1) % size; };
    if (made.parent) made.parent = back(*made.parent);
    for (std::uint32_t& child : made.children) child = back(child);
    return made;
}

}  // namespace sluice::roce
