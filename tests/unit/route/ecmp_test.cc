#include "lib/route/ecmp.hh"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::ecmp_test {
namespace {

using Table = std::vector<std::uint32_t>;
using Members = std::vector<WeightedMember>;

constexpr unsigned log2_buckets = 8;
constexpr unsigned buckets = 1U << log2_buckets;

// Several shapes: even, weighted, one, as many as buckets, weights that share no factor with the buckets.
std::vector<Members> shapes() {
    std::vector<Members> all = {{{7, 1}},
                                {{1, 1}, {2, 1}, {3, 1}, {4, 1}},
                                {{1, 1}, {2, 1}, {3, 1}, {4, 2}},
                                {{9, 256}, {4, 1}},
                                {{1, 3}, {2, 7}, {3, 11}, {4, 13}, {5, 17}}};
    Members many;
    for (std::uint32_t i = 0; i < buckets; ++i) many.push_back({1000 + i, 1});
    all.push_back(many);
    return all;
}

unsigned count(const Table& table, std::uint32_t member) {
    return static_cast<unsigned>(std::count(table.begin(), table.end(), member));
}

std::uint64_t total_weight(const Members& members) {
    return std::accumulate(members.begin(), members.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const WeightedMember& m) { return sum + m.weight; });
}

std::uint32_t hash_of(unsigned flow) { return static_cast<std::uint32_t>(scramble(flow)); }

std::uint32_t pick(const Table& table, unsigned flow, const std::set<std::uint32_t>& down = {}) {
    return pick_member(table.data(), log2_buckets, hash_of(flow),
                       [&](std::uint32_t member) { return !down.contains(member); });
}

}  // namespace

TEST_GROUP(Ecmp){};

TEST(Ecmp, aGroupWithoutALinkHasNoMember) {
    const Table table = assign_buckets(shapes()[1], buckets);
    for (unsigned flow = 0; flow < 1000; ++flow) LONGS_EQUAL(no_member, pick(table, flow, {1, 2, 3, 4}));
}

TEST(Ecmp, neverPicksWhatIsDownAndAlwaysFindsWhatIsUp) {
    for (const Members& members : shapes()) {
        const Table table = assign_buckets(members, buckets);
        std::set<std::uint32_t> down;
        for (const auto& member : members) down.insert(member.member);
        const std::uint32_t last = members.back().member;
        down.erase(last);
        for (unsigned flow = 0; flow < 2000; ++flow) UNSIGNED_LONGS_EQUAL(last, pick(table, flow, down));
    }
}

TEST(Ecmp, sharesDifferFromWeightsByLessThanABucket) {
    for (const Members& members : shapes()) {
        const Table table = assign_buckets(members, buckets);
        UNSIGNED_LONGS_EQUAL(buckets, table.size());
        for (const auto& member : members) {
            const double exact =
                static_cast<double>(member.weight) * buckets / static_cast<double>(total_weight(members));
            CHECK_TRUE(std::abs(count(table, member.member) - exact) < 1.0);
        }
    }
}

TEST(Ecmp, flowsFollowTheWeights) {
    const Members members = shapes()[2];
    const Table table = assign_buckets(members, buckets);
    std::map<std::uint32_t, unsigned> flows;
    constexpr unsigned total = 50'000;
    for (unsigned flow = 0; flow < total; ++flow) ++flows[pick(table, flow)];
    for (const auto& member : members)
        DOUBLES_EQUAL(member.weight / 5.0, flows[member.member] / double{total}, 0.012);
}

TEST(Ecmp, aLostMemberMovesOnlyItsOwnFlowsAndTheyComeBack) {
    for (const Members& members : shapes()) {
        if (members.size() < 2) continue;
        const Table table = assign_buckets(members, buckets);
        const std::uint32_t lost = members[1].member;
        for (unsigned flow = 0; flow < 5000; ++flow) {
            const std::uint32_t before = pick(table, flow);
            const std::uint32_t during = pick(table, flow, {lost});
            if (before == lost)
                CHECK_TRUE(during != lost && during != no_member);
            else
                UNSIGNED_LONGS_EQUAL(before, during);
        }
    }
}

TEST(Ecmp, flowsOfALostMemberSpreadOverAllOthersByWeight) {
    for (const Members& members : {shapes()[1], shapes()[2], shapes()[4]}) {
        const Table table = assign_buckets(members, buckets);
        for (const auto& lost : members) {
            std::map<std::uint32_t, double> flows;
            double moved = 0;
            for (unsigned flow = 0; flow < 100'000; ++flow) {
                if (pick(table, flow) != lost.member) continue;
                ++flows[pick(table, flow, {lost.member})];
                ++moved;
            }
            for (const auto& member : members) {
                if (member.member == lost.member) continue;
                const double share = static_cast<double>(member.weight) /
                                     static_cast<double>(total_weight(members) - lost.weight);
                DOUBLES_EQUAL(share, flows[member.member] / moved, 0.15 * share + 0.01);
            }
        }
    }
}

TEST(Ecmp, aChangeOfTheConfigurationKeepsBuckets) {
    const Members four = shapes()[1];
    const Table before = assign_buckets(four, buckets);
    // A member leaves: only its buckets change hands.
    const Table three = assign_buckets(Members(four.begin(), four.end() - 1), buckets, before);
    for (unsigned b = 0; b < buckets; ++b)
        if (before[b] != 4) UNSIGNED_LONGS_EQUAL(before[b], three[b]);
    // It comes back: only its share moves.
    const Table again = assign_buckets(four, buckets, three);
    unsigned moved = 0;
    for (unsigned b = 0; b < buckets; ++b) moved += again[b] != three[b];
    UNSIGNED_LONGS_EQUAL(buckets / 4, moved);
    // Weights change: a member keeps the lesser of its old and new share.
    const Table heavier = assign_buckets(shapes()[2], buckets, before);
    unsigned kept = 0;
    for (unsigned b = 0; b < buckets; ++b) kept += heavier[b] == before[b];
    unsigned due = 0;
    for (const auto& member : four)
        due += std::min(count(before, member.member), count(heavier, member.member));
    UNSIGNED_LONGS_EQUAL(due, kept);
}

TEST(Ecmp, aTableOfAnotherSizeIsNotKept) {
    const Table small = assign_buckets(shapes()[1], 64);
    CHECK_TRUE(assign_buckets(shapes()[1], buckets, small) == assign_buckets(shapes()[1], buckets));
}

TEST(Ecmp, theSameGroupHasTheSameTable) {
    for (const Members& members : shapes()) {
        const Table table = assign_buckets(members, buckets);
        CHECK_TRUE(table == assign_buckets(members, buckets));
        CHECK_TRUE(table == assign_buckets(members, buckets, table));
    }
}

}  // namespace sluice::ecmp_test
