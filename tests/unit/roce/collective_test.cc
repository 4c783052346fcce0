#include <algorithm>
#include <array>
#include <vector>

#include "tests/unit/roce/collective_job.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::collective_test {

namespace {

constexpr std::array<std::uint32_t, 8> sizes{2, 3, 4, 5, 6, 7, 8, 16};

Contributions all_of(const CollectiveSettings& settings, std::uint32_t rank) {
    const RankGroup group = settings.group();
    Contributions all = 0;
    for (std::uint32_t place = 0; place < group.size; ++place) all |= of_rank(group.rank_at(place, rank));
    return all;
}

// A part of each lane's share.
std::vector<Contributions> part_of(const Job& job, const CollectiveSettings& settings, std::uint32_t rank,
                                   std::uint32_t place) {
    std::vector<Contributions> part;
    for (std::uint32_t lane = 0; lane < settings.lanes(); ++lane) {
        const Extent own =
            Extent{0, settings.bytes}.share(settings.lanes(), lane).share(settings.group().size, place);
        const auto begin = job.has(rank).begin() + static_cast<std::ptrdiff_t>(own.begin);
        part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(own.bytes));
    }
    return part;
}

bool all_are(const std::vector<Contributions>& bytes, Contributions expected) {
    return std::ranges::all_of(bytes, [&](Contributions each) { return each == expected; });
}

// The data of a rank in the end.
void check_contents(const Job& job, const CollectiveSettings& settings, std::uint32_t rank) {
    const RankGroup group = settings.group();
    const std::uint32_t place = group.place(rank);
    switch (settings.kind) {
        case Kind::ring_allreduce:
        case Kind::halving_doubling:
        case Kind::tree_allreduce:
        case Kind::double_tree_allreduce:
            CHECK(all_are(job.has(rank), all_of(settings, rank)));
            return;
        case Kind::hierarchical_allreduce: {  // its share of the server's
            const Extent own = settings.buffer(rank);
            for (std::uint64_t byte = own.begin; byte < own.begin + own.bytes; ++byte)
                CHECK(job.has(rank)[byte] == of_rank(settings.ranks) - 1);
            return;
        }
        case Kind::all_gather:
            for (std::uint32_t each = 0; each < group.size; ++each)
                CHECK(all_are(part_of(job, settings, rank, each), of_rank(group.rank_at(each, rank))));
            return;
        case Kind::reduce_scatter:
            CHECK(all_are(part_of(job, settings, rank, place), all_of(settings, rank)));
            return;
        case Kind::all_to_all:
            for (std::uint32_t each = 0; each < group.size; ++each)
                if (each != place) CHECK(job.bytes(group.rank_at(each, rank), rank) != 0);
            return;
        case Kind::pipeline: {
            Contributions before = 0;
            for (std::uint32_t each = 0; each <= place; ++each) before |= of_rank(group.rank_at(each, rank));
            CHECK(all_are(job.has(rank), before));
            return;
        }
    }
}

void check_job(const CollectiveSettings& settings, std::uint32_t stride) {
    Job job(settings, stride);
    job.run();
    for (std::uint32_t rank = 0; rank < settings.ranks; ++rank) {
        CHECK(job.rank(rank).state() == CollectiveRank::State::done);
        CHECK(job.rank(rank).steps()[0].ended.has_value());
        check_contents(job, settings, rank);
    }
}

// A ring of two ranks: queue pair 0 to the peer, 1 from it.
RankSettings one_of_two() {
    RankSettings settings;
    settings.queue_pairs = 2;
    settings.strands = {{{0}, {1}, {}, {}}};
    return settings;
}

}  // namespace

TEST_GROUP(Collective){};

TEST(Collective, everyRankEndsWithEveryRanksContribution) {
    for (const Kind kind : kinds)
        for (const std::uint32_t ranks : sizes)
            for (const std::uint32_t queue_pairs : {1U, 3U})
                for (const std::uint32_t stride : {1U, 5U}) {
                    if (!exists(kind, ranks)) continue;
                    CollectiveSettings settings =
                        settings_of(kind, ranks, 1009);  // a prime: chunks of two sizes
                    settings.queue_pairs = queue_pairs;
                    check_job(settings, stride);
                }
}

TEST(Collective, channelsChunksAndControlChangeNoResult) {
    for (const Kind kind : kinds)
        for (const std::uint32_t ranks : {2U, 3U, 7U, 8U})
            for (const std::uint32_t control : {0U, 64U}) {
                if (!exists(kind, ranks)) continue;
                CollectiveSettings settings = settings_of(kind, ranks, 10'007);
                settings.control_bytes = control;
                settings.queue_pairs = 2;
                if (has_channels(kind)) {
                    settings.channels = 3;
                    settings.chunk_bytes = 100;  // more chunks than a queue pair may have ahead
                }
                check_job(settings, 5);
            }
}

TEST(Collective, groupsRunByThemselves) {
    for (const Kind kind : kinds)
        for (const std::uint32_t stride : {1U, 2U, 6U}) {
            if (kind == Kind::hierarchical_allreduce) continue;
            CollectiveSettings settings = settings_of(kind, 24, 1009);
            settings.group_size = 4;
            settings.group_stride = stride;
            check_job(settings, 5);
            Job job(settings);
            job.run();
            for (std::uint32_t a = 0; a < 24; ++a)
                for (std::uint32_t b = 0; b < 24; ++b)
                    if (!(all_of(settings, a) & of_rank(b))) LONGS_EQUAL(0, job.bytes(a, b));
        }
}

TEST(Collective, stepsFollowEachOtherWithComputeBetween) {
    for (const Kind kind : kinds) {
        CollectiveSettings settings = settings_of(kind, 4, 4096);
        settings.steps = 3;
        settings.control_bytes = 8;
        settings.compute = picoseconds(10);
        settings.start = Duration{5};
        LONGS_EQUAL(kind == Kind::hierarchical_allreduce ? 2 : 0, settings.time_in_server().ps);
        Job job(settings, 3);
        job.run();
        for (std::uint32_t rank = 0; rank < settings.ranks; ++rank) {
            const auto steps = job.rank(rank).steps();
            LONGS_EQUAL(3, steps.size());
            LONGS_EQUAL(5, steps[0].begun.ps);
            for (std::size_t n = 0; n < 3; ++n) {
                CHECK(*steps[n].received <= *steps[n].ended);
                if (n != 0) LONGS_EQUAL(steps[n - 1].ended->ps + 10, steps[n].begun.ps);
            }
        }
    }
}

TEST(Collective, aServersRanksMeetBeforeAndAfterTheNetwork) {
    CollectiveSettings settings = settings_of(Kind::hierarchical_allreduce, 2, 3'000'000);
    settings.server_bandwidth = gigabits(800);  // 1 MB in 10 us
    settings.server_latency = microseconds(2);
    LONGS_EQUAL(microseconds(24).ps, settings.time_in_server().ps);
    RankSettings own;
    own.collective = settings;
    own.queue_pairs = 2;
    own.strands = {{{0}, {1}, {}, {}}};
    CollectiveRank rank(own);
    CHECK_FALSE(rank.has_arrivals());
    rank.expire(Time{0});
    LONGS_EQUAL(0, rank.take_arrivals().front().came.ps);
    CHECK_FALSE(rank.has_arrivals());
    CHECK_FALSE(rank.next_timer().has_value());  // two ranks of its server are not there
    CHECK_FALSE(rank.next_post(Time{0}).has_value());
    rank.delivered(1, Time{1});  // one of another server was faster
    rank.join({0, Time{5}}, Time{6});
    CHECK_FALSE(rank.next_timer().has_value());
    rank.join({0, Time{3}}, Time{7});
    LONGS_EQUAL(microseconds(24).ps + 5, rank.next_timer()->ps);  // since the last one came
    const Time reduced = *rank.next_timer();
    rank.expire(reduced);
    LONGS_EQUAL(500'000, rank.next_post(reduced)->bytes);
    LONGS_EQUAL(500'000, rank.next_post(reduced)->bytes);
    CHECK_FALSE(rank.next_timer().has_value());
    rank.delivered(1, reduced);
    rank.completed(0, false, reduced);
    CHECK_FALSE(rank.has_arrivals());
    rank.join({1, reduced}, reduced);  // the others were faster this time
    rank.join({1, reduced}, reduced);
    CHECK_FALSE(rank.next_timer().has_value());
    const Time acknowledged = reduced + Duration{7};
    rank.completed(0, false, acknowledged);
    LONGS_EQUAL(acknowledged.ps, rank.take_arrivals().front().came.ps);
    LONGS_EQUAL((acknowledged + microseconds(24)).ps, rank.next_timer()->ps);
    CHECK_FALSE(rank.steps()[0].ended.has_value());
    rank.expire(*rank.next_timer());
    LONGS_EQUAL(reduced.ps, rank.steps()[0].received->ps);
    LONGS_EQUAL((acknowledged + microseconds(24)).ps, rank.steps()[0].ended->ps);
    CHECK(rank.state() == CollectiveRank::State::done);
}

TEST(Collective, aMeetingThatIsLearnedOfLateEndsAtOnce) {
    RankSettings own;
    own.collective = settings_of(Kind::hierarchical_allreduce, 2, 3'000);
    own.queue_pairs = 2;
    own.strands = {{{0}, {1}, {}, {}}};
    CollectiveRank rank(own);
    rank.expire(Time{0});
    rank.join({0, Time{0}}, Time{100});
    rank.join({0, Time{0}}, Time{100});
    LONGS_EQUAL(100, rank.next_timer()->ps);
}

TEST(Collective, aRoundWaitsForItsDataAndAStepForItsAcknowledgements) {
    CollectiveRank rank(one_of_two());
    CHECK_FALSE(rank.next_post(Time{0}).has_value());
    rank.expire(Time{0});
    LONGS_EQUAL(500'000, rank.next_post(Time{0})->bytes);
    CHECK_FALSE(rank.next_post(Time{0}).has_value());  // the data of the first round has not come
    rank.completed(0, false, Time{1});
    CHECK_FALSE(rank.next_post(Time{1}).has_value());
    rank.delivered(1, Time{2});
    CHECK(rank.next_post(Time{2}).has_value());
    rank.delivered(1, Time{3});
    LONGS_EQUAL(3, rank.steps()[0].received->ps);
    CHECK_FALSE(rank.steps()[0].ended.has_value());
    rank.completed(0, false, Time{4});
    LONGS_EQUAL(4, rank.steps()[0].ended->ps);
    CHECK(rank.state() == CollectiveRank::State::done);
}

TEST(Collective, dataOfAPeerThatIsAheadCountsForItsOwnRound) {
    CollectiveRank rank(one_of_two());
    rank.delivered(1, Time{0});  // the peer has begun before
    rank.expire(Time{1});
    CHECK(rank.next_post(Time{1}).has_value());
    CHECK(rank.next_post(Time{1}).has_value());
    CHECK_FALSE(rank.steps()[0].received.has_value());
    rank.delivered(1, Time{2});
    LONGS_EQUAL(2, rank.steps()[0].received->ps);
}

TEST(Collective, aMessageWaitsUntilItsReceiverClearsIt) {
    RankSettings settings = one_of_two();
    settings.collective.control_bytes = 64;
    settings.queue_pairs = 4;
    settings.strands = {{{0}, {1}, {2}, {3}}};  // queue pair 2 clears the peer's messages, 3 those to it
    CollectiveRank rank(settings);
    rank.expire(Time{0});
    for (int n = 0; n < 2; ++n) {  // both messages that it will receive
        const auto clearance = rank.next_post(Time{0});
        LONGS_EQUAL(2, clearance->qp);
        LONGS_EQUAL(64, clearance->bytes);
    }
    CHECK_FALSE(rank.next_post(Time{0}).has_value());
    rank.delivered(3, Time{1});
    LONGS_EQUAL(0, rank.next_post(Time{1})->qp);
    rank.delivered(1, Time{2});
    CHECK_FALSE(rank.next_post(Time{2}).has_value());  // its data has come, and the peer has not cleared it
    rank.delivered(3, Time{3});
    LONGS_EQUAL(0, rank.next_post(Time{3})->qp);
}

TEST(Collective, aReceiverClearsEightMessagesAhead) {
    CollectiveSettings settings = settings_of(Kind::pipeline, 2, 6400);
    settings.parts = 64;
    settings.control_bytes = 8;
    RankSettings last;
    last.collective = settings;
    last.rank = 1;
    last.queue_pairs = 2;
    last.strands = {{{}, {0}, {1}, {}}};
    CollectiveRank rank(last);
    rank.expire(Time{0});
    int cleared = 0;
    while (rank.next_post(Time{0})) {
        ++cleared;
        rank.completed(1, false, Time{0});
    }
    LONGS_EQUAL(CollectiveRank::max_ahead, cleared);
    rank.delivered(0, Time{1});
    CHECK(rank.next_post(Time{1}).has_value());
    CHECK_FALSE(rank.next_post(Time{1}).has_value());
}

TEST(Collective, aRankWhoseMessageFailsPostsNothingMore) {
    CollectiveRank rank(one_of_two());
    rank.expire(Time{0});
    CHECK(rank.next_post(Time{0}).has_value());
    rank.completed(0, true, Time{1});
    rank.delivered(1, Time{2});
    CHECK(rank.state() == CollectiveRank::State::failed);
    CHECK_FALSE(rank.next_post(Time{2}).has_value());
    CHECK_FALSE(rank.next_timer().has_value());
}

}  // namespace sluice::collective_test
