#include "lib/record/slot_trace.hh"

#include "lib/record/slot_list.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::slot_trace_test {
namespace {

constexpr Duration width = nanoseconds(100);
constexpr std::size_t chunk = 16;  // entries

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

}  // namespace

TEST_GROUP(SlotList){};

TEST(SlotList, takesMemoryAsItGrows) {
    SlotList<std::uint64_t> list;
    CHECK_TRUE(list.empty());
    LONGS_EQUAL(0, list.capacity());
    for (std::uint64_t n = 0; n < 1000; ++n) {
        list.push_back(n);
        CHECK_TRUE(list.capacity() < list.size() + chunk);
    }
    std::uint64_t expected = 0;
    for (const std::uint64_t each : list) LONGLONGS_EQUAL(expected++, each);
    LONGLONGS_EQUAL(1000, expected);
    LONGLONGS_EQUAL(999, list.back());
}

TEST(SlotList, entriesStayWhereTheyAre) {
    SlotList<int> list;
    list.push_back(7);
    const int* first = &list[0];
    for (int n = 0; n < 1000; ++n) list.push_back(n);
    POINTERS_EQUAL(first, &list[0]);
    LONGS_EQUAL(7, *first);
}

TEST(SlotList, givesBackWhatItShrinksBy) {
    SlotList<int> list;
    for (int n = 0; n < 100; ++n) list.push_back(n);
    list.shrink(17);
    LONGS_EQUAL(17, list.size());
    LONGS_EQUAL(16, list.back());
    LONGS_EQUAL(2 * chunk, list.capacity());
    list.push_back(5);
    LONGS_EQUAL(5, list[17]);
    list.shrink(0);
    LONGS_EQUAL(0, list.capacity());
}

TEST(SlotList, aReservedOneKeepsItsMemory) {
    SlotList<int> list;
    list.reserve(100);
    const std::size_t room = list.capacity();
    CHECK_TRUE(room >= 100 && room < 100 + chunk);
    for (int n = 0; n < 100; ++n) list.push_back(n);
    list.shrink(3);
    LONGS_EQUAL(room, list.capacity());
    LONGS_EQUAL(2, list.back());
}

TEST_GROUP(SlotTrace){};

TEST(SlotTrace, keepsPeakAndLastOfEachDepth) {
    SlotTrace<2> trace(4, width);
    trace.record(at(10), {3, 50});
    trace.record(at(90), {9, 20});
    trace.record(at(99), {2, 40});
    trace.record(at(100), {1, 1});
    LONGS_EQUAL(2, trace.slots().size());
    const auto& slot = trace.slots()[0];
    LONGLONGS_EQUAL(0, slot.start_ps);
    LONGS_EQUAL(9, slot.of[0].peak);
    LONGS_EQUAL(2, slot.of[0].last);
    LONGS_EQUAL(50, slot.of[1].peak);
    LONGS_EQUAL(40, slot.of[1].last);
    LONGLONGS_EQUAL(100'000, trace.slots()[1].start_ps);
}

TEST(SlotTrace, neighborsMergeInEachDepth) {
    SlotTrace<2> trace(4, width);
    for (std::uint32_t n = 0; n < 4; ++n) trace.record(at(n * 100), {n, 10 - n});
    trace.record(at(450), {0, 0});
    LONGLONGS_EQUAL(200'000, trace.width().ps);
    LONGS_EQUAL(3, trace.slots().size());
    LONGS_EQUAL(3, trace.slots()[1].of[0].peak);
    LONGS_EQUAL(3, trace.slots()[1].of[0].last);
    LONGS_EQUAL(8, trace.slots()[1].of[1].peak);
    LONGS_EQUAL(7, trace.slots()[1].of[1].last);
}

TEST(SlotTrace, memoryFollowsItsSlots) {
    SlotTrace<1> trace(4096, width);
    LONGS_EQUAL(0, trace.slots().capacity());
    for (std::int64_t n = 0; n < 10'000; ++n) {
        trace.record(at(n * 100), {1});
        CHECK_TRUE(trace.slots().capacity() < trace.slots().size() + chunk);
    }
}

TEST(SlotTrace, aReservedOneAllocatesOnce) {
    SlotTrace<1> trace(4096, width);
    trace.reserve();
    for (std::int64_t n = 0; n < 10'000; ++n) {
        LONGS_EQUAL(4096, trace.slots().capacity());
        trace.record(at(n * 100), {1});
    }
}

TEST(SlotTrace, catchesUpInTheSameSlot) {
    SlotTrace<2> trace(4, width);
    LONGLONGS_EQUAL(0, trace.end_ps());
    trace.record(at(10), {5, 8});
    LONGLONGS_EQUAL(100'000, trace.end_ps());
    trace.catch_up(1, {9, 3});
    trace.catch_up(1, {7, 2});
    LONGS_EQUAL(9, trace.slots()[0].of[1].peak);
    LONGS_EQUAL(2, trace.slots()[0].of[1].last);
    LONGS_EQUAL(5, trace.slots()[0].of[0].peak);
    LONGS_EQUAL(1, trace.slots().size());
}

}  // namespace sluice::slot_trace_test
