// The parts of the shared buffer: reserved, shared and headroom, and the share that each group gets of a
// pool.
#include <cstdint>
#include <vector>

#include "lib/buffer/buffer_limits.hh"
#include "tests/unit/buffer/shared_buffer_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::shared_buffer_test {

using namespace sluice::shared_buffer_bench;

static_assert(Threshold::dynamic(-8).limit_cells(511, 0) == 1 &&
              Threshold::dynamic(7).limit_cells(3, 0) == 384);
static_assert(Threshold::fixed(0).limit_cells(9, 0) == 0 && Threshold::none().limit_cells(9, 2) == 11);
static_assert(tightest(Threshold::dynamic(1), Threshold::fixed(5)).limit_cells(2, 0) == 4);
static_assert(tightest(Threshold::dynamic(1), Threshold::fixed(5)).limit_cells(9, 0) == 5);
static_assert(tightest(Threshold::fixed(0), Threshold::none()).limit_cells(9, 3) == 0);

TEST_GROUP(SharedBuffer){};

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

// Admission without the pool has the same result as with it, or none where the pool is needed.
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
TEST(SharedBuffer, lossyNeighborsThatFillTogetherKeepThePromise) {
    for (int n = -4; n <= 3; ++n)
        for (int lossy_n = -3; lossy_n <= 7; ++lossy_n)
            for (const std::size_t neighbors : {1, 2, 5}) {
                Bench bench({.shared_cells = 20'000});
                const GroupLimits lossless{.threshold = Threshold::dynamic(n),
                                           .reserved_cells = 10,
                                           .headroom_cells = 10,
                                           .lossless = true};
                const GroupLimits lossy{.threshold = Threshold::dynamic(lossy_n)};
                PriorityGroup group;
                std::vector<PriorityGroup> others(neighbors);
                // in 256ths: alpha S / (1 + alpha + k alpha')
                const std::int64_t a = std::int64_t{256} << 8 >> (8 - n);
                const std::int64_t b = std::int64_t{256} << 8 >> (8 - lossy_n);
                const std::int64_t share = a * 20'000 / (256 + a + static_cast<std::int64_t>(neighbors) * b);
                // A lone neighbor may come after; several fill side by side, so none runs ahead of its share
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

// Neighbors that came one after the other and do not drain hold more than their share: the rest for a
// newcomer is alpha S / product of (1 + alpha), and no order of arrivals leaves less.
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

TEST(SharedBuffer, aQueuesDeepestIsReservedAndShared) {
    Bench bench({.shared_cells = 100});
    const QueueLimits limits{.threshold = Threshold::dynamic(1), .reserved_cells = 10};
    EgressQueueUse queue;
    for (int i = 0; i < 9; ++i) CHECK_TRUE(is_admitted(bench.admit(queue, limits, 1)));
    LONGS_EQUAL(9, queue.deepest_cells());  // while it holds them
    CHECK_TRUE(queue.release_reserved(9));
    LONGS_EQUAL(9, queue.deepest_cells());
    LONGS_EQUAL(0, queue.shared_watermark.persistent.get());
    for (int i = 0; i < 10 + 20; ++i) CHECK_TRUE(is_admitted(bench.admit(queue, limits, 1)));
    bench.release(queue, 1);
    for (int i = 0; i < 3; ++i) CHECK_TRUE(is_admitted(bench.admit(queue, limits, 1)));
    LONGS_EQUAL(32, queue.deepest_cells());
    bench.release(queue, 25);
    LONGS_EQUAL(32, queue.user_deepest_cells());
    queue.clear_user_watermarks();
    LONGS_EQUAL(7, queue.user_deepest_cells());  // it held them at that moment
    CHECK_TRUE(queue.release_reserved(7));
    LONGS_EQUAL(7, queue.user_deepest_cells());
    LONGS_EQUAL(32, queue.deepest_cells());
}

TEST(SharedBuffer, watermarksAreTheHighestUse) {
    Bench bench({.shared_cells = 100});
    const GroupLimits limits{.reserved_cells = 10, .headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 10 + 50 + 7; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    bench.release(group, 2);
    group.clear_user_watermarks();
    LONGS_EQUAL(5, group.headroom_watermark.user.get());
    LONGS_EQUAL(7, group.headroom_watermark.persistent.get());
    bench.release(group, 28);
    LONGS_EQUAL(50, group.shared_watermark.user.get());
    LONGS_EQUAL(50, bench.pool.shared_watermark.user());
    group.clear_user_watermarks();
    bench.pool.clear_user_watermarks();
    LONGS_EQUAL(27, group.shared_watermark.user.get());
    LONGS_EQUAL(50, group.shared_watermark.persistent.get());
    LONGS_EQUAL(27, bench.pool.shared_watermark.user());
    LONGS_EQUAL(50, bench.pool.shared_watermark.persistent());
}

}  // namespace sluice::shared_buffer_test
