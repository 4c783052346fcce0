// A watchdog that rests need not look at each moment.
#include "CppUTest/TestHarness.h"
#include "lib/pfc/pfc_watchdog.hh"
#include "lib/values/rng.hh"

namespace sluice::watchdog_rest_test {
namespace {

constexpr Time begin{1'000'000};
constexpr ClassId queue = 3;

struct Watched {
    PfcWatchdog watchdog;
    QueueSample sample;

    Watched() {
        watchdog.configure({});
        watchdog.step(queue, WatchdogEvent::start, begin);
        sample.holds_packets = true;
    }
    WatchdogChange at(Duration since_begin) {
        return watchdog.check_queue(queue, sample, begin + since_begin);
    }
    WatchdogState state() const { return watchdog.state(queue); }
};

}  // namespace

TEST_GROUP(WatchdogRest){};

// A watchdog that looks each 100 us agrees with one that looks when something changes, a pause ends or an
// event is due, as long as it rests.
TEST(WatchdogRest, lastsUntilItsEventAPacketOrAPause) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::uint64_t drawn = seed << 20;
        Watched dense, sparse;
        std::int64_t looks = 0;
        constexpr std::int64_t step_us = 100;
        for (std::int64_t us = 0; us < 2'000'000; us += step_us) {
            const Duration now = microseconds(us);
            bool changes = false;
            if (scramble(drawn++) % 2000 == 0) {
                ++dense.sample.xoffs;
                dense.sample.paused_until =
                    begin + now + microseconds(step_us * static_cast<std::int64_t>(scramble(drawn++) % 4000));
                changes = true;
            }
            if (scramble(drawn++) % 4000 == 0) ++dense.sample.sent, changes = true;
            if (scramble(drawn++) % 4000 == 0)
                dense.sample.holds_packets = !dense.sample.holds_packets, changes = true;
            const bool paused = dense.sample.paused_until && begin + now < *dense.sample.paused_until;
            if (!paused && dense.sample.paused_until) dense.sample.paused_until.reset(), changes = true;
            const WatchdogChange change = dense.at(now);
            const auto event = sparse.watchdog.next_event();
            sparse.sample = dense.sample;
            if (!changes && (!event || begin + now < *event) &&
                sparse.watchdog.rests(paused ? 1U << queue : 0U)) {
                CHECK(change == WatchdogChange::none);
                CHECK(dense.state() == sparse.state());
                continue;
            }
            ++looks;
            CHECK(sparse.at(now) == change);
            CHECK(dense.state() == sparse.state());
        }
        CHECK(looks < 2'000'000 / step_us / 2);
    }
}

}  // namespace sluice::watchdog_rest_test
