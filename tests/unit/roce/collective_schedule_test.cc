// Messages of collectives against closed forms: how many follow each other, and bytes on each link.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "tests/unit/roce/collective_job.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::collective_schedule_test {

using namespace sluice::collective_test;

namespace {

constexpr std::array<std::uint32_t, 9> sizes{2, 3, 4, 5, 6, 8, 13, 16, 21};

std::int64_t levels(std::uint32_t size) { return std::bit_width(size - 1); }

// Messages that follow each other from the beginning to the last one.
std::int64_t messages_in_a_row(Kind kind, std::uint32_t size) {
    switch (kind) {
        case Kind::ring_allreduce:
        case Kind::hierarchical_allreduce:
            return 2 * (size - 1);
        case Kind::all_gather:
        case Kind::reduce_scatter:
        case Kind::pipeline:
            return size - 1;
        case Kind::halving_doubling:
            return 2 * levels(size);
        case Kind::all_to_all:
            return 1;
        case Kind::tree_allreduce:
        case Kind::double_tree_allreduce:
            return 2 * levels(size);
    }
    return 0;
}

std::uint64_t neighbors(const TreePlace& place) { return place.children.size() + (place.parent ? 1 : 0); }

}  // namespace

TEST_GROUP(CollectiveSchedule){};

TEST(CollectiveSchedule, aStepHasAsManyMessagesInARowAsItsClosedForm) {
    for (const Kind kind : kinds)
        for (const std::uint32_t size : sizes)
            for (const std::uint32_t control : {0U, 64U}) {
                if (!exists(kind, size) || 3 * size > 63) continue;
                CollectiveSettings settings = settings_of(kind, size, 6'000);
                settings.control_bytes = control;
                Job job(settings);
                job.run();
                // With control messages, the first of them goes before.
                const std::int64_t in_server = settings.time_in_server().ps;
                LONGS_EQUAL(messages_in_a_row(kind, size) + (control != 0 ? 1 : 0) + in_server, job.ticks());
            }
}

TEST(CollectiveSchedule, piecesPassARingAtTheSameTime) {
    CollectiveSettings settings = settings_of(Kind::ring_allreduce, 5, 10'000);
    settings.chunk_bytes = 300;  // 7 of each chunk
    Job job(settings);
    job.run();
    LONGS_EQUAL(2 * 4, job.ticks());
    LONGS_EQUAL(7 * 2 * 4, strands_of(settings, 0)[0].sends());
}

TEST(CollectiveSchedule, aRankSendsWhatTheBusFactorSays) {
    for (const Kind kind : {Kind::ring_allreduce, Kind::halving_doubling, Kind::all_to_all, Kind::all_gather,
                            Kind::reduce_scatter, Kind::pipeline})
        for (const std::uint32_t size : sizes)
            for (const std::uint32_t channels : {1U, 3U}) {
                if (!exists(kind, size)) continue;
                CollectiveSettings settings = settings_of(kind, size, std::uint64_t{720} * size);
                if (has_channels(kind)) settings.channels = channels;
                Job job(settings);
                job.run();
                const BusFactor factor = bus_factor(settings);
                for (std::uint32_t rank = 0; rank + 1 < size; ++rank)
                    LONGS_EQUAL(settings.bytes * factor.numerator / factor.denominator, job.sent_bytes(rank));
            }
}

TEST(CollectiveSchedule, aRingsLinkCarriesAllButOneChunkEachWay) {
    for (const std::uint32_t size : sizes) {
        const CollectiveSettings settings = settings_of(Kind::ring_allreduce, size, 1009);
        Job job(settings);
        job.run();
        const Extent all{0, settings.bytes};
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            const std::uint32_t next = (rank + 1) % size;
            LONGS_EQUAL(2 * 1009 - all.share(size, rank).bytes - all.share(size, next).bytes,
                        job.bytes(rank, next));
            LONGS_EQUAL(job.bytes(rank, next), job.sent_bytes(rank));
        }
    }
}

TEST(CollectiveSchedule, theNeighborsInATreeExchangeAllDataOnce) {
    for (const std::uint32_t size : sizes)
        for (const std::uint32_t channels : {1U, 2U}) {
            CollectiveSettings settings = settings_of(Kind::tree_allreduce, size, 1000);
            settings.channels = channels;
            Job job(settings);
            job.run();
            for (std::uint32_t rank = 0; rank < size; ++rank) {
                const TreePlace place = tree_place(size, rank, false);
                LONGS_EQUAL(1000 * neighbors(place), job.sent_bytes(rank));
                if (!place.parent) continue;
                LONGS_EQUAL(1000, job.bytes(rank, *place.parent));
                LONGS_EQUAL(1000, job.bytes(*place.parent, rank));
            }
        }
}

TEST(CollectiveSchedule, eachOfTwoTreesHasHalfOfTheData) {
    for (const std::uint32_t size : sizes) {
        Job job(settings_of(Kind::double_tree_allreduce, size, 1000));
        job.run();
        std::uint64_t sum = 0;
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            const std::uint64_t both =
                neighbors(tree_place(size, rank, false)) + neighbors(tree_place(size, rank, true));
            LONGS_EQUAL(500 * both, job.sent_bytes(rank));
            CHECK(both <= 4);
            sum += job.sent_bytes(rank);
        }
        LONGS_EQUAL(2 * (size - 1) * 1000, sum);
    }
}

TEST(CollectiveSchedule, aTreeIsOneTreeOfAllRanksAndOfLeastDepth) {
    for (std::uint32_t size = 2; size < 100; ++size)
        for (const bool second : {false, true}) {
            std::uint32_t roots = 0;
            for (std::uint32_t place = 0; place < size; ++place) {
                const TreePlace own = tree_place(size, place, second);
                CHECK(own.children.size() <= 2);
                if (!own.parent) {
                    ++roots;
                    LONGS_EQUAL(1, own.children.size());
                    continue;
                }
                const TreePlace parent = tree_place(size, *own.parent, second);
                CHECK(std::ranges::count(parent.children, place) == 1);
                std::int64_t depth = 1;
                for (std::uint32_t at = *own.parent; tree_place(size, at, second).parent; ++depth)
                    at = *tree_place(size, at, second).parent;
                CHECK(depth <= levels(size));
            }
            LONGS_EQUAL(1, roots);
        }
}

TEST(CollectiveSchedule, noRankIsALeafOfBothTrees) {
    for (std::uint32_t size = 3; size < 200; ++size)
        for (std::uint32_t place = 0; place < size; ++place) {
            const bool first = tree_place(size, place, false).children.empty();
            const bool second = tree_place(size, place, true).children.empty();
            CHECK_FALSE(first && second);
            if (size % 2 == 0) CHECK(first != second);
        }
}

// ncclGetDtree of NCCL 2 (src/graph/trees.cc) for 8 and 5 ranks.
TEST(CollectiveSchedule, treesAreThoseOfNccl) {
    const std::vector<std::uint32_t> none;
    const auto children = [](std::uint32_t size, std::uint32_t place, bool second) {
        std::vector<std::uint32_t> list = tree_place(size, place, second).children;
        std::ranges::sort(list);
        return list;
    };
    using List = std::vector<std::uint32_t>;
    CHECK(children(8, 0, false) == List{4});
    CHECK((children(8, 4, false) == List{2, 6}));
    CHECK((children(8, 6, false) == List{5, 7}));
    CHECK(children(8, 7, false) == none);
    CHECK(children(8, 7, true) == List{3});
    CHECK((children(8, 3, true) == List{1, 5}));
    CHECK(children(5, 0, false) == List{4});
    CHECK(children(5, 4, false) == List{2});
    CHECK(children(5, 1, true) == List{0});
    CHECK(children(5, 0, true) == List{3});
    CHECK((children(5, 3, true) == List{2, 4}));
}

TEST(CollectiveSchedule, aTreesChunkMakesEightOfEachLevelWithinItsBounds) {
    LONGS_EQUAL(512 * 1024, tree_chunk(1 << 30, 1024));
    LONGS_EQUAL(32 * 1024, tree_chunk(1'000'000, 1024));
    LONGS_EQUAL(32 * 1024, tree_chunk(1, 2));
    LONGS_EQUAL(128 * 1024, tree_chunk(24 * 128 * 1024, 8));
    LONGS_EQUAL(64 * 1024, tree_chunk(24 * 128 * 1024 - 1, 8));
    const CollectiveSettings settings = settings_of(Kind::tree_allreduce, 8, 24 * 128 * 1024);
    LONGS_EQUAL(24, strands_of(settings, 0)[0].sends());
}

TEST(CollectiveSchedule, aHotRankGetsSoManyTimesAsMuch) {
    for (const std::uint32_t skew : {1U, 2U, 7U}) {
        CollectiveSettings settings = settings_of(Kind::all_to_all, 6, 12'000 * (5 + skew));
        settings.ranks = 12;
        settings.group_size = 6;
        settings.skew = skew;
        Job job(settings);
        job.run();
        for (std::uint32_t from = 0; from < 12; ++from)
            for (std::uint32_t to = from / 6 * 6; to < from / 6 * 6 + 6; ++to)
                LONGS_EQUAL(from == to ? 0 : 12'000 * (to % 6 == 0 ? skew : 1), job.bytes(from, to));
    }
}

TEST(CollectiveSchedule, sharesOfAllToAllAreTheWholeBuffer) {
    const CollectiveSettings settings = settings_of(Kind::all_to_all, 7, 1009);
    for (std::uint32_t rank = 0; rank < 7; ++rank) {
        std::uint64_t sum = Extent{0, 1009}.share(7, rank).bytes;  // its own stays
        for (std::uint32_t n = 0; n < 6; ++n) sum += strands_of(settings, rank)[0].send(n).data.bytes;
        LONGS_EQUAL(1009, sum);
    }
}

TEST(CollectiveSchedule, ringsOfAServersRanksShareItsData) {
    CollectiveSettings settings = settings_of(Kind::hierarchical_allreduce, 4, 1009);
    Job job(settings);
    job.run();
    const Extent all{0, 1009};
    for (std::uint32_t rank = 0; rank < 12; ++rank) {
        const Extent own = all.share(3, rank % 3);
        const std::uint32_t server = rank / 3, next = (rank + 3) % 12;
        LONGS_EQUAL(2 * own.bytes - own.share(4, server).bytes - own.share(4, (server + 1) % 4).bytes,
                    job.bytes(rank, next));
        LONGS_EQUAL(job.bytes(rank, next), job.sent_bytes(rank));
    }
    LONGS_EQUAL(2 * 11, bus_factor(settings).numerator);
    LONGS_EQUAL(12, bus_factor(settings).denominator);
}

TEST(CollectiveSchedule, aChannelHasQueuePairsOfItsOwn) {
    CollectiveSettings settings = settings_of(Kind::double_tree_allreduce, 8, 100'000);
    settings.channels = 3;
    settings.queue_pairs = 2;
    settings.control_bytes = 8;
    Job job(settings);
    job.run();
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        const std::uint64_t both =
            neighbors(tree_place(8, rank, false)) + neighbors(tree_place(8, rank, true));
        // To and from each neighbor two and one for control.
        LONGS_EQUAL(both * 2 * 3 * 3, job.queue_pairs(rank));
    }
    // A message has one, and both queue pairs share it: up and down 7 links of 6 trees, one chunk each.
    LONGS_EQUAL(2 * 7 * 6, job.control_messages());
}

}  // namespace sluice::collective_schedule_test
