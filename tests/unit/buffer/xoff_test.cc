// When a priority group sends XOFF and XON: others that fill the pool, levels, workers that fall behind.
#include "tests/unit/buffer/shared_buffer_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::xoff_test {

using namespace sluice::shared_buffer_bench;

TEST_GROUP(Xoff){};

TEST(Xoff, othersCanPushAGroupOverItsLimit) {
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

TEST(Xoff, xonBelowTheXonLevelWhateverTheOffset) {
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

TEST(Xoff, xonAboveTheLimitDoesNotFlap) {
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

TEST(Xoff, xoffThatWasNeverSentNeedsNoXon) {
    Bench bench({.shared_cells = 10});
    const GroupLimits limits{.headroom_cells = 10, .lossless = true};
    PriorityGroup group;
    for (int i = 0; i < 6; ++i) CHECK(is_admitted(bench.admit(group, limits, 1)));
    CHECK(group.in_xoff());
    bench.release(group, 6);  // gone before anybody evaluated
    check(XoffSignal::none, bench.evaluate(group, limits));
    CHECK_FALSE(group.in_xoff());
}

TEST(Xoff, workerThatFallsBehindHoldsTheGroup) {
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

TEST(Xoff, stopSendsXonOnlyForWhatIsHeld) {
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

}  // namespace sluice::xoff_test
