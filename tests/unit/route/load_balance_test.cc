#include "lib/route/load_balance.hh"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::load_balance_test {
namespace {

constexpr BalanceSettings settings{.gap = microseconds(100), .move_interval = milliseconds(1), .margin = 3};
constexpr unsigned log2_buckets = 8;

Time at(std::int64_t us) { return Time{} + microseconds(us); }

// Members 10, 11, 12, ... by weight, with the band of each.
struct Group {
    explicit Group(const std::vector<std::uint32_t>& weights) {
        std::vector<WeightedMember> weighted;
        for (std::uint32_t n = 0; n < weights.size(); ++n) weighted.push_back({10 + n, weights[n]});
        buckets = assign_buckets(weighted, 1U << log2_buckets);
        for (std::uint32_t n = 0; n < weights.size(); ++n) {
            const auto first = std::find(buckets.begin(), buckets.end(), 10 + n);
            members.push_back({10 + n,
                               static_cast<std::uint16_t>(std::count(buckets.begin(), buckets.end(), 10 + n)),
                               static_cast<std::uint16_t>(first - buckets.begin())});
        }
        band.resize(weights.size());
    }
    BalanceGroup view() const { return {buckets.data(), log2_buckets, members}; }
    BalanceChoice choose(LoadBalance mode, Flowlet& entry, std::uint32_t hash, Time now) {
        return balance(
            mode, entry, hash, view(), now, settings, [&](std::uint32_t hop) { return band[hop - 10]; },
            [&] { return static_cast<std::uint32_t>(scramble(++draws) >> 32); });
    }
    std::vector<std::uint32_t> buckets;
    std::vector<BalanceMember> members;
    std::vector<std::uint8_t> band;
    std::uint64_t draws = 0;
};

}  // namespace

TEST_GROUP(LoadBalance){};

// Against a model that sorts: the lowest band alone, by shares among equals.
TEST(LoadBalance, theBestBandIsTakenByShares) {
    Group group({1, 2, 1, 4});
    const std::vector<std::vector<std::uint8_t>> bands{
        {0, 0, 0, 0}, {3, 1, 2, 1}, {5, 4, 15, 9}, {255, 15, 15, 255}, {255, 255, 7, 255}};
    for (const auto& band : bands) {
        const std::uint8_t best = *std::min_element(band.begin(), band.end());
        std::map<std::uint32_t, unsigned> taken;
        constexpr unsigned packets = 40'000;
        for (unsigned n = 0; n < packets; ++n) {
            const auto choice = best_member(group.view(), static_cast<std::uint32_t>(scramble(n) >> 32),
                                            [&](std::uint32_t hop) { return band[hop - 10]; });
            UNSIGNED_LONGS_EQUAL(best, choice.band);
            UNSIGNED_LONGS_EQUAL(std::count(band.begin(), band.end(), best), choice.equals);
            UNSIGNED_LONGS_EQUAL(choice.next_hop, group.buckets[choice.bucket]);
            ++taken[choice.next_hop];
        }
        double shares = 0;
        for (const BalanceMember& member : group.members)
            if (band[member.next_hop - 10] == best) shares += member.share;
        for (const BalanceMember& member : group.members) {
            const bool is_best = band[member.next_hop - 10] == best;
            DOUBLES_EQUAL(is_best ? packets * member.share / shares : 0, taken[member.next_hop],
                          packets * 0.01);
        }
    }
    CHECK(best_member(group.view(), 0, [](std::uint32_t) { return LinkQuality::unusable; }).next_hop ==
          no_member);
}

TEST(LoadBalance, theLargestDrawIsAMembersToo) {
    Group group({3, 5});
    const auto all_equal = [](std::uint32_t) -> std::uint8_t { return 4; };
    UNSIGNED_LONGS_EQUAL(10, best_member(group.view(), 0, all_equal).next_hop);
    UNSIGNED_LONGS_EQUAL(11, best_member(group.view(), 0xFFFF'FFFF, all_equal).next_hop);
}

// A paced flow: one flowlet in all while its gap is at most that of the settings, one a packet above.
TEST(LoadBalance, aFlowletEndsByAGapAlone) {
    for (const auto& [gap_ps, flowlets] : {std::pair{settings.gap.ps, 1U}, {settings.gap.ps + 1, 1000U}}) {
        Group group({1, 1, 1, 1});
        Flowlet entry{};
        std::map<BalanceReason, unsigned> reasons;
        for (int n = 0; n < 1000; ++n) {
            const Time now = at(1000) + Duration{gap_ps} * n;
            group.band = {3, 2, 1, 0};
            std::rotate(group.band.begin(), group.band.begin() + n % 4, group.band.end());
            const auto choice = group.choose(LoadBalance::flowlet, entry, 77, now);
            ++reasons[choice.reason];
            if (choice.reason == BalanceReason::new_flowlet)
                UNSIGNED_LONGS_EQUAL(0, group.band[choice.next_hop - 10]);
            else
                CHECK((choice.age == now - at(1000)));
        }
        UNSIGNED_LONGS_EQUAL(flowlets, reasons[BalanceReason::new_flowlet]);
        UNSIGNED_LONGS_EQUAL(1000 - flowlets, reasons[BalanceReason::kept]);
    }
}

// A port may hand frames over late, with their own arrival.
TEST(LoadBalance, anOlderArrivalDoesNotShortenAFlowlet) {
    Group group({1, 1});
    Flowlet entry{};
    group.choose(LoadBalance::flowlet, entry, 1, at(0));
    group.choose(LoadBalance::flowlet, entry, 1, at(100));
    group.choose(LoadBalance::flowlet, entry, 1, at(50));
    CHECK(group.choose(LoadBalance::flowlet, entry, 1, at(200)).reason == BalanceReason::kept);
}

TEST(LoadBalance, theQuickLookSaysWhatTheLongOneDoes) {
    Group group({1, 1, 1, 1});
    Flowlet entry{};
    std::uint64_t now_us = 10;
    for (unsigned n = 0; n < 10'000; ++n) {
        now_us += scramble(n) % 150;
        const auto hash = static_cast<std::uint32_t>(scramble(n) >> 40) % 3;
        const bool stays_there = stays(entry, hash, at(static_cast<int>(now_us)), settings);
        const std::uint32_t before = entry.choice;
        const auto choice = group.choose(LoadBalance::flowlet, entry, hash, at(static_cast<int>(now_us)));
        if (!stays_there) continue;
        CHECK(choice.reason == BalanceReason::kept && !choice.shared);
        UNSIGNED_LONGS_EQUAL(group.buckets[bucket_of(log2_buckets, before)], choice.next_hop);
    }
}

// Flows that share an entry share its path, so none of them is reordered without a gap of its own.
TEST(LoadBalance, flowsThatShareAnEntryShareAPath) {
    Group group({1, 1, 1, 1});
    Flowlet entry{};
    std::map<std::uint32_t, std::pair<Time, std::uint32_t>> last;  // by hash: when, and by which member
    unsigned shared = 0, expected = 0;
    std::uint32_t hash_before = 0;
    std::uint64_t now_us = 10;
    for (unsigned n = 0; n < 20'000; ++n) {
        now_us += scramble(n) % 120;
        const Time now = at(static_cast<int>(now_us));
        const auto hash = static_cast<std::uint32_t>(scramble(n) >> 40) % 5;
        for (std::size_t m = 0; m < 4; ++m)
            group.band[m] = static_cast<std::uint8_t>(scramble(n * 4 + m) % 15);
        const bool live = n != 0 && now - entry.last <= settings.gap;
        expected += live && hash != hash_before ? 1 : 0;
        const auto choice = group.choose(LoadBalance::flowlet, entry, hash, now);
        shared += choice.shared ? 1 : 0;
        if (const auto was = last.find(hash); was != last.end() && now - was->second.first <= settings.gap)
            UNSIGNED_LONGS_EQUAL(was->second.second, choice.next_hop);
        last[hash] = {now, choice.next_hop};
        hash_before = hash;
    }
    UNSIGNED_LONGS_EQUAL(expected, shared);
    CHECK(shared > 1000);
}

TEST(LoadBalance, aLostMemberLosesItsFlowlets) {
    Group group({1, 1, 1});
    Flowlet entry{};
    const auto first = group.choose(LoadBalance::flowlet, entry, 1, at(0));
    group.band[first.next_hop - 10] = LinkQuality::unusable;
    const auto second = group.choose(LoadBalance::flowlet, entry, 1, at(1));
    CHECK(second.reason == BalanceReason::member_lost && second.next_hop != first.next_hop);
    // It is back: the flow does not return without a gap.
    group.band[first.next_hop - 10] = 0;
    CHECK(group.choose(LoadBalance::flowlet, entry, 1, at(2)).next_hop == second.next_hop);
    std::fill(group.band.begin(), group.band.end(), LinkQuality::unusable);
    CHECK(group.choose(LoadBalance::flowlet, entry, 1, at(3)).next_hop == no_member);
    CHECK(group.choose(LoadBalance::packet, entry, 1, at(3)).next_hop == no_member);
}

TEST(LoadBalance, adaptiveMovesByTheMarginAndNoOftenerThanItMay) {
    Group group({1, 1});
    Flowlet entry{};
    std::vector<std::int64_t> moves;
    const std::uint32_t home = group.choose(LoadBalance::adaptive, entry, 1, at(0)).next_hop - 10;
    group.band[home] = 2;  // below the margin
    for (std::int64_t us = 10; us <= 2000; us += 10)
        CHECK(group.choose(LoadBalance::adaptive, entry, 1, at(us)).reason == BalanceReason::kept);
    // From now on the member that the flow is on is always the worse one, by exactly the margin.
    for (std::int64_t us = 2010; us <= 6000; us += 10) {
        const std::uint32_t on = group.buckets[bucket_of(log2_buckets, entry.choice)] - 10;
        group.band[on] = 5;
        group.band[1 - on] = 2;
        const auto choice = group.choose(LoadBalance::adaptive, entry, 1, at(us));
        if (choice.reason == BalanceReason::moved) moves.push_back(us);
    }
    CHECK((moves == std::vector<std::int64_t>{2010, 3010, 4010, 5010}));
    // Flowlet never does.
    Flowlet other{};
    group.choose(LoadBalance::flowlet, other, 1, at(0));
    for (std::int64_t us = 10; us <= 6000; us += 10) {
        group.band = {15, 0};
        std::swap(group.band[0], group.band[us / 10 % 2]);
        CHECK(group.choose(LoadBalance::flowlet, other, 1, at(us)).reason == BalanceReason::kept);
    }
}

TEST(LoadBalance, adaptiveMovesFromTheMarginItselfToAnIdleMember) {
    Group group({1, 1});
    Flowlet entry{};
    const std::uint32_t home = group.choose(LoadBalance::adaptive, entry, 1, at(0)).next_hop - 10;
    for (int us = 100; us < 1000; us += 100) group.choose(LoadBalance::adaptive, entry, 1, at(us));
    group.band[home] = settings.margin;
    CHECK_FALSE(group.choose(LoadBalance::adaptive, entry, 1, at(1000)).next_hop == home + 10);
}

TEST(LoadBalance, packetTakesTheBestEachTimeAndTouchesNoEntry) {
    Group group({1, 1, 1, 1});
    Flowlet entry{};
    std::set<std::uint32_t> taken;
    for (std::int64_t n = 0; n < 400; ++n) {
        group.band = {1, 1, 1, 1};
        group.band[static_cast<std::size_t>(n % 4)] = 0;
        const auto choice = group.choose(LoadBalance::packet, entry, 1, at(n));
        UNSIGNED_LONGS_EQUAL(10 + n % 4, choice.next_hop);
        taken.insert(choice.next_hop);
    }
    UNSIGNED_LONGS_EQUAL(4, taken.size());
    CHECK_FALSE(entry.used);
}

TEST(LoadBalance, transportsAreTheFirstBitsOfTheOpcode) {
    CHECK(roce_transport(true, 0x04) == RoceTransport::rc);
    CHECK(roce_transport(true, 0x24) == RoceTransport::uc);
    CHECK(roce_transport(true, 0x4A) == RoceTransport::rd);
    CHECK(roce_transport(true, 0x64) == RoceTransport::ud);
    CHECK(roce_transport(true, 0x81) == RoceTransport::other);  // CNP
    CHECK(roce_transport(true, 0xA0) == RoceTransport::other);  // XRC
    CHECK(roce_transport(false, 0x04) == RoceTransport::none);
}

}  // namespace sluice::load_balance_test
