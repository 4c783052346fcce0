// The time of a train of frames over links, against figures by hand.
#include "lib/roce/empty_path.hh"

#include <algorithm>
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

// Frame by frame: what the equal ones come to, with a backlog at first that only goes slowly.
TEST(EmptyPath, equalFramesTakeAsLongAsOneByOne) {
    const std::vector<PathLink> links{{ns(100), ns(5)}, {ns(99), ns(7)}, {ns(100), ns(3)}, {ns(90), ns(1)}};
    for (const std::uint64_t count : {1, 2, 3, 4, 5, 40, 1000})
        for (const std::uint32_t first : {1U, 1040U, 9000U}) {
            std::vector<Duration> free(links.size());
            Duration came{};
            for (std::uint64_t n = 0; n < count; ++n) {
                const std::int64_t bytes = n + 1 == count ? 70 : n == 0 ? first : 1024;
                came = {};
                for (std::size_t at = 0; at < links.size(); ++at) {
                    const Duration begins = std::max(came, free[at]);
                    free[at] = begins + links[at].byte_time * bytes;
                    came = (at == 0 ? begins : free[at]) + links[at].propagation;
                }
            }
            CHECK_TRUE(time_through(links, {count, first, 1024, 70}) == came);
        }
}

}  // namespace sluice::empty_path_test
