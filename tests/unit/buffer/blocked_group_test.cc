// A blocked lossless group, to the cell: the part that each packet gets, and when its sender is paused and
// resumed.
#include <algorithm>
#include <optional>
#include <set>

#include "tests/unit/buffer/shared_buffer_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::blocked_group_test {

using namespace sluice::shared_buffer_bench;

namespace {

// floor(alpha S / (1 + alpha)), alpha = 2^n: what one group alone may have.
std::int64_t alone(std::int64_t size, int n) {
    return n >= 0 ? (size << n) / ((1 << n) + 1) : size / ((1 << -n) + 1);
}

// floor of the shared use x at which x + offset <= alpha (S - x); 0 when there is none.
std::int64_t resume_level(std::int64_t size, int n, std::int64_t offset) {
    const std::int64_t num = n >= 0 ? (size << n) - offset : size - (offset << -n);
    return num <= 0 ? 0 : num / ((n >= 0 ? 1 << n : 1 << -n) + 1);
}

struct Scenario {
    Threshold threshold;
    std::int64_t shared_max;    // closed form: floor(alpha S / (1 + alpha)) or the static limit
    std::int64_t resume_below;  // XON at the latest when shared use has come down to this
    std::uint32_t size;         // S
    std::uint32_t reserved;
    std::uint32_t headroom;
    std::uint32_t offset;
};

// A blocked lossless group is offered packets of k cells until one is refused, then drained. Returns the
// cells that had left when XON came, beyond those of the headroom.
std::int64_t blocked_group(const Scenario& s, std::uint32_t k) {
    Bench bench({.shared_cells = s.size});
    const GroupLimits limits{.threshold = s.threshold,
                             .reserved_cells = s.reserved,
                             .headroom_cells = s.headroom,
                             .xon_offset_cells = s.offset,
                             .lossless = true};
    PriorityGroup group;
    const std::int64_t without_pfc = s.reserved / k + s.shared_max / k;
    for (std::int64_t i = 0; i < without_pfc; ++i) {
        check(i < s.reserved / k ? Admission::reserved : Admission::shared, bench.admit(group, limits, k));
        check(XoffSignal::none, bench.evaluate(group, limits));
    }
    LONGS_EQUAL(s.shared_max / k * k, group.shared_cells());
    for (std::uint32_t i = 0; i < s.headroom / k; ++i) {
        check(Admission::headroom, bench.admit(group, limits, k));
        CHECK(group.in_xoff());
        check(i == 0 ? XoffSignal::send_xoff : XoffSignal::none, bench.evaluate(group, limits));
    }
    check(Admission::headroom_overrun, bench.admit(group, limits, k));
    LONGS_EQUAL(s.headroom / k * k, group.headroom_cells());
    LONGS_EQUAL(group.shared_cells(), bench.pool.shared.get());

    // headroom / k packets that empty the headroom, then as many as bring shared use down to the level
    const std::int64_t excess = std::max<std::int64_t>(group.shared_cells() - s.resume_below, 0);
    const std::int64_t expected = s.headroom / k + (excess + k - 1) / k;
    std::int64_t left = 0;
    for (bool resumed = s.headroom < k; !resumed;) {
        bench.release(group, k);
        ++left;
        CHECK(left <= expected);
        resumed = bench.evaluate(group, limits) == XoffSignal::send_xon;
    }
    if (s.headroom >= k) LONGS_EQUAL(expected, left);
    for (std::int64_t i = left; i < without_pfc + s.headroom / k; ++i) {
        bench.release(group, k);
        check(XoffSignal::none, bench.evaluate(group, limits));
    }
    LONGS_EQUAL(0, group.used_cells());
    LONGS_EQUAL(0, bench.pool.shared.get());
    LONGS_EQUAL(0, bench.pool.headroom.get());
    return (left - s.headroom / k) * k;
}

// Every number of cells that frames of 60 to 9216 bytes take.
std::set<std::uint32_t> packet_cells(CellSize cell) {
    std::set<std::uint32_t> sizes;
    for (std::uint32_t frame = 60; frame <= 9216; ++frame) sizes.insert(cell.cells(frame));
    return sizes;
}

}  // namespace

TEST_GROUP(BlockedGroup){};

TEST(BlockedGroup, blockedGroupSequenceDynamic) {
    for (const std::uint32_t bytes : cell_sizes)
        for (const std::uint32_t k : packet_cells(CellSize{bytes}))
            for (int n = -8; n <= 7; ++n)
                for (const std::uint32_t size : {1'000'000 / bytes, 1'000'000 / bytes + 1 + 7 * k, 97U}) {
                    const std::uint32_t offset = 18'200 / bytes;
                    blocked_group({.threshold = Threshold::dynamic(n),
                                   .shared_max = alone(size, n),
                                   .resume_below = resume_level(size, n, offset),
                                   .size = size,
                                   .reserved = 18'200 / bytes + 1,
                                   .headroom = 90'000 / bytes + 1,
                                   .offset = offset},
                                  k);
                }
}

TEST(BlockedGroup, blockedGroupSequenceStatic) {
    for (const std::uint32_t bytes : cell_sizes)
        for (const std::uint32_t k : packet_cells(CellSize{bytes}))
            for (const std::optional<std::uint32_t> limit : std::array<std::optional<std::uint32_t>, 5>{
                     std::nullopt, 0U, 1U, 300'000 / bytes, 999'000 / bytes}) {
                const std::uint32_t size = 1'000'000 / bytes;
                const std::int64_t most = limit.value_or(size);
                const std::uint32_t offset = 18'200 / bytes;
                blocked_group({.threshold = limit ? Threshold::fixed(*limit) : Threshold::none(),
                               .shared_max = most,
                               .resume_below = std::max<std::int64_t>(most - offset, 0),
                               .size = size,
                               .reserved = 18'200 / bytes + 1,
                               .headroom = 90'000 / bytes + 1,
                               .offset = offset},
                              k);
            }
}

// XON after headroom_used + ceil(xon_offset / (1 + alpha)) cells: exact for packets of one cell when alpha S
// / (1 + alpha) is a whole number. Else the group stopped a fraction below its limit, and that fraction
// counts as drained.
TEST(BlockedGroup, xonComesAfterTheClosedFormula) {
    for (int n = -8; n <= 7; ++n)
        for (const std::uint32_t offset : {0U, 1U, 2U, 7U, 71U, 255U, 256U, 257U}) {
            const std::uint32_t over_one =
                n >= 0 ? (1U << n) + 1 : (1U << -n) + 1;  // alpha + 1, or its multiple
            const std::uint32_t size = 600 * over_one;
            const Scenario s{.threshold = Threshold::dynamic(n),
                             .shared_max = alone(size, n),
                             .resume_below = resume_level(size, n, offset),
                             .size = size,
                             .reserved = 5,
                             .headroom = 40,
                             .offset = offset};
            const std::uint32_t scaled = n >= 0 ? offset : offset << -n;
            LONGS_EQUAL((scaled + over_one - 1) / over_one, blocked_group(s, 1));
        }
}

TEST(BlockedGroup, xonComesAtOnceWhenTheFractionBelowTheLimitCoversTheOffset) {
    // alpha 1, S 101: the limit is 50.5, so use stops at 50 where T is 51, and an offset of 1 is already
    // there.
    const Scenario s{.threshold = Threshold::dynamic(0),
                     .shared_max = 50,
                     .resume_below = 50,
                     .size = 101,
                     .reserved = 0,
                     .headroom = 10,
                     .offset = 1};
    LONGS_EQUAL(0, blocked_group(s, 1));
}

}  // namespace sluice::blocked_group_test
