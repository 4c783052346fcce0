// Groups of weighted next hops as bucket tables.
//
// A hash picks a bucket, the bucket names a member. Weights are bucket counts. When a member leaves, only its
// buckets change, so 1/m of the flows move; when a group's configuration changes, buckets keep their member
// as far as its new share allows (RFC 2992, "resilient hashing").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

struct WeightedMember {
    std::uint32_t member;  // any identity; unique in the group
    std::uint32_t weight;  // >= 1
};

// A member for each bucket; `buckets` is a power of two, at least the number of members. Shares differ from
// the weights by less than one bucket (largest remainder). `previous`: the table to stay close to, or empty.
std::vector<std::uint32_t> assign_buckets(std::span<const WeightedMember> members, unsigned buckets,
                                          std::span<const std::uint32_t> previous = {});

constexpr std::uint32_t no_member = 0xFFFF'FFFF;

// The bucket for `hash` in a table of 2^log2_buckets.
inline std::uint32_t bucket_of(unsigned log2_buckets, std::uint32_t hash) {
    return static_cast<std::uint32_t>((std::uint64_t{hash} << log2_buckets) >> 32);
}

// The member for `hash` of a table of 2^log2_buckets buckets, among those that is_up(member); `no_member`:
// none is. Where a member is down, a walk of odd stride, drawn from the hash, finds another, so its flows
// spread over all others by weight and come back when it does.
template <class IsUp>
std::uint32_t pick_member(const std::uint32_t* table, unsigned log2_buckets, std::uint32_t hash, IsUp is_up) {
    const std::uint32_t mask = (1U << log2_buckets) - 1;
    std::uint32_t bucket = bucket_of(log2_buckets, hash);
    if (is_up(table[bucket])) [[likely]]
        return table[bucket];
    const std::uint32_t stride = (hash * 0x9E37'79B1U) >> 7 | 1U;
    for (std::uint32_t step = 0; step < mask; ++step) {
        bucket = (bucket + stride) & mask;
        if (is_up(table[bucket])) return table[bucket];
    }
    return no_member;
}

}  // namespace sluice
