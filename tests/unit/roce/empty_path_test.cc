// The time of a train of frames over links, against figures by hand.
#include "lib/roce/empty_path.hh"

#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::empty_path_test {
namespace {

using namespace sluice::roce;

Duration ns(std::int64_t n) { return nanoseconds(n); }

}  // namespace

TEST_GROUP(EmptyPath){};

TEST(EmptyPath, theFirstSwitchHasAFrameAtItsStartAndOthersAtItsEnd) {
    // 1 and 2 ns a byte.
    const std::vector<PathLink> links{{ns(1), ns(100)}, {ns(2), ns(10)}, {ns(1), ns(1)}};
    const Train alone{1, 0, 0, 50};
    CHECK_TRUE(time_through(links, alone) == ns(100 + 100 + 10 + 50 + 1));
    CHECK_TRUE(time_back(links, alone) == ns(1 + 100 + 10 + 50 + 100));
    CHECK_TRUE(time_through(std::vector{links[0]}, alone) == ns(50 + 100));
}

TEST(EmptyPath, theSlowestLinkSetsThePace) {
    const std::vector<PathLink> links{{ns(1), ns(0)}, {ns(3), ns(0)}, {ns(2), ns(0)}};
    // The fourth of 100 leaves the slow link, and then the third one; the last of 10 waits there for it.
    CHECK_TRUE(time_through(links, {5, 100, 100, 10}) == ns(4 * 300 + 200 + 20));
    // It comes when the fast link has sent those before it, and the slow one is free before.
    CHECK_TRUE(time_through(links, {2, 10, 0, 100}) == ns(30 + 300 + 200));
}

TEST(EmptyPath, aMillionFramesTakeTheirBytesAtTheSlowestLink) {
    const std::vector<PathLink> links{{ns(1), ns(7)}, {ns(1), ns(7)}};
    CHECK_TRUE(time_through(links, {1'000'000, 10, 10, 10}) == ns(10'000'000 + 14));
}

}  // namespace sluice::empty_path_test
