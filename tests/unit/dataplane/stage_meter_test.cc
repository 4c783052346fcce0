#include "dataplane/path/stage_meter.hh"

#include <set>

#include "CppUTest/TestHarness.h"

namespace sluice::stage_meter_test {
namespace {

std::uint64_t cycles(const StageMeter& meter) {
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < stage_count; ++n) sum += meter.use(static_cast<Stage>(n)).cycles.get();
    return sum;
}

// A turn that receives, sends, and ends.
void turn(StageMeter& meter, unsigned received, unsigned sent) {
    Laps laps(meter, meter.session());
    laps.lap(Stage::receive, received);
    laps.lap(Stage::send, sent);
    laps.finish(received + sent);
}

}  // namespace

TEST_GROUP(StageMeter) { StageMeter meter; };

TEST(StageMeter, isOffAtFirstAndCountsNothing) {
    CHECK_EQUAL(0, meter.session());
    CHECK_EQUAL(0, meter.turns());
    CHECK_EQUAL(0, cycles(meter));
}

TEST(StageMeter, givesABusyTurnToItsStages) {
    meter.start();
    turn(meter, 32, 20);
    turn(meter, 1, 0);
    CHECK_EQUAL(2, meter.turns());
    CHECK_EQUAL(2, meter.busy_turns());
    CHECK_EQUAL(33, meter.use(Stage::receive).packets.get());
    CHECK_EQUAL(20, meter.use(Stage::send).packets.get());
    CHECK(meter.use(Stage::receive).cycles.get() != 0);
    CHECK_EQUAL(0, meter.use(Stage::parse).cycles.get());
    CHECK_EQUAL(0, meter.use(Stage::idle).cycles.get());
}

TEST(StageMeter, givesAnIdleTurnAsAWholeToIdle) {
    meter.start();
    turn(meter, 0, 0);
    CHECK_EQUAL(1, meter.turns());
    CHECK_EQUAL(0, meter.busy_turns());
    CHECK(meter.use(Stage::idle).cycles.get() != 0);
    CHECK_EQUAL(cycles(meter), meter.use(Stage::idle).cycles.get());
}

TEST(StageMeter, losesNoTimeBetweenItsLaps) {
    meter.start();
    const std::uint64_t before = rte_rdtsc();
    turn(meter, 1, 1);
    const std::uint64_t after_first = cycles(meter);
    const std::uint64_t between = rte_rdtsc();
    while (rte_rdtsc() - between < 100000) {
    }
    turn(meter, 1, 1);
    const std::uint64_t whole = rte_rdtsc() - before;
    CHECK(cycles(meter) - after_first >= 100000);
    CHECK(cycles(meter) <= whole);
}

TEST(StageMeter, keepsItsFiguresWhenStoppedAndBeginsAnewWhenStarted) {
    meter.start();
    turn(meter, 7, 0);
    meter.stop();
    CHECK_EQUAL(0, meter.session());
    CHECK_EQUAL(7, meter.use(Stage::receive).packets.get());
    const std::uint64_t stopped = rte_rdtsc();
    while (rte_rdtsc() - stopped < 100000) {
    }
    meter.start();
    const std::uint64_t before = rte_rdtsc();
    turn(meter, 1, 0);
    CHECK_EQUAL(1, meter.use(Stage::receive).packets.get());
    CHECK_EQUAL(1, meter.turns());
    CHECK(cycles(meter) <= rte_rdtsc() - before);
}

TEST(StageMeter, startedWhileItRunsBeginsAnew) {
    meter.start();
    turn(meter, 7, 0);
    meter.start();
    turn(meter, 1, 0);
    CHECK_EQUAL(1, meter.use(Stage::receive).packets.get());
}

TEST(StageMeter, stagesHaveNamesOfTheirOwn) {
    std::set<std::string_view> names;
    for (const StageText& text : stage_texts) {
        CHECK(!text.sentence.empty());
        CHECK(names.insert(text.name).second);
    }
}

}  // namespace sluice::stage_meter_test
