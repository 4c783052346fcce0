// The bitmap of what came past the expected PSN, against a set; when a hole counts as lost.
#include "lib/roce/receive_window.hh"

#include <set>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::receive_window_test {
namespace {

using namespace sluice::roce;
using Came = ReceiveWindow::Came;

constexpr Time us(std::int64_t n) { return Time{} + microseconds(n); }

}  // namespace

TEST_GROUP(ReceiveWindow) {
    RecoverySettings settings{Recovery::selective, 64, microseconds(10)};

    static void tells(ReceiveWindow & window, std::uint64_t first, std::uint64_t end) {
        CHECK_TRUE(window.has_hole());
        const auto hole = window.next_hole();
        LONGS_EQUAL(first, hole.first);
        LONGS_EQUAL(end, hole.end);
    }
};

TEST(ReceiveWindow, aHoleIsLostAfterTheReorderWindow) {
    ReceiveWindow window(settings);
    window.add(102, 1, 100, us(1));
    CHECK_TRUE(window.next_timer() == us(11));
    window.add(105, 1, 100, us(5));
    window.expire(100, us(10));
    CHECK_FALSE(window.has_hole());
    window.expire(100, us(11));
    tells(window, 100, 102);
    CHECK_FALSE(window.has_hole());  // the other is younger
    CHECK_TRUE(window.next_timer() == us(21));
    window.expire(100, us(21));
    tells(window, 103, 105);
    CHECK_FALSE(window.has_hole());
    CHECK_FALSE(window.next_timer().has_value());
    window.expire(100, us(99));
    CHECK_FALSE(window.has_hole());  // each is told once
}

TEST(ReceiveWindow, aHoleThatIsFilledIsNotLost) {
    ReceiveWindow window(settings);
    window.add(102, 1, 100, us(1));
    window.add(104, 1, 100, us(1));
    window.expire(100, us(11));
    window.add(103, 1, 100, us(12));
    tells(window, 100, 102);
    CHECK_FALSE(window.has_hole());
    window.advance(100, 105, us(13));
    CHECK_FALSE(window.any(105));
}

TEST(ReceiveWindow, progressStartsTheTimeOfYoungerHoles) {
    ReceiveWindow window(settings);
    window.add(101, 1, 100, us(1));
    window.add(104, 1, 100, us(5));
    window.advance(100, 102, us(8));
    CHECK_TRUE(window.next_timer() == us(18));
    window.expire(102, us(18));
    tells(window, 102, 104);
}

TEST(ReceiveWindow, noWindowTellsAtOnce) {
    settings.reorder_window = {};
    ReceiveWindow window(settings);
    window.add(103, 2, 100, us(1));
    tells(window, 100, 103);
    window.add(106, 1, 100, us(1));
    tells(window, 105, 106);
    CHECK_FALSE(window.next_timer().has_value());
}

TEST(ReceiveWindow, goingBackOnlyMeasures) {
    settings.kind = Recovery::go_back_n;
    ReceiveWindow window(settings);
    window.add(102, 1, 100, us(1));
    CHECK_FALSE(window.next_timer().has_value());
    window.expire(100, us(99));
    CHECK_FALSE(window.has_hole());
}

// A packet further on would take the place of the expected one.
TEST(ReceiveWindow, marksNothingBeyondItsWindow) {
    ReceiveWindow window(settings);
    window.mark(164, 100, us(1));
    CHECK_FALSE(window.any(100));
    window.mark(163, 100, us(1));
    CHECK_TRUE(window.holds(163) && !window.holds(100));
}

TEST(ReceiveWindow, isASetWithinItsWindow) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::uint64_t drawn = 0;
        const auto below = [&](std::uint64_t n) { return scramble(seed << 32 | drawn++) % n; };
        ReceiveWindow window(settings);
        std::set<std::uint64_t> model;
        std::uint64_t expected = below(200), highest = 0, inversions = 0, repeated = 0, depth = 0;
        for (unsigned n = 0; n < 500; ++n) {
            const std::uint64_t sequence = expected + 1 + below(below(2) == 0 ? 8 : 70);
            const Came came = window.add(sequence, 1, expected, us(n));
            if (sequence >= expected + 64) {
                CHECK_TRUE(came == Came::beyond);
            } else if (!model.insert(sequence).second) {
                CHECK_TRUE(came == Came::again);
                ++repeated;
            } else {
                CHECK_TRUE(came == Came::first);
                if (sequence < highest) depth = std::max(depth, highest - sequence), ++inversions;
                highest = std::max(highest, sequence);
            }
            if (below(4) == 0 && window.any(expected)) {
                const std::uint64_t to = window.run_end(expected + 1);
                std::uint64_t model_to = expected + 1;
                while (model.contains(model_to)) ++model_to;
                CHECK_TRUE(to == model_to);
                window.advance(expected, to, us(n));
                model.erase(model.begin(), model.lower_bound(to));
                expected = to;
            }
            for (std::uint64_t each = expected; each < expected + 64; ++each)
                CHECK_TRUE(window.holds(each) == model.contains(each));
            CHECK_TRUE(window.any(expected) == !model.empty());
        }
        CHECK_TRUE(window.counters().inversions == inversions && window.counters().repeated == repeated);
        CHECK_TRUE(window.counters().max_depth == depth);
    }
}

}  // namespace sluice::receive_window_test
