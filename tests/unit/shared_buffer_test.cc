// The shared buffer of mechanisms.md section 3, to the cell: what a blocked group gets, in which order, and
// when its sender is paused and resumed; then what groups do to each other, pools, and limits that change
// under use.
#include "lib/shared_buffer.hh"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "CppUTest/TestHarness.h"

using namespace sluice;

namespace {

// One pool and its groups on one thread; every packet is a burst of its own.
struct Bench {
    PoolLimits pool_limits;
    PoolUse pool;

    explicit Bench(PoolLimits limits) : pool_limits(limits) { pool.exclusive = true; }

    Admission admit(PriorityGroup& group, const GroupLimits& limits, std::uint32_t cells) {
        PoolBurst burst(pool, pool_limits, cells);
        return group.admit(limits, burst, cells);
    }
    QueueAdmission admit(EgressQueueUse& queue, const QueueLimits& limits, std::uint32_t cells) {
        PoolBurst burst(pool, pool_limits, cells);
        return queue.admit(limits, burst, cells);
    }
    template <class User>
    void release(User& user, std::uint32_t cells) {
        PoolBurst burst(pool, pool_limits, 0);
        user.release(burst, cells);
    }
    XoffSignal evaluate(PriorityGroup& group, const GroupLimits& limits, bool hold = false) {
        return group.update_xoff(limits, view(), hold);
    }
    PoolView view() const { return {pool, pool_limits}; }
};

void check(Admission expected, Admission actual) {
    LONGS_EQUAL(static_cast<int>(expected), static_cast<int>(actual));
}
void check(QueueAdmission expected, QueueAdmission actual) {
    LONGS_EQUAL(static_cast<int>(expected), static_cast<int>(actual));
}
void check(XoffSignal expected, XoffSignal actual) {
    LONGS_EQUAL(static_cast<int>(expected), static_cast<int>(actual));
}

// floor(alpha S / (1 + alpha)), alpha = 2^n: what one group alone may have.
std::int64_t alone(std::int64_t size, int n) {
    return n >= 0 ? (size << n) / ((1 << n) + 1) : size / ((1 << -n) + 1);
}

// floor of the shared use x at which x + offset <= alpha (S - x); 0 when there is none.
std::int64_t resume_level(std::int64_t size, int n, std::int64_t offset) {
    const std::int64_t num = n >= 0 ? (size << n) - offset : size - (offset << -n);
    return num <= 0 ? 0 : num / ((n >= 0 ? 1 << n : 1 << -n) + 1);
}

struct Scenario {
    Threshold threshold;
    std::int64_t shared_max;    // closed form: floor(alpha S / (1 + alpha)) or the static limit
    std::int64_t resume_below;  // XON at the latest when shared use has come down to this
    std::uint32_t size;         // S
    std::uint32_t reserved;
    std::uint32_t headroom;
    std::uint32_t offset;
};

// A blocked lossless group is offered packets of k cells until one is refused, then drained. Returns the
// cells that had left when XON came, beyond those of the headroom.
std::int64_t blocked_group(const Scenario& s, std::uint32_t k) {
    Bench bench({.shared_cells = s.size});
    const GroupLimits limits{.threshold = s.threshold,
                             .reserved_cells = s.reserved,
                             .headroom_cells = s.headroom,
                             .xon_offset_cells = s.offset,
                             .lossless = true};
    PriorityGroup group;
    const std::int64_t without_pfc = s.reserved / k + s.shared_max / k;
    for (std::int64_t i = 0; i < without_pfc; ++i) {
        check(i < s.reserved / k ? Admission::reserved : Admission::shared, bench.admit(group, limits, k));
        check(XoffSignal::none, bench.evaluate(group, limits));
    }
    LONGS_EQUAL(s.shared_max / k * k, group.shared_cells());
    for (std::uint32_t i = 0; i < s.headroom / k; ++i) {
        check(Admission::headroom, bench.admit(group, limits, k));
        CHECK(group.in_xoff());
        check(i == 0 ? XoffSignal::send_xoff : XoffSignal::none, bench.evaluate(group, limits));
    }
    check(Admission::headroom_overrun, bench.admit(group, limits, k));
    LONGS_EQUAL(s.headroom / k * k, group.headroom_cells());
    LONGS_EQUAL(group.shared_cells(), bench.pool.shared.get());

    // headroom / k packets that empty the headroom, then as many as bring shared use down to the level
    const std::int64_t excess = std::max<std::int64_t>(group.shared_cells() - s.resume_below, 0);
    const std::int64_t expected = s.headroom / k + (excess + k - 1) / k;
    std::int64_t left = 0;
    for (bool resumed = s.headroom < k; !resumed;) {
        bench.release(group, k);
        ++left;
        CHECK(left <= expected);
        resumed = bench.evaluate(group, limits) == XoffSignal::send_xon;
    }
    if (s.headroom >= k) LONGS_EQUAL(expected, left);
    for (std::int64_t i = left; i < without_pfc + s.headroom / k; ++i) {
        bench.release(group, k);
        check(XoffSignal::none, bench.evaluate(group, limits));
    }
    LONGS_EQUAL(0, group.used_cells());
    LONGS_EQUAL(0, bench.pool.shared.get());
    LONGS_EQUAL(0, bench.pool.headroom.get());
    return (left - s.headroom / k) * k;
}

constexpr std::array cell_sizes = {96U, 144U, 192U, 208U, 254U, 256U};

// Every number of cells that frames of 60 to 9216 bytes take.
std::set<std::uint32_t> packet_cells(CellSize cell) {
    std::set<std::uint32_t> sizes;
    for (std::uint32_t frame = 60; frame <= 9216; ++frame) sizes.insert(cell.cells(frame));
    return sizes;
}

}  // namespace

TEST_GROUP(SharedBuffer){};

TEST(SharedBuffer, blockedGroupSequenceDynamic) {
    for (const std::uint32_t bytes : cell_sizes)
        for (const std::uint32_t k : packet_cells(CellSize{bytes}))
            for (int n = -8; n <= 7; ++n)
                for (const std::uint32_t size : {1'000'000 / bytes, 1'000'000 / bytes + 1 + 7 * k, 97U}) {
                    const std::uint32_t offset = 18'200 / bytes;
                    blocked_group({.threshold = Threshold::dynamic(n),
                                   .shared_max = alone(size, n),
                                   .resume_below = resume_level(size, n, offset),
                                   .size = size,
                                   .reserved = 18'200 / bytes + 1,
                                   .headroom = 90'000 / bytes + 1,
                                   .offset = offset},
                                  k);
                }
}

TEST(SharedBuffer, blockedGroupSequenceStatic) {
    for (const std::uint32_t bytes : cell_sizes)
        for (const std::uint32_t k : packet_cells(CellSize{bytes}))
            for (const std::optional<std::uint32_t> limit : std::array<std::optional<std::uint32_t>, 5>{
                     std::nullopt, 0U, 1U, 300'000 / bytes, 999'000 / bytes}) {
                const std::uint32_t size = 1'000'000 / bytes;
                const std::int64_t most = limit.value_or(size);
                const std::uint32_t offset = 18'200 / bytes;
                blocked_group({.threshold = limit ? Threshold::fixed(*limit) : Threshold::none(),
                               .shared_max = most,
                               .resume_below = std::max<std::int64_t>(most - offset, 0),
                               .size = size,
                               .reserved = 18'200 / bytes + 1,
                               .headroom = 90'000 / bytes + 1,
                               .offset = offset},
                              k);
            }
}

// XON after headroom_used + ceil(xon_offset / (1 + alpha)) cells: exact for packets of one cell when alpha S
// / (1 + alpha) is a whole number. Else the group stopped a fraction below its limit, and that fraction
// counts as drained.
TEST(SharedBuffer, xonComesAfterTheClosedFormula) {
    for (int n = -8; n <= 7; ++n)
        for (const std::uint32_t offset : {0U, 1U, 2U, 7U, 71U, 255U, 256U, 257U}) {
            const std::uint32_t over_one =
                n >= 0 ? (1U << n) + 1 : (1U << -n) + 1;  // alpha + 1, or its multiple
            const std::uint32_t size = 600 * over_one;
            const Scenario s{.threshold = Threshold::dynamic(n),
                             .shared_max = alone(size, n),
                             .resume_below = resume_level(size, n, offset),
                             .size = size,
                             .reserved = 5,
                             .headroom = 40,
                             .offset = offset};
            const std::uint32_t scaled = n >= 0 ? offset : offset << -n;
            LONGS_EQUAL((scaled + over_one - 1) / over_one, blocked_group(s, 1));
        }
}

TEST(SharedBuffer, xonComesAtOnceWhenTheFractionBelowTheLimitCoversTheOffset) {
    // alpha 1, S 101: the limit is 50.5, so use stops at 50 where T is 51, and an offset of 1 is already
    // there.
    const Scenario s{.threshold = Threshold::dynamic(0),
                     .shared_max = 50,
                     .resume_below = 50,
                     .size = 101,
                     .reserved = 0,
                     .headroom = 10,
                     .offset = 1};
    LONGS_EQUAL(0, blocked_group(s, 1));
}

TEST(SharedBuffer, oneFrameOf64BytesIsOneCellEverywhere) {
    for (const std::uint32_t bytes : cell_sizes) {
        const std::uint32_t k = CellSize{bytes}.cells(64);
        Bench ingress({.shared_cells = 100});
        Bench egress({.shared_cells = 100});
        PriorityGroup group;
        EgressQueueUse queue;
        check(Admission::shared, ingress.admit(group, GroupLimits{}, k));
        check(QueueAdmission::shared, egress.admit(queue, QueueLimits{}, k));
        LONGS_EQUAL(1, group.shared_cells());
        LONGS_EQUAL(1, queue.shared_cells());
        LONGS_EQUAL(1, ingress.pool.shared.get());
        LONGS_EQUAL(1, egress.pool.shared.get());
    }
}

TEST(SharedBuffer, packetGoesWholeIntoOnePart) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{
        .threshold = Threshold::fixed(5), .reserved_cells = 5, .headroom_cells = 5, .lossless = true};
    PriorityGroup group;
    check(Admission::reserved, bench.admit(group, limits, 3));
    check(Admission::shared, bench.admit(group, limits, 3));    // 2 left in reserved
    check(Admission::headroom, bench.admit(group, limits, 3));  // 2 left in shared
    check(Admission::headroom_overrun, bench.admit(group, limits, 3));
    check(Admission::reserved, bench.admit(group, limits, 2));  // smaller ones still fit
    check(Admission::headroom, bench.admit(group, limits, 2));  // not in shared: in XOFF
    LONGS_EQUAL(3, group.shared_cells());
}

TEST(SharedBuffer, releaseTakesHeadroomThenSharedThenReserved) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{
        .threshold = Threshold::fixed(4), .reserved_cells = 3, .headroom_cells = 5, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 12; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    bench.release(group, 4);
    LONGS_EQUAL(1, group.headroom_cells());
    bench.release(group, 2);
    LONGS_EQUAL(0, group.headroom_cells());
    LONGS_EQUAL(3, group.shared_cells());
    bench.release(group, 4);
    LONGS_EQUAL(0, group.shared_cells());
    LONGS_EQUAL(2, group.reserved_cells());
    LONGS_EQUAL(0, bench.pool.shared.get());
    LONGS_EQUAL(0, bench.pool.headroom.get());
}

// What asks no pool is what asking one comes to, and nothing where that would be more.
template <class User, class Limits>
void checkReserved(const Limits& limits, std::uint32_t all) {
    Bench bench({.shared_cells = 100});
    User user;
    CHECK_TRUE(user.admit_reserved(limits, all - 1));
    CHECK_FALSE(user.admit_reserved(limits, 2));
    CHECK_TRUE(user.admit_reserved(limits, 1));
    CHECK_FALSE(user.admit_reserved(limits, 1));
    LONGS_EQUAL(all, user.used_cells());
    CHECK_TRUE(is_admitted(bench.admit(user, limits, 1)));
    CHECK_FALSE(user.release_reserved(1));  // the one beyond goes first
    LONGS_EQUAL(all + 1, user.used_cells());
    bench.release(user, 1);
    LONGS_EQUAL(0, bench.pool.shared.get() + bench.pool.headroom.get());
    CHECK_TRUE(user.release_reserved(all));
    LONGS_EQUAL(0, user.used_cells());
}

TEST(SharedBuffer, reservedCellsAskNoPool) {
    checkReserved<PriorityGroup>(GroupLimits{.reserved_cells = 5}, 5);
    checkReserved<EgressQueueUse>(QueueLimits{.reserved_cells = 3}, 3);
    // Headroom goes before reserved, too.
    checkReserved<PriorityGroup>(
        GroupLimits{
            .threshold = Threshold::dynamic(-8), .reserved_cells = 2, .headroom_cells = 1, .lossless = true},
        2);
}

TEST(SharedBuffer, equalGroupsSettleAtTheirShare) {
    const std::int64_t size = 30'011;
    for (int n = -8; n <= 7; ++n)
        for (const std::size_t count : {1, 2, 3, 8, 31}) {
            Bench bench({.shared_cells = static_cast<std::uint32_t>(size)});
            const GroupLimits limits{.threshold = Threshold::dynamic(n)};
            std::vector<PriorityGroup> groups(count);
            for (bool any = true; any;) {
                any = false;
                for (PriorityGroup& group : groups) any |= is_admitted(bench.admit(group, limits, 1));
            }
            const std::int64_t num = n >= 0 ? 1 << n : 1;
            const std::int64_t den = n >= 0 ? 1 : 1 << -n;
            const std::int64_t weight = den + num * static_cast<std::int64_t>(count);
            for (const PriorityGroup& group : groups) {  // within one cell of alpha S / (1 + alpha N)
                CHECK(std::int64_t{group.shared_cells()} * weight < num * size + weight);
                CHECK(std::int64_t{group.shared_cells()} * weight > num * size - weight);
            }
        }
}

// The promise of a common pool: at or below size + alpha S / (1 + sum of alphas) a group is never paused.
TEST(SharedBuffer, lossyNeighboursThatFillTogetherKeepThePromise) {
    for (int n = -4; n <= 3; ++n)
        for (int lossy_n = -3; lossy_n <= 7; ++lossy_n)
            for (const std::size_t neighbours : {1, 2, 5}) {
                Bench bench({.shared_cells = 20'000});
                const GroupLimits lossless{.threshold = Threshold::dynamic(n),
                                           .reserved_cells = 10,
                                           .headroom_cells = 10,
                                           .lossless = true};
                const GroupLimits lossy{.threshold = Threshold::dynamic(lossy_n)};
                PriorityGroup group;
                std::vector<PriorityGroup> others(neighbours);
                // in 256ths: alpha S / (1 + alpha + k alpha')
                const std::int64_t a = std::int64_t{256} << 8 >> (8 - n);
                const std::int64_t b = std::int64_t{256} << 8 >> (8 - lossy_n);
                const std::int64_t share = a * 20'000 / (256 + a + static_cast<std::int64_t>(neighbours) * b);
                // A lone neighbour may come after; several fill side by side, so none runs ahead of its share
                // by more than the cell that it is offered.
                while (group.used_cells() < 10 + share)
                    CHECK(bench.admit(group, lossless, 1) < Admission::headroom);
                for (bool any = true; any;) {
                    any = false;
                    for (PriorityGroup& other : others) any |= is_admitted(bench.admit(other, lossy, 1));
                    check(XoffSignal::none, bench.evaluate(group, lossless));
                }
            }
}

// Neighbours that came one after the other and do not drain hold more than their share: what is then left for
// a newcomer is alpha S / product of (1 + alpha), and no order of arrivals leaves less.
TEST(SharedBuffer, newcomerFindsTheProductOfWhatOthersLeave) {
    Bench bench({.shared_cells = 81'000});
    const GroupLimits lossy{.threshold = Threshold::dynamic(1)};
    std::array<PriorityGroup, 3> others;
    for (PriorityGroup& other : others)
        while (is_admitted(bench.admit(other, lossy, 1))) continue;
    LONGS_EQUAL(54'000, others[0].shared_cells());
    LONGS_EQUAL(18'000, others[1].shared_cells());
    LONGS_EQUAL(6'000, others[2].shared_cells());
    PriorityGroup group;
    const GroupLimits lossless{.headroom_cells = 10, .lossless = true};
    while (bench.admit(group, lossless, 1) == Admission::shared) continue;
    LONGS_EQUAL(81'000 / 27 / 2, group.shared_cells());
}

TEST(SharedBuffer, lossyGroupNeverHasHeadroomNorPauses) {
    Bench bench({.shared_cells = 10});
    const GroupLimits limits{.headroom_cells = 100};
    PriorityGroup group;
    for (int i = 0; i < 5; ++i) check(Admission::shared, bench.admit(group, limits, 1));
    check(Admission::ingress_limit, bench.admit(group, limits, 1));
    bench.pool_limits.shared_cells = 1;  // over its limit now
    check(XoffSignal::none, bench.evaluate(group, limits));
    CHECK_FALSE(group.in_xoff());
}

TEST(SharedBuffer, othersCanPushAGroupOverItsLimit) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{.headroom_cells = 10, .xon_offset_cells = 4, .lossless = true};
    PriorityGroup group, other;
    for (int i = 0; i < 40; ++i) check(Admission::shared, bench.admit(group, limits, 1));
    const GroupLimits greedy{.threshold = Threshold::none()};
    for (int i = 0; i < 20; ++i) check(Admission::shared, bench.admit(other, greedy, 1));
    check(XoffSignal::none, bench.evaluate(group, limits));  // T 40
    check(Admission::shared, bench.admit(other, greedy, 1));
    check(XoffSignal::send_xoff, bench.evaluate(group, limits));  // T 39
    check(Admission::headroom, bench.admit(group, limits, 1));
    bench.release(group, 1);
    bench.release(other, 4);  // T 43
    check(XoffSignal::none, bench.evaluate(group, limits));
    bench.release(other, 1);  // T 44
    check(XoffSignal::send_xon, bench.evaluate(group, limits));
    check(XoffSignal::none, bench.evaluate(group, limits));
}

TEST(SharedBuffer, xonBelowTheXonLevelWhateverTheOffset) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{.headroom_cells = 10, .xon_cells = 30, .xon_offset_cells = 90, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 51; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    check(XoffSignal::send_xoff, bench.evaluate(group, limits));
    bench.release(group, 20);
    check(XoffSignal::none, bench.evaluate(group, limits));
    bench.release(group, 1);
    check(XoffSignal::send_xon, bench.evaluate(group, limits));
}

TEST(SharedBuffer, xonAboveTheLimitDoesNotFlap) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{.headroom_cells = 10, .xon_cells = 90, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 50; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    bench.pool_limits.shared_cells = 80;  // T 30
    check(XoffSignal::send_xoff, bench.evaluate(group, limits));
    check(XoffSignal::none, bench.evaluate(group, limits));
    bench.release(group, 10);  // 40 of T 40
    check(XoffSignal::send_xon, bench.evaluate(group, limits));
}

TEST(SharedBuffer, xoffThatWasNeverSentNeedsNoXon) {
    Bench bench({.shared_cells = 10});
    const GroupLimits limits{.headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 6; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    CHECK(group.in_xoff());
    bench.release(group, 6);  // gone before anybody evaluated
    check(XoffSignal::none, bench.evaluate(group, limits));
    CHECK_FALSE(group.in_xoff());
}

TEST(SharedBuffer, workerThatFallsBehindHoldsTheGroup) {
    Bench bench({.shared_cells = 10});
    const GroupLimits limits{.headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    check(XoffSignal::send_xoff, bench.evaluate(group, limits, true));
    check(XoffSignal::none, bench.evaluate(group, limits, true));
    check(Admission::headroom, bench.admit(group, limits, 1));
    bench.release(group, 1);
    check(XoffSignal::none, bench.evaluate(group, limits, true));
    check(XoffSignal::send_xon, bench.evaluate(group, limits, false));
    check(XoffSignal::none, bench.evaluate(group, GroupLimits{}, true));  // lossy groups are never paused
}

TEST(SharedBuffer, stopSendsXonOnlyForWhatIsHeld) {
    Bench bench({.shared_cells = 10});
    const GroupLimits limits{.headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    check(XoffSignal::none, group.stop());
    for (int i = 0; i < 6; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    check(XoffSignal::send_xoff, bench.evaluate(group, limits));
    check(XoffSignal::send_xon, group.stop());
    check(XoffSignal::send_xoff, bench.evaluate(group, limits));  // still over, should the port come back
    const GroupLimits lossy{};
    check(XoffSignal::send_xon, bench.evaluate(group, lossy));  // the profile is gone
}

TEST(SharedBuffer, sharedHeadroomPoolLimitsTheSum) {
    Bench bench({.shared_cells = 4, .shared_headroom_cells = 5});
    const GroupLimits limits{.headroom_cells = 3, .lossless = true};
    std::array<PriorityGroup, 2> groups;
    for (int i = 0; i < 4; ++i) bench.admit(groups[0], limits, 1);
    for (int i = 0; i < 4; ++i) bench.admit(groups[1], limits, 1);
    LONGS_EQUAL(2, groups[0].shared_cells());
    LONGS_EQUAL(2, groups[0].headroom_cells());
    LONGS_EQUAL(1, groups[1].shared_cells());  // T 2 - 1 left
    LONGS_EQUAL(3, groups[1].headroom_cells());
    check(Admission::headroom_overrun,
          bench.admit(groups[0], limits, 1));  // own headroom has one, the pool none
    LONGS_EQUAL(5, bench.pool.headroom.get());
    bench.release(groups[1], 1);
    check(Admission::headroom, bench.admit(groups[0], limits, 1));
    LONGS_EQUAL(5, bench.pool.headroom.get());
    LONGS_EQUAL(5, bench.pool.headroom_watermark.user());
}

TEST(SharedBuffer, staticLimitNeverExceedsThePool) {
    Bench bench({.shared_cells = 10});
    const GroupLimits limits{.threshold = Threshold::fixed(1000)};
    PriorityGroup group;
    for (int i = 0; i < 5; ++i) check(Admission::shared, bench.admit(group, limits, 2));
    check(Admission::ingress_limit, bench.admit(group, limits, 1));
}

TEST(SharedBuffer, egressLimitsLossyQueuesOnly) {
    Bench bench({.shared_cells = 30});
    const QueueLimits lossy{.threshold = Threshold::dynamic(1), .reserved_cells = 2};
    const QueueLimits lossless{.threshold = Threshold::dynamic(-8), .lossless = true};
    EgressQueueUse queue, other;
    for (int i = 0; i < 2; ++i) check(QueueAdmission::reserved, bench.admit(queue, lossy, 1));
    for (int i = 0; i < 20; ++i) check(QueueAdmission::shared, bench.admit(queue, lossy, 1));
    check(QueueAdmission::queue_limit, bench.admit(queue, lossy, 1));
    for (int i = 0; i < 50; ++i) check(QueueAdmission::shared, bench.admit(other, lossless, 1));
    LONGS_EQUAL(70, bench.pool.shared.get());
    bench.release(queue, 22);
    bench.release(other, 50);
    LONGS_EQUAL(0, bench.pool.shared.get());
    LONGS_EQUAL(20, queue.shared_watermark.user.get());
}

TEST(SharedBuffer, cutTakesEffectAsUseFalls) {
    Bench bench({.shared_cells = 100});
    const GroupLimits wide{
        .threshold = Threshold::fixed(60), .reserved_cells = 10, .headroom_cells = 20, .lossless = true};
    const GroupLimits narrow{
        .threshold = Threshold::fixed(40), .reserved_cells = 4, .headroom_cells = 5, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 90; ++i) CHECK(is_admitted(bench.admit(group, wide, 1)));
    bench.pool_limits.shared_cells = 50;
    group.cut_reserved(narrow, bench.pool);
    LONGS_EQUAL(4, group.reserved_cells());
    LONGS_EQUAL(66, group.shared_cells());  // 6 of them were reserved
    LONGS_EQUAL(66 - 50, bench.pool.pending_cells(bench.pool_limits));
    LONGS_EQUAL(90, group.used_cells());
    check(Admission::headroom_overrun, bench.admit(group, narrow, 1));
    bench.release(group, 15);
    check(Admission::headroom_overrun, bench.admit(group, narrow, 1));
    bench.release(group, 1);
    check(Admission::headroom, bench.admit(group, narrow, 1));
    bench.release(group, 5 + 16);
    LONGS_EQUAL(0, bench.pool.pending_cells(bench.pool_limits));
    bench.release(group, 50);
    LONGS_EQUAL(4, group.used_cells());
    LONGS_EQUAL(4, group.reserved_cells());  // they leave last
    group.cut_reserved(wide, bench.pool);    // a larger reserve takes nothing back
    LONGS_EQUAL(4, group.reserved_cells());
    bench.release(group, 4);
    LONGS_EQUAL(0, bench.pool.shared.get());
}

// A group that is becoming lossless: in XOFF with or without cells, nothing to shared, as much to headroom as
// it has, and no XON before its change has ended.
TEST(SharedBuffer, changingGroupIsHeldWhateverItHas) {
    Bench bench({.shared_cells = 100});
    const GroupLimits lossy{};
    const GroupLimits changing{.headroom_cells = 2, .lossless = true, .changing = true};
    const GroupLimits lossless{.headroom_cells = 2, .lossless = true};
    for (const unsigned before : {0U, 9U}) {
        PriorityGroup group;
        if (before != 0) check(Admission::shared, bench.admit(group, lossy, before));
        check(XoffSignal::none, bench.evaluate(group, lossy));
        group.hold();
        CHECK(group.in_xoff());
        check(Admission::headroom, bench.admit(group, changing, 1));
        check(XoffSignal::send_xoff, bench.evaluate(group, changing));
        check(XoffSignal::none, bench.evaluate(group, changing));
        check(Admission::headroom, bench.admit(group, changing, 1));
        check(Admission::headroom_overrun, bench.admit(group, changing, 1));
        bench.release(group, before + 2);
        check(XoffSignal::none, bench.evaluate(group, changing));
        CHECK(group.in_xoff());
        group.hold();  // a second time says nothing new
        check(XoffSignal::none, bench.evaluate(group, changing));
        check(XoffSignal::send_xon, bench.evaluate(group, before == 0 ? lossless : lossy));
        CHECK_FALSE(group.in_xoff());
    }
    LONGS_EQUAL(0, bench.pool.shared.get());
    LONGS_EQUAL(0, bench.pool.headroom.get());
}

TEST(SharedBuffer, tightestKeepsAPeerPausedOnlyOnTheWayToLossless) {
    const GroupLimits lossy{};
    const GroupLimits lossless{.lossless = true};
    const GroupLimits changing{.lossless = true, .changing = true};
    CHECK_FALSE(tightest(lossy, lossless).changing);  // that comes once all workers run the tightest limits
    CHECK(tightest(changing, lossless).changing);
    CHECK(tightest(changing, lossless).lossless);
    CHECK_FALSE(tightest(changing, lossy).changing);
    CHECK_FALSE(tightest(changing, lossy).lossless);
    CHECK_FALSE(tightest(lossless, lossless).changing);
}

TEST(SharedBuffer, tightestIsNoLooserThanEither) {
    const GroupLimits from{
        .threshold = Threshold::dynamic(3), .reserved_cells = 9, .headroom_cells = 1, .xon_cells = 4};
    const GroupLimits to{.threshold = Threshold::fixed(50),
                         .reserved_cells = 2,
                         .headroom_cells = 7,
                         .xon_offset_cells = 6,
                         .pool = 1,
                         .lossless = true};
    const GroupLimits both = tightest(from, to);
    LONGS_EQUAL(2, both.reserved_cells);
    LONGS_EQUAL(1, both.headroom_cells);
    LONGS_EQUAL(0, both.xon_cells);
    LONGS_EQUAL(6, both.xon_offset_cells);
    LONGS_EQUAL(1, both.pool);
    CHECK_FALSE(both.lossless);  // not before it has its headroom
    CHECK(tightest(to, to).lossless);
    for (std::int64_t free = -3; free < 20; ++free)
        LONGS_EQUAL(std::min(from.threshold.limit_cells(free, 0), to.threshold.limit_cells(free, 0)),
                    both.threshold.limit_cells(free, 0));
    // 0 is "private", no limit: the other one counts
    LONGS_EQUAL(8, tightest(PoolLimits{.shared_headroom_cells = 8}, PoolLimits{}).shared_headroom_cells);
}

TEST(SharedBuffer, groupTakesItsCellsAlongToAnotherPool) {
    Bench from({.shared_cells = 10});
    Bench to({.shared_cells = 10});
    const GroupLimits limits{.headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 8; ++i) CHECK(is_admitted(from.admit(group, limits, 1)));
    group.move(from.pool, to.pool);
    LONGS_EQUAL(0, from.pool.shared.get() + from.pool.headroom.get());
    LONGS_EQUAL(5, to.pool.shared.get());
    LONGS_EQUAL(3, to.pool.headroom.get());
    to.release(group, 8);
    LONGS_EQUAL(0, to.pool.shared.get() + to.pool.headroom.get());
}

TEST(SharedBuffer, watermarksAreTheHighestUse) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{.reserved_cells = 10, .headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 10 + 50 + 7; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    bench.release(group, 30);
    LONGS_EQUAL(50, group.shared_watermark.user.get());
    LONGS_EQUAL(7, group.headroom_watermark.user.get());
    LONGS_EQUAL(50, bench.pool.shared_watermark.user());
    group.clear_user_watermarks();
    bench.pool.clear_user_watermarks();
    LONGS_EQUAL(27, group.shared_watermark.user.get());
    LONGS_EQUAL(50, group.shared_watermark.persistent.get());
    LONGS_EQUAL(27, bench.pool.shared_watermark.user());
    LONGS_EQUAL(50, bench.pool.shared_watermark.persistent());
}
