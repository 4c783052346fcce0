// Decision records of one group that fills: the numbers of the law, and the queues that hold the cells.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "tests/sim/decision_recorder.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pause_record_test {

using namespace sluice::sim;

TEST_GROUP(PauseRecord){};

// The closed form of one blocked group: the packet that fires, the one that is dropped, and the state that
// each saw.
TEST(PauseRecord, numbersOfABlockedGroupAreThoseOfTheLaw) {
    SimSwitch sim(small_group(2));
    Recorder recorder(sim);
    sim.hold(1, lossless, true);
    const std::uint64_t reserved = reserved_cells / frame_cells;
    const std::uint64_t shared = limit_cells / frame_cells;
    const std::uint64_t headroom = headroom_cells / frame_cells;
    const std::uint64_t packets = reserved + shared + headroom + 3;
    for (std::uint64_t n = 0; n < packets; ++n) {
        sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
    }
    for (std::uint64_t n = 0; n < packets; ++n) {
        const auto at = recorder.all<Admitted>(DecisionKey{0, n});
        LONGS_EQUAL(1, at.size());
        const Admitted& admitted = at[0];
        const std::uint64_t after = n < reserved ? 0 : n - reserved;
        LONGS_EQUAL(frame_cells, admitted.cells);
        LONGS_EQUAL(std::min(n, reserved) * frame_cells, admitted.reserved);
        LONGS_EQUAL(std::min(after, shared) * frame_cells, admitted.shared);
        LONGS_EQUAL(limit_cells, admitted.limit);
        LONGS_EQUAL((after < shared ? 0 : std::min(after - shared, headroom)) * frame_cells,
                    admitted.headroom);
        LONGS_EQUAL(admitted.shared, admitted.pool_used);
        LONGS_EQUAL(sim.pool_of(0, lossless).shared_cells, admitted.pool_size);
        const Admission part = n < reserved                ? Admission::reserved
                               : after < shared            ? Admission::shared
                               : after < shared + headroom ? Admission::headroom
                                                           : Admission::headroom_overrun;
        CHECK_TRUE(admitted.part == part);
        CHECK_EQUAL(n >= reserved && after == shared, admitted.fired_xoff);
        CHECK_EQUAL(after > shared, admitted.in_xoff);
        LONGS_EQUAL(part == Admission::headroom_overrun ? 1 : 0,
                    recorder.all<Dropped>(DecisionKey{0, n}).size());
    }
    // A single pause, by the first in headroom, and the queue that it was for.
    const auto pauses = recorder.all<GroupPaused>();
    LONGS_EQUAL(1, pauses.size());
    CHECK_TRUE(pauses[0].xoff);
    LONGS_EQUAL(reserved * frame_cells, pauses[0].reserved);
    LONGS_EQUAL(shared * frame_cells, pauses[0].shared);
    LONGS_EQUAL(limit_cells, pauses[0].limit);
    LONGS_EQUAL(frame_cells, pauses[0].headroom);
    LONGS_EQUAL(headroom_cells, pauses[0].headroom_size);
    LONGS_EQUAL(shared * frame_cells, pauses[0].pool_used);
    LONGS_EQUAL(1, pauses[0].filler_count);
    LONGS_EQUAL(1, pauses[0].fillers[0].port);
    LONGS_EQUAL(lossless, pauses[0].fillers[0].queue);
    LONGS_EQUAL((reserved + shared + 1) * frame_cells, pauses[0].fillers[0].cells);
    LONGS_EQUAL(0, pauses[0].unknown + pauses[0].other_queues);
    for (const auto& [key, why] : recorder.log().why().entries())
        if (std::get<0>(key) == Verdict::dropped) {
            LONGS_EQUAL(3, why.count);
            STRCMP_EQUAL(
                "group p0.3 held 4608 B of 5120 B headroom, and 10.8 KB of its limit 11.0 KB: 1536 B more "
                "did not fit; filled, when it was paused, by p1.3 (15.4 KB)",
                why.sentence.c_str());
        }
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(5));
    recorder.finish();
    LONGS_EQUAL(packets - 3, recorder.log().recorded(Verdict::sent));
    LONGS_EQUAL(3, recorder.log().recorded(Verdict::dropped));
    LONGS_EQUAL(2, recorder.log().recorded(Verdict::paused));  // and the XON
    LONGS_EQUAL(0, recorder.log().open());
}

TEST(PauseRecord, aPauseNamesTheQueuesThatHoldTheCells) {
    for (const unsigned workers : {1U, 2U, 4U}) {
        SimSwitch sim(small_group(4, workers));
        Recorder recorder(sim);
        for (PortId id = 1; id < 4; ++id) sim.hold(id, lossless, true);
        // Ten packets fit, three for p1, five for p3, two for p2; the eleventh, for p2, fires.
        for (const PortId to : {1, 3, 3, 2, 1, 3, 1, 3})
            sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(to), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
        LONGS_EQUAL(0, recorder.all<GroupPaused>().size());
        sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(2), {frame, frame});
        sim.run_until(sim.now() + nanoseconds(2));
        const auto pauses = recorder.all<GroupPaused>();
        LONGS_EQUAL(1, pauses.size());
        LONGS_EQUAL(3, pauses[0].filler_count);
        constexpr std::array<std::pair<PortId, unsigned>, 3> expected{{{3, 4}, {1, 3}, {2, 3}}};
        for (std::size_t i = 0; i < 3; ++i) {
            LONGS_EQUAL(expected[i].first, pauses[0].fillers[i].port);
            LONGS_EQUAL(expected[i].second * frame_cells, pauses[0].fillers[i].cells);
        }
        LONGS_EQUAL(0, pauses[0].unknown);
        for (PortId id = 1; id < 4; ++id) sim.hold(id, lossless, false);
        sim.drain(sim.now() + milliseconds(5));
    }
}

// By a link that went down; with two workers the egress side counts it, with one the ingress side may.
TEST(PauseRecord, cellsOfWhatWasDiscardedAreNotBlamed) {
    for (const unsigned workers : {1U, 2U}) {
        SimSwitch sim(small_group(3, workers));
        Recorder recorder(sim);
        for (PortId id = 1; id < 3; ++id) sim.hold(id, lossless, true);
        for (int n = 0; n < 4; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
        sim.at(sim.now() + nanoseconds(5), [&] { sim.set_port(1, false); });
        sim.run_until(sim.now() + nanoseconds(10));
        LONGS_EQUAL(4, sim.dropped(DropReason::link_down));
        for (int n = 0; n < 10; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(2), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
        const auto pauses = recorder.all<GroupPaused>();
        LONGS_EQUAL(1, pauses.size());
        check_cells(pauses[0]);
        LONGS_EQUAL(1, pauses[0].filler_count);
        LONGS_EQUAL(2, pauses[0].fillers[0].port);
        sim.hold(2, lossless, false);
        sim.drain(sim.now() + milliseconds(5));
    }
}

TEST(PauseRecord, cellsFromBeforeAreCalledUnknown) {
    Config config = small_group(2);
    config.decisions.record = RecordMode::ready;
    SimSwitch sim(config);
    Recorder recorder(sim);
    sim.hold(1, lossless, true);
    for (int n = 0; n < 4; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
    sim.run_until(sim.now() + nanoseconds(2));
    CHECK_TRUE(recorder.events.empty());
    config.decisions.record = RecordMode::on;
    CHECK_TRUE(sim.apply(config));
    for (int n = 0; n < 8; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
    sim.run_until(sim.now() + nanoseconds(2));
    const auto pauses = recorder.all<GroupPaused>();
    LONGS_EQUAL(1, pauses.size());
    LONGS_EQUAL(4 * frame_cells, pauses[0].unknown);
    LONGS_EQUAL(pauses[0].reserved + pauses[0].shared + pauses[0].headroom,
                pauses[0].fillers[0].cells + pauses[0].unknown);
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(5));
    recorder.finish();
    LONGS_EQUAL(8, recorder.log().recorded(Verdict::sent));  // those from before are not recorded
}

}  // namespace sluice::pause_record_test
