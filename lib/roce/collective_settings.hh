// Settings of a collective: its kind, its groups of ranks, and the sizes of its messages.
//
// Ranks are counted from 0 over all groups. Each group runs the collective by itself, over the buffers of its
// own ranks. A hierarchical all-reduce is one over servers of `group_size` ranks: ranks of the same place in
// their servers form its rings. Sizes are bytes, as nccl-tests counts them: of the whole buffer of a rank.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/values/units.hh"

namespace sluice::roce {

enum class CollectiveKind : std::uint8_t {
    ring_allreduce,
    halving_doubling,
    all_to_all,
    all_gather,
    reduce_scatter,
    pipeline,
    tree_allreduce,
    double_tree_allreduce,
    hierarchical_allreduce
};

// A part of a rank's buffer, in bytes.
struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;  // at most 2^31

    bool operator==(const Extent&) const = default;
    // From share `first` to before share `end` of `whole` (at most 2^31) equal ones: the sizes of single
    // shares differ by one byte at most.
    constexpr Extent shares(std::uint64_t whole, std::uint64_t first, std::uint64_t end) const {
        const std::uint64_t from = bytes * first / whole;
        return {begin + from, bytes * end / whole - from};
    }
    constexpr Extent share(std::uint64_t whole, std::uint64_t n) const { return shares(whole, n, n + 1); }
};

// Ranks that run an algorithm with each other: `size` of them, each `stride` after the one before.
struct RankGroup {
    std::uint32_t size;
    std::uint32_t stride;

    // The place of a rank in its group, in [0, size); the rank at a place of the same group.
    constexpr std::uint32_t place(std::uint32_t rank) const { return rank / stride % size; }
    constexpr std::uint32_t rank_at(std::uint32_t place_there, std::uint32_t rank) const {
        return rank - place(rank) * stride + place_there * stride;
    }
};

struct CollectiveSettings {
    CollectiveKind kind = CollectiveKind::ring_allreduce;
    std::uint32_t ranks = 2;                  // of all groups; a multiple of group_size * group_stride
    std::optional<std::uint32_t> group_size;  // >= 2; nothing: one group; of hierarchical: of a server
    std::uint32_t group_stride = 1;           // of hierarchical: 1
    std::uint64_t bytes = 1'000'000;          // in [shares() * queue_pairs, 2^31]
    std::uint32_t parts = 8;                  // of pipeline: a stage hands on 1/parts at once
    std::uint32_t channels = 1;               // of rings and trees: each has its share of the bytes
    std::optional<std::uint64_t>
        chunk_bytes;                  // of rings and trees, >= 4096; nothing: tree_chunk, whole rings
    std::uint32_t skew = 1;           // of all_to_all: the first rank of a group gets so many times as much
    std::uint32_t queue_pairs = 1;    // of a channel to each peer, which share a message evenly
    std::uint32_t control_bytes = 0;  // of a receiver's clear-to-send for each message; 0: none
    std::uint32_t steps = 1;
    Duration compute{};  // between two steps
    Duration overlap{};  // beside a step, from its beginning on; the next one waits for both
    Duration start{};    // of the first, from time 0
    // Links between the ranks of a server (hierarchical), which are no part of the network:
    Rate server_bandwidth = gigabits(3600);
    Duration server_latency = microseconds(1);  // >= 1 us where ranks learn of each other in that time
    // A single server (hierarchical, ranks == group_size): its ranks exchange once, as for an all-gather, a
    // reduce-scatter or an all-to-all.
    bool is_one_way = false;

    bool is_hierarchical() const { return kind == CollectiveKind::hierarchical_allreduce; }
    // Rings or trees side by side.
    std::uint32_t lanes() const { return channels * (kind == CollectiveKind::double_tree_allreduce ? 2 : 1); }
    // The ranks that exchange data over the network.
    RankGroup group() const {
        const std::uint32_t size = group_size.value_or(ranks);
        return is_hierarchical() ? RankGroup{ranks / size, size} : RankGroup{size, group_stride};
    }
    // What of a rank's buffer goes over the network; a server's ranks share it.
    Extent buffer(std::uint32_t rank) const {
        const Extent all{0, bytes};
        return is_hierarchical() ? all.share(group().stride, rank % group().stride) : all;
    }
    // The buffer has at least so many bytes for each queue pair.
    std::uint64_t shares() const;
    // The size of most messages, rounded down; queue pairs share them.
    std::uint64_t message_bytes() const;
    // How long the n ranks of a server (hierarchical) reduce and scatter among themselves before the rings,
    // and gather after them: (n - 1)(latency + bytes / n / bandwidth), as in a ring; of other kinds 0.
    Duration time_in_server() const;
};

// Bus bandwidth of nccl-tests (doc/PERFORMANCE.md), the load of a link, is this times `bytes` over the time;
// of pipeline: 1. A hierarchical all-reduce is one of all ranks, whatever their servers carry.
struct BusFactor {
    std::uint64_t numerator, denominator;
};
BusFactor bus_factor(const CollectiveSettings& settings);

}  // namespace sluice::roce
