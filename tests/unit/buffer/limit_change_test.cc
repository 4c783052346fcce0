// Limits of the shared buffer that change while groups have cells.
#include <array>
#include <cstdint>

#include "tests/unit/buffer/shared_buffer_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::limit_change_test {

using namespace sluice::shared_buffer_bench;

TEST_GROUP(LimitChange){};

TEST(LimitChange, cutTakesEffectAsUseFalls) {
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
TEST(LimitChange, changingGroupIsHeldWhateverItHas) {
    Bench bench({.shared_cells = 100});
    const GroupLimits lossy{};
    const GroupLimits changing{.headroom_cells = 2, .lossless = true, .changing = true};
    const GroupLimits lossless{.headroom_cells = 2, .lossless = true};
    for (const unsigned before : {0U, 9U}) {
        PriorityGroup group;
        if (before != 0) check(Admission::shared, bench.admit(group, lossy, before));
        check(XoffSignal::none, bench.evaluate(group, lossy));
        group.stay_in_xoff();
        CHECK(group.in_xoff());
        check(Admission::headroom, bench.admit(group, changing, 1));
        check(XoffSignal::send_xoff, bench.evaluate(group, changing));
        check(XoffSignal::none, bench.evaluate(group, changing));
        check(Admission::headroom, bench.admit(group, changing, 1));
        check(Admission::headroom_overrun, bench.admit(group, changing, 1));
        bench.release(group, before + 2);
        check(XoffSignal::none, bench.evaluate(group, changing));
        CHECK(group.in_xoff());
        group.stay_in_xoff();  // a second time says nothing new
        check(XoffSignal::none, bench.evaluate(group, changing));
        check(XoffSignal::send_xon, bench.evaluate(group, before == 0 ? lossless : lossy));
        CHECK_FALSE(group.in_xoff());
    }
    LONGS_EQUAL(0, bench.pool.shared.get());
    LONGS_EQUAL(0, bench.pool.headroom.get());
}

TEST(LimitChange, tightestKeepsAPeerPausedOnlyOnTheWayToLossless) {
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

TEST(LimitChange, tightestIsNoLooserThanEither) {
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

TEST(LimitChange, whatIsStillToComeIsPendingToo) {
    Bench bench({.shared_cells = 10, .shared_headroom_cells = 5});
    LONGS_EQUAL(0, bench.pool.pending_cells(bench.pool_limits, {10, 5}));
    LONGS_EQUAL(2 + 3, bench.pool.pending_cells(bench.pool_limits, {12, 8}));
    LONGS_EQUAL(3, bench.pool.pending_cells(bench.pool_limits, {-12, 8}));
}

TEST(LimitChange, groupTakesItsCellsAlongToAnotherPool) {
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

}  // namespace sluice::limit_change_test
