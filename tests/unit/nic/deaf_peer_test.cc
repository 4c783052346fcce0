// Peers that keep sending while they are paused, on fake cards whose frames the test makes arrive.

#include <string>

#include "control/config/decisions/recorded_why.hh"
#include "control/report/figures/recorded_report.hh"
#include "control/switch/running/deaf_peers.hh"
#include "lib/buffer/priority_group.hh"

#include "tests/unit/nic/one_worker.hh"

#include "CppUTest/TestHarness.h"

namespace sluice {
namespace {

constexpr ClassId lossless = 3;
constexpr unsigned frames = 30;  // in a round: less than a turn takes

// The card of p1 sends nothing, so the group of p0 fills, and pauses its peer.
class HeldUp : public OneWorker {
  public:
    void begins() {
        starts();
        p1.takes = 0;
    }
    bool is_paused() const { return running->device().view(0).group(lossless).in_xoff(); }
    // A second of so many rounds. A deaf peer sends in each, another one while it is not paused.
    void second(unsigned rounds, bool deaf) {
        for (unsigned n = 0; n < rounds; ++n) {
            if (deaf || !is_paused())
                for (unsigned f = 0; f < frames; ++f) SwitchOnCards::arrive(p0, {.bytes = 1500});
            round(seconds(1) / rounds);
        }
    }
    std::string peer() const { return report("p0")["pfc_peer"].get<std::string>(); }
    bool why_says(const std::string& words) const {
        const Recorded recorded = take_recorded(*running);
        std::size_t left_out = 0;
        return recorded_json(recorded, explain_recorded(recorded, {}, 100, left_out)).dump().find(words) !=
               std::string::npos;
    }
};

}  // namespace

TEST_GROUP_BASE(DeafPeer, HeldUp){};

TEST(DeafPeer, isNotOneThatStopsWhenItIsPaused) {
    begins();
    for (unsigned n = 0; n < 6; ++n) second(1000, false);
    CHECK_TRUE(is_paused());
    STRCMP_EQUAL("unknown", peer().c_str());
    LONGS_EQUAL(0, events("peer_deaf").size());
}

TEST(DeafPeer, isFoundAfterTwoSecondsOfPause) {
    begins();
    second(1000, true);  // XOFF comes within it
    CHECK_TRUE(is_paused());
    second(1000, true);
    STRCMP_EQUAL("unknown", peer().c_str());
    for (unsigned n = 0; n < 3; ++n) second(1000, true);
    STRCMP_EQUAL("ignores", peer().c_str());
    LONGS_EQUAL(1, events("peer_deaf").size());
    const std::string what =
        "port p0: the peer does not obey pauses of priority 3: frames kept coming for seconds while it was "
        "paused; do: switch PFC on for priority 3 at the peer of p0";
    STRCMP_EQUAL(what.c_str(), events("peer_deaf")[0].c_str());
    STRCMP_EQUAL(what.c_str(), report("p0")["warnings"][0].get<std::string>().c_str());
    CHECK_TRUE(why_says("switch PFC on for priority 3 at the peer of p0"));
    STRCMP_CONTAINS("not obeyed by the peer of p0\n", promises().c_str());
    STRCMP_EQUAL("unknown", report("p1")["pfc_peer"].get<std::string>().c_str());
}

TEST(DeafPeer, isHeardOfNoMoreOnceItStops) {
    begins();
    for (unsigned n = 0; n < 5; ++n) second(1000, true);
    STRCMP_EQUAL("ignores", peer().c_str());
    for (unsigned n = 0; n < 2; ++n) second(1000, false);
    STRCMP_EQUAL("unknown", peer().c_str());
    STRCMP_CONTAINS("not obeyed by the peer of p0\n", promises().c_str());
}

// A worker that comes every 20 ms refreshes late: at 10G a pause lasts 3.4 ms, and then the peer may send.
TEST(DeafPeer, isNotOneWhosePauseHadRunOut) {
    begins();
    for (unsigned n = 0; n < 6; ++n) second(50, true);
    CHECK_TRUE(is_paused());
    CHECK_TRUE(report("p0")["pfc"]["tx_late"][lossless].get<int>() > 200);
    STRCMP_EQUAL("unknown", peer().c_str());
}

// A paused class: one loop is 1000 bytes, and a byte takes 8 ns.
TEST_GROUP(PausedClass) {
    PausedClass of_class;
    PausedClass::Seen seen{.in_xoff = true, .pauses = 1, .refreshes = 0, .late = 0, .unheld = {}, .bytes = 0};
    void look(std::uint64_t bytes) {
        seen.bytes += bytes;
        ++seen.refreshes;
        of_class.look(seen, 1000, gigabits(1));
    }
};

TEST(PausedClass, mayBringALoopInEverySecond) {
    for (unsigned n = 0; n < 5; ++n) look(1000);
    CHECK_FALSE(of_class.is_deaf());
    look(1001);
    CHECK_FALSE(of_class.is_deaf());
    look(1000);
    look(1001);
    CHECK_FALSE(of_class.is_deaf());  // not twice in a row
    look(1001);
    CHECK_TRUE(of_class.is_deaf());
    look(1);
    CHECK_TRUE(of_class.is_deaf());
    look(0);
    CHECK_FALSE(of_class.is_deaf());
}

TEST(PausedClass, isJudgedByOnePauseAlone) {
    look(0);
    for (unsigned n = 0; n < 4; ++n) {  // an XON between the looks
        ++seen.pauses;
        look(5000);
    }
    for (unsigned n = 0; n < 4; ++n) {
        seen.in_xoff = n % 2 != 0;
        look(5000);
    }
    for (unsigned n = 0; n < 4; ++n) {  // nobody sends the pause
        --seen.refreshes;
        look(5000);
    }
    CHECK_FALSE(of_class.is_deaf());
}

TEST(PausedClass, mayBringMoreAfterLateRefreshes) {
    look(0);
    for (unsigned n = 0; n < 4; ++n) {
        seen.late += 2;
        seen.unheld = seen.unheld + microseconds(8);
        look(3 * 1000 + 1000);
    }
    CHECK_FALSE(of_class.is_deaf());
    for (unsigned n = 0; n < 2; ++n) {
        seen.late += 2;
        seen.unheld = seen.unheld + microseconds(8);
        look(3 * 1000 + 1000 + 1);
    }
    CHECK_TRUE(of_class.is_deaf());
}

}  // namespace sluice
