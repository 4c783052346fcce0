// Frames that a card has not taken: they wait behind it, or are dropped with their queue.
#include "tests/unit/nic/one_worker.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::refused_frames_test {

TEST_GROUP_BASE(RefusedFrames, OneWorker){};

TEST(RefusedFrames, burstsForAPortThatTakesFewLeaveWhenItTakesThem) {
    starts();
    p1.takes = 8;
    for (unsigned bursts = 0; bursts < 4; ++bursts) {
        arrive(p0, burst_size);
        const std::size_t before = p1.sent.size();
        worker_turn(0);
        LONGS_EQUAL(before + (bursts == 0 ? 8 : 0), p1.sent_when_polled);  // then it is no longer idle
    }
    p1.takes = 0xFFFF;
    for (unsigned turns = 0; turns < 2; ++turns) worker_turn(0);
    LONGS_EQUAL(4 * burst_size, p1.sent.size());
}

TEST(RefusedFrames, aStormDropsTheFramesThatTheDriverHasRefusedToo) {
    starts(false, {}, "watchdog.action = \"drop\"\nwatchdog.detection = \"100ms\"\n");
    p1.takes = 8;
    for (unsigned bursts = 0; bursts < 2; ++bursts) {
        arrive(p0, burst_size);
        worker_turn(0);
    }
    p1.takes = 0;
    const std::size_t before = p1.sent.size();
    for (unsigned n = 0; n < 150; ++n) {
        pause_arrives(p1, 0xFFFF);
        now = now + milliseconds(1);
        worker_turn(0);
    }
    p1.takes = 0xFFFF;
    worker_turn(0);
    LONGS_EQUAL(before, p1.sent.size());
    LONGS_EQUAL(2 * burst_size - before, running->device().dropped(0, DropReason::watchdog_drop));
}

}  // namespace sluice::refused_frames_test
