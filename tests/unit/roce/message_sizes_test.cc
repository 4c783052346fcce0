#include "lib/roce/messages.hh"

#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::message_sizes_test {
namespace {

using namespace sluice::roce;
using Points = std::vector<MessageSizes::Point>;

constexpr std::uint64_t last = ~std::uint64_t{0};
// The draw at which `share` in 1/10 000 begins.
std::uint64_t at_share(std::uint64_t share) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(((static_cast<Wide>(share) << 64) + MessageSizes::whole - 1) /
                                      MessageSizes::whole);
}

double drawn_mean(const MessageSizes& sizes, std::uint64_t count) {
    const MessageDraws draws{7, 1};
    double sum = 0;
    for (std::uint64_t n = 0; n < count; ++n) sum += sizes.size(draws(MessageDraw::size, n));
    return sum / static_cast<double>(count);
}

}  // namespace

TEST_GROUP(MessageSizes){};

TEST(MessageSizes, refusesTablesThatAreNone) {
    const auto refuses = [](const Points& points) { return !MessageSizes::valid(points); };
    CHECK_FALSE(refuses({{0, 0}, {10, 10'000}}));
    CHECK_TRUE(refuses({}));
    CHECK_TRUE(refuses({{10, 10'000}}));
    CHECK_TRUE(refuses({{0, 1}, {10, 10'000}}));                            // does not start at 0
    CHECK_TRUE(refuses({{0, 0}, {10, 9'999}}));                             // does not end at 1
    CHECK_TRUE(refuses({{0, 0}, {10, 5'000}, {10, 10'000}}));               // a size twice
    CHECK_TRUE(refuses({{0, 0}, {10, 5'000}, {20, 4'000}, {30, 10'000}}));  // falls
    CHECK_TRUE(refuses({{0, 0}, {(1U << 31) + 1, 10'000}}));                // larger than a message can be
    Points many;
    for (std::uint32_t n = 0; n < MessageSizes::max_points; ++n) many.push_back({n, n});
    many.push_back({1'000, 10'000});
    CHECK_TRUE(refuses(many));
}

TEST(MessageSizes, fixedIsFixed) {
    for (const std::uint32_t bytes : {1U, 4096U, 1U << 31}) {
        const MessageSizes sizes = MessageSizes::fixed(bytes);
        for (const std::uint64_t drawn : {std::uint64_t{0}, last / 3, last})
            UNSIGNED_LONGS_EQUAL(bytes, sizes.size(drawn));
        UNSIGNED_LONGS_EQUAL(std::uint64_t{bytes} * 1'000, sizes.mean_millibytes());
    }
}

TEST(MessageSizes, uniformTakesBothEndsAndEachSizeAlike) {
    const MessageSizes sizes = MessageSizes::uniform(3, 6);
    UNSIGNED_LONGS_EQUAL(3, sizes.size(0));
    UNSIGNED_LONGS_EQUAL(6, sizes.size(last));
    UNSIGNED_LONGS_EQUAL(4'500, sizes.mean_millibytes());
    UNSIGNED_LONGS_EQUAL(3, sizes.min_bytes());
    UNSIGNED_LONGS_EQUAL(6, sizes.max_bytes());
    for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
        UNSIGNED_LONGS_EQUAL(3 + quarter, sizes.size(at_share(quarter * 2'500)));
        UNSIGNED_LONGS_EQUAL(3 + quarter, sizes.size(at_share((quarter + 1) * 2'500) - (1ULL << 33)));
    }
}

TEST(MessageSizes, betweenTwoPointsTheSizeIsInterpolated) {
    const MessageSizes sizes(Points{{0, 0}, {1'000, 0}, {2'000, 5'000}, {2'500, 5'000}, {12'500, 10'000}});
    UNSIGNED_LONGS_EQUAL(1'001, sizes.size(0));
    UNSIGNED_LONGS_EQUAL(1'501, sizes.size(at_share(2'500)));
    UNSIGNED_LONGS_EQUAL(2'000, sizes.size(at_share(5'000) - 1));
    UNSIGNED_LONGS_EQUAL(2'501, sizes.size(at_share(5'000)));  // none of 2001 to 2500
    UNSIGNED_LONGS_EQUAL(7'501, sizes.size(at_share(7'500)));
    UNSIGNED_LONGS_EQUAL(12'500, sizes.size(last));
    UNSIGNED_LONGS_EQUAL(1'001, sizes.min_bytes());
    UNSIGNED_LONGS_EQUAL(12'500, sizes.max_bytes());
    UNSIGNED_LONGS_EQUAL(4'500'500, sizes.mean_millibytes());  // (1500.5 + 7500.5) / 2
}

TEST(MessageSizes, aTableThatEndsEarlyHasNoSizesBeyond) {
    const MessageSizes sizes(Points{{0, 0}, {100, 10'000}, {200, 10'000}});
    UNSIGNED_LONGS_EQUAL(100, sizes.size(last));
    UNSIGNED_LONGS_EQUAL(100, sizes.max_bytes());
}

// The middles of the published tables' steps, weighted by hand, and half a byte for whole bytes.
TEST(MessageSizes, publishedTablesHaveTheirMeans) {
    UNSIGNED_LONGS_EQUAL(1'711'250'500, MessageSizes::web_search().mean_millibytes());
    UNSIGNED_LONGS_EQUAL(120'421'250, MessageSizes::facebook_hadoop().mean_millibytes());
    UNSIGNED_LONGS_EQUAL(40'870'300, MessageSizes::alibaba_storage().mean_millibytes());
    UNSIGNED_LONGS_EQUAL(30'000'000, MessageSizes::web_search().max_bytes());
    UNSIGNED_LONGS_EQUAL(1, MessageSizes::web_search().min_bytes());
    UNSIGNED_LONGS_EQUAL(10'000'000, MessageSizes::facebook_hadoop().max_bytes());
    UNSIGNED_LONGS_EQUAL(2'000'000, MessageSizes::alibaba_storage().max_bytes());
}

TEST(MessageSizes, drawsHaveTheMean) {
    for (const MessageSizes& sizes : {MessageSizes::web_search(), MessageSizes::facebook_hadoop(),
                                      MessageSizes::alibaba_storage(), MessageSizes::uniform(1, 1'000'000)}) {
        const double mean = static_cast<double>(sizes.mean_millibytes()) / 1'000;
        DOUBLES_EQUAL(mean, drawn_mean(sizes, 200'000), mean * 0.03);
    }
}

TEST(MessageSizes, drawsHaveTheShares) {
    const MessageSizes sizes = MessageSizes::web_search();
    const MessageDraws draws{3, 9};
    unsigned to_80k = 0;
    unsigned to_1m = 0;
    for (std::uint64_t n = 0; n < 100'000; ++n) {
        const std::uint32_t bytes = sizes.size(draws(MessageDraw::size, n));
        to_80k += bytes <= 80'000 ? 1 : 0;
        to_1m += bytes <= 1'000'000 ? 1 : 0;
    }
    DOUBLES_EQUAL(53'000, to_80k, 600);
    DOUBLES_EQUAL(70'000, to_1m, 600);
}

}  // namespace sluice::message_sizes_test
