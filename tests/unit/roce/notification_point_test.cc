#include "lib/roce/dcqcn.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::notification_point_test {
namespace {

using namespace sluice::roce;

constexpr Time origin{~std::uint64_t{0} - 20'000'000};  // Time wraps 20 us into every test
constexpr Duration interval = microseconds(50);
Time us(std::int64_t n) { return origin + microseconds(n); }

}  // namespace

TEST_GROUP(NotificationPoint){};

TEST(NotificationPoint, noSecondCnpWithinTheInterval) {
    NotificationPoint point(CnpScope::queue_pair, interval, 4, 2);
    CHECK_TRUE(point.on_marked(1, 0, us(0)));
    CHECK_FALSE(point.on_marked(1, 0, us(0)));
    CHECK_FALSE(point.on_marked(1, 0, us(50) - Duration{1}));  // which does not start the interval anew
    CHECK_TRUE(point.on_marked(1, 0, us(50)));
    CHECK_FALSE(point.on_marked(1, 0, us(99)));
    CHECK_TRUE(point.on_marked(1, 0, us(50) + seconds(86'400 * 100) + seconds(86'400 * 50)));
}

TEST(NotificationPoint, anIntervalOfZeroAnswersEachMarkedPacket) {
    NotificationPoint point(CnpScope::port, {}, 4, 2);
    for (int n = 0; n < 10; ++n) CHECK_TRUE(point.on_marked(1, 0, us(n / 2)));
}

TEST(NotificationPoint, theScopeSaysWhoSharesAnInterval) {
    for (const CnpScope scope : {CnpScope::queue_pair, CnpScope::peer, CnpScope::port}) {
        NotificationPoint point(scope, interval, 4, 2);
        CHECK_TRUE(point.on_marked(0, 0, us(0)));
        CHECK_FALSE(point.on_marked(0, 0, us(1)));
        CHECK_TRUE(point.on_marked(1, 0, us(1)) == (scope == CnpScope::queue_pair));  // same peer
        CHECK_TRUE(point.on_marked(3, 1, us(2)) == (scope != CnpScope::port));        // another peer
        CHECK_FALSE(point.on_marked(3, 1, us(3)));
        CHECK_TRUE(point.on_marked(0, 0, us(50)));
        // The other peer's interval is its own.
        CHECK_TRUE(point.on_marked(3, 1, us(51)) == false);
    }
}

}  // namespace sluice::notification_point_test
