// Moments of many, against a plain search through all of them.
#include "lib/clock/calendar.hh"

#include <optional>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::calendar_test {
namespace {

Time at(std::uint64_t ps) { return {ps}; }

// The number whose moment is the least and not after `now`.
std::optional<std::uint32_t> due(const std::vector<std::optional<Time>>& moments, Time now) {
    std::optional<std::uint32_t> best;
    for (std::uint32_t n = 0; n < moments.size(); ++n)
        if (moments[n] && *moments[n] <= now && (!best || *moments[n] < *moments[*best])) best = n;
    return best;
}

std::optional<Time> earliest(const std::vector<std::optional<Time>>& moments) {
    std::optional<Time> best;
    for (const auto& moment : moments)
        if (moment && (!best || *moment < *best)) best = moment;
    return best;
}

void compare(std::uint64_t first) {
    std::uint32_t count = 1;
    Calendar calendar(count);
    std::vector<std::optional<Time>> plain(count);
    Time now = at(first);
    for (std::uint64_t step = 0; step < 20'000; ++step) {
        if (step % 500 == 499) {
            count += step % 3;
            calendar.resize(count);
            plain.resize(count);
        }
        const std::uint64_t drawn = draw({first, 1, 0, step});
        const auto number = static_cast<std::uint32_t>(drawn % count);
        if (drawn >> 8 & 3) {
            plain[number] = now + Duration{static_cast<std::int64_t>(drawn >> 20 & 63)};
            calendar.set(number, plain[number]);
        } else if (drawn >> 10 & 1) {
            plain[number].reset();
            calendar.set(number, std::nullopt);
        } else {
            now = now + Duration{static_cast<std::int64_t>(drawn >> 30 & 15)};
            while (const auto wanted = due(plain, now)) {
                CHECK_TRUE(calendar.take_due(now) == wanted);
                plain[*wanted].reset();
            }
            CHECK_FALSE(calendar.take_due(now).has_value());
        }
        CHECK_TRUE(calendar.earliest() == earliest(plain));
    }
}

}  // namespace

TEST_GROUP(Calendar){};

TEST(Calendar, isEmptyWithoutAMoment) {
    Calendar calendar(3);
    CHECK_FALSE(calendar.earliest().has_value());
    CHECK_FALSE(calendar.take_due(at(100)).has_value());
    calendar.set(1, std::nullopt);
    CHECK_FALSE(calendar.earliest().has_value());
}

TEST(Calendar, ofEqualMomentsTheLowestNumberComesFirst) {
    Calendar calendar(4);
    for (const std::uint32_t number : {2U, 0U, 3U, 1U}) calendar.set(number, at(50));
    CHECK_FALSE(calendar.take_due(at(49)).has_value());
    for (std::uint32_t number = 0; number < 4; ++number) CHECK_TRUE(calendar.take_due(at(50)) == number);
}

TEST(Calendar, agreesWithASearchThroughAll) { compare(5); }

TEST(Calendar, agreesWithASearchWhereTimeWraps) { compare(UINT64_MAX - 20'000); }

}  // namespace sluice::calendar_test
