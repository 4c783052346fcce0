#include "control/switch/running/loss_watch.hh"

#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::growing_loss_test {
namespace {

constexpr bool at_end = true;

// Seconds at which a loss is told that has come to `count(second)`.
template <class Count>
std::vector<int> told_at(GrowingLoss& loss, int from, int until, Count count) {
    std::vector<int> told;
    for (int n = from; n < until; ++n)
        if (loss.is_to_tell(static_cast<std::uint64_t>(count(n)), Time{} + seconds(n), !at_end))
            told.push_back(n);
    return told;
}

}  // namespace

TEST_GROUP(GrowingLoss) { GrowingLoss loss; };

TEST(GrowingLoss, IsNotToldWhileThereIsNone) {
    CHECK_TRUE(told_at(loss, 0, 100, [](int) { return 0; }).empty());
    CHECK_FALSE(loss.is_to_tell(0, Time{} + seconds(100), at_end));
}

TEST(GrowingLoss, IsToldOnceWhenItDoesNotGrow) {
    CHECK_TRUE((told_at(loss, 0, 200, [](int) { return 7; }) == std::vector{0}));
    CHECK_FALSE(loss.is_to_tell(7, Time{} + seconds(200), at_end));
}

TEST(GrowingLoss, ThatLastsIsToldEverMoreSeldomToAMinute) {
    const auto told = told_at(loss, 3, 300, [](int n) { return n; });
    CHECK_TRUE((told == std::vector{3, 4, 6, 10, 18, 34, 66, 130, 194, 258}));
}

TEST(GrowingLoss, IsToldAtTheEndInAll) {
    CHECK_TRUE(loss.is_to_tell(5, Time{} + seconds(1), !at_end));
    CHECK_FALSE(loss.is_to_tell(9, Time{} + seconds(1), !at_end));
    CHECK_TRUE(loss.is_to_tell(9, Time{} + seconds(1), at_end));
}

TEST(GrowingLoss, ThatHasPausedBeginsAnew) {
    told_at(loss, 0, 40, [](int n) { return 1 + n; });
    const auto told = told_at(loss, 200, 205, [](int n) { return 100 + n; });
    CHECK_TRUE((told == std::vector{200, 201, 203}));
}

}  // namespace sluice::growing_loss_test
