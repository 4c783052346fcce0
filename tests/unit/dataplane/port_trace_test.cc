#include "dataplane/path/port_trace.hh"

#include <numeric>

#include "CppUTest/TestHarness.h"

namespace sluice::port_trace_test {
namespace {

constexpr Duration width = nanoseconds(100);

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

}  // namespace

TEST_GROUP(PortTrace){};

TEST(PortTrace, keepsTheFirstChangesAndAllOfTheTime) {
    PortTrace trace(4, width);
    trace.pauses_changed(at(0), 0);  // none yet
    for (std::int64_t n = 0; n < 3; ++n) {
        trace.pauses_changed(at(100 * n + 10), 8);
        trace.pauses_changed(at(100 * n + 20), 8);
        trace.pauses_changed(at(100 * n + 40), 0);
    }
    const auto& sent = trace.sent;
    LONGS_EQUAL(4, sent.changes.size());
    LONGLONGS_EQUAL(110'000, sent.changes[2].at.ps);
    LONGS_EQUAL(8, sent.changes[2].priorities);
    CHECK_TRUE(sent.cut);
    const auto slots = sent.share[3].slots(at(300));
    LONGLONGS_EQUAL(90'000, std::accumulate(slots.begin(), slots.end(), std::int64_t{0}));
    CHECK_TRUE(sent.share[2].slots(at(300)).empty());
    CHECK_TRUE(trace.obeyed.changes.empty() && !trace.obeyed.cut);
}

TEST(PortTrace, takesMemoryAsSlotsFill) {
    PortTrace trace(4096, width);
    for (unsigned n = 0; n < classes; ++n) LONGS_EQUAL(0, trace.queue[n].slots().capacity());
    LONGS_EQUAL(0, trace.sent.changes.capacity());
    trace.group[3].record(at(0), {1, 2, 3});
    LONGS_EQUAL(1, trace.group[3].slots().size());
    CHECK_TRUE(trace.group[3].slots().capacity() <= 16);
    LONGS_EQUAL(2, trace.group[3].slots()[0].of[PortTrace::limit].peak);
}

TEST(PortTrace, aReservedOneHasAllOfItsMemory) {
    PortTrace trace(4096, width);
    trace.reserve();
    for (unsigned n = 0; n < classes; ++n) {
        LONGS_EQUAL(4096, trace.queue[n].slots().capacity());
        LONGS_EQUAL(4096, trace.group[n].slots().capacity());
    }
    LONGS_EQUAL(4096, trace.obeyed.changes.capacity());
}

}  // namespace sluice::port_trace_test
