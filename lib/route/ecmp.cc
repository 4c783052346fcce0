#include "lib/route/ecmp.hh"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>

#include "lib/values/rng.hh"

namespace sluice {
namespace {

// Buckets for each member: floor of the exact share, the rest by largest remainder, ties by position.
std::vector<unsigned> shares(std::span<const WeightedMember> members, unsigned buckets) {
    std::uint64_t total = 0;
    for (const auto& member : members) total += member.weight;
    std::vector<unsigned> share(members.size());
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto remainder = [&](std::size_t i) { return std::uint64_t{members[i].weight} * buckets % total; };
    unsigned given = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
        share[i] = static_cast<unsigned>(std::uint64_t{members[i].weight} * buckets / total);
        given += share[i];
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainder(a) > remainder(b); });
    for (std::size_t k = 0; given < buckets; ++k, ++given) ++share[order[k % order.size()]];
    return share;
}

// Bucket numbers in a fixed pseudo-random order. In the order 0, 1, 2, ... members would repeat at even
// distances, and the odd strides of pick_member would give a lost member's flows to some of the others only.
std::vector<unsigned> scattered(unsigned buckets) {
    std::vector<unsigned> order(buckets);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [](unsigned a, unsigned b) { return scramble(a) < scramble(b); });
    return order;
}

}  // namespace

std::vector<std::uint32_t> assign_buckets(std::span<const WeightedMember> members, unsigned buckets,
                                          std::span<const std::uint32_t> previous) {
    assert(!members.empty() && members.size() <= buckets && (buckets & (buckets - 1)) == 0);
    std::vector<unsigned> left = shares(members, buckets);
    std::map<std::uint32_t, std::size_t> index;
    for (std::size_t i = 0; i < members.size(); ++i) index[members[i].member] = i;

    std::vector<std::uint32_t> table(buckets, no_member);
    if (previous.size() == buckets) {
        for (unsigned b = 0; b < buckets; ++b) {
            const auto found = index.find(previous[b]);
            if (found == index.end() || left[found->second] == 0) continue;
            table[b] = previous[b];
            --left[found->second];
        }
    }
    std::size_t next = 0;  // deal the free buckets round
    for (const unsigned b : scattered(buckets)) {
        if (table[b] != no_member) continue;
        while (left[next] == 0) next = (next + 1) % members.size();
        table[b] = members[next].member;
        --left[next];
        next = (next + 1) % members.size();
    }
    return table;
}

}  // namespace sluice
