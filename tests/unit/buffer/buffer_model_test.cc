// The shared buffer against a slow reference, packet by packet, over seeded random sequences of arrivals,
// departures, evaluations and changes of limits; and against itself: how arrivals are cut into bursts makes
// no difference.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/buffer/release_board.hh"
#include "lib/values/rng.hh"
#include "tests/unit/buffer/buffer_reference.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::buffer_model_test {
namespace {

constexpr std::size_t group_count = 20;
constexpr std::size_t pool_count = 3;

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(scramble(seed)) {}
    // In [0, n).
    std::uint32_t below(std::uint32_t n) {
        state_ = scramble(state_);
        return static_cast<std::uint32_t>((state_ >> 32) * n >> 32);
    }

  private:
    std::uint64_t state_;
};

struct Packet {
    std::size_t group;
    std::uint32_t cells;
};

struct Model {
    std::array<PoolLimits, pool_count> pool_limits;
    std::array<PoolUse, pool_count> pools;
    std::array<GroupLimits, group_count> limits;
    std::array<PriorityGroup, group_count> groups;

    explicit Model(bool exclusive) {
        for (PoolUse& pool : pools) pool.exclusive = exclusive;
    }
    PoolView view(std::size_t g) const { return {pools[limits[g].pool], pool_limits[limits[g].pool]}; }
    void evaluate(std::size_t g) {
        const bool quiet = groups[g].is_quiet();
        const XoffSignal signal = groups[g].update_xoff(limits[g], view(g));
        CHECK_TRUE(!quiet || signal == XoffSignal::none);
    }

    // Packets of one burst, in order; `after(i, admission, free cells)` is called after each.
    template <class After>
    void arrive(const Packet* packets, std::size_t count, After after) {
        std::array<std::optional<PoolBurst>, pool_count> bursts;
        std::uint32_t bound = 0;
        for (std::size_t i = 0; i < count; ++i) bound += packets[i].cells;
        for (std::size_t i = 0; i < count; ++i) {
            const auto [g, cells] = packets[i];
            auto& burst = bursts[limits[g].pool];
            if (!burst) burst.emplace(pools[limits[g].pool], pool_limits[limits[g].pool], bound);
            const Admission admission = groups[g].admit(limits[g], *burst, cells);
            after(i, admission, burst->view().free_cells);
        }
    }
    void depart(Packet packet) {
        const std::size_t p = limits[packet.group].pool;
        PoolBurst burst(pools[p], pool_limits[p], 0);
        groups[packet.group].release(burst, packet.cells);
    }
};

// New limits for one group or pool, in both.
void change(Random& random, Model& model, reference::Buffer& slow) {
    if (random.below(4) == 0) {
        const std::size_t p = random.below(pool_count);
        slow.pools[p] = {.shared = random.below(900), .shared_headroom = p == 2 ? 1 + random.below(60) : 0};
        model.pool_limits[p] = {
            .shared_cells = static_cast<std::uint32_t>(slow.pools[p].shared),
            .shared_headroom_cells = static_cast<std::uint32_t>(slow.pools[p].shared_headroom)};
        return;
    }
    const std::size_t g = random.below(group_count);
    reference::Limits& l = slow.limits[g];
    const unsigned old_pool = l.pool;
    l = {.dynamic = random.below(4) != 0,
         .n = static_cast<int>(random.below(16)) - 8,
         .fixed = random.below(3) == 0 ? std::nullopt : std::optional<std::int64_t>(random.below(200)),
         .reserved = random.below(20),
         .headroom = random.below(40),
         .xon = random.below(3) == 0 ? random.below(50) : 0,
         .xon_offset = random.below(20),
         .lossless = random.below(4) != 0,
         .pool = random.below(8) == 0 ? random.below(pool_count) : old_pool};
    model.limits[g] = {.threshold = l.dynamic ? Threshold::dynamic(l.n)
                                    : l.fixed ? Threshold::fixed(static_cast<std::uint32_t>(*l.fixed))
                                              : Threshold::none(),
                       .reserved_cells = static_cast<std::uint32_t>(l.reserved),
                       .headroom_cells = static_cast<std::uint32_t>(l.headroom),
                       .xon_cells = static_cast<std::uint32_t>(l.xon),
                       .xon_offset_cells = static_cast<std::uint32_t>(l.xon_offset),
                       .pool = static_cast<std::uint8_t>(l.pool),
                       .lossless = l.lossless};
    if (l.pool != old_pool) model.groups[g].move(model.pools[old_pool], model.pools[l.pool]);
}

void compare(const Model& model, const reference::Buffer& slow) {
    for (std::size_t g = 0; g < group_count; ++g) {
        LONGS_EQUAL(slow.groups[g].reserved, model.groups[g].reserved_cells());
        LONGS_EQUAL(slow.groups[g].shared, model.groups[g].shared_cells());
        LONGS_EQUAL(slow.groups[g].headroom, model.groups[g].headroom_cells());
        CHECK_EQUAL(slow.groups[g].xoff, model.groups[g].in_xoff());
    }
    for (unsigned p = 0; p < pool_count; ++p) {
        LONGS_EQUAL(slow.shared_used(p), model.pools[p].shared.get());
        LONGS_EQUAL(slow.headroom_used(p), model.pools[p].headroom.get());
    }
}

// Independent of the reference: nothing grows beyond its limit, though a cut may leave it there.
void check_admitted(const Model& model, std::size_t g, Admission admission, std::int64_t free) {
    const GroupLimits& l = model.limits[g];
    const PoolLimits& p = model.pool_limits[l.pool];
    if (admission == Admission::reserved) CHECK(model.groups[g].reserved_cells() <= l.reserved_cells);
    if (admission == Admission::shared) CHECK(free >= 0);
    if (admission != Admission::headroom) return;
    CHECK(l.lossless && model.groups[g].in_xoff());
    CHECK(model.groups[g].headroom_cells() <= l.headroom_cells);
    if (p.shared_headroom_cells != 0) CHECK(model.pools[l.pool].headroom.get() <= p.shared_headroom_cells);
}

void random_sequence(std::uint64_t seed, bool exclusive) {
    Random random(seed);
    Model model(exclusive);
    reference::Buffer slow;
    slow.pools.resize(pool_count);
    slow.limits.resize(group_count);
    slow.groups.resize(group_count);
    for (std::size_t i = 0; i < 40 * group_count; ++i) change(random, model, slow);
    std::vector<Packet> queued;
    std::vector<Packet> burst;
    const std::uint32_t largest = 1 + random.below(12);
    for (int step = 0; step < 600; ++step) {
        const std::uint32_t what = random.below(100);
        if (what < 3) change(random, model, slow);
        if (what < 55) {
            burst.clear();
            for (std::uint32_t n = 1 + random.below(32); n > 0; --n)
                burst.push_back({random.below(group_count), 1 + random.below(largest)});
            model.arrive(burst.data(), burst.size(),
                         [&](std::size_t i, Admission admission, std::int64_t free) {
                             const reference::Where where = slow.admit(burst[i].group, burst[i].cells);
                             LONGS_EQUAL(static_cast<int>(where), static_cast<int>(admission));
                             LONGS_EQUAL(model.pool_limits[model.limits[burst[i].group].pool].shared_cells -
                                             slow.shared_used(model.limits[burst[i].group].pool),
                                         free);
                             check_admitted(model, burst[i].group, admission, free);
                             if (is_admitted(admission)) queued.push_back(burst[i]);
                         });
        } else {
            for (std::uint32_t n = random.below(60); n > 0 && !queued.empty(); --n) {
                const std::size_t i = random.below(static_cast<std::uint32_t>(queued.size()));
                model.depart(queued[i]);
                slow.release(queued[i].group, queued[i].cells);
                queued[i] = queued.back();
                queued.pop_back();
            }
        }
        for (std::size_t g = 0; g < group_count; ++g) {
            model.evaluate(g);
            slow.evaluate(g);
        }
        compare(model, slow);
    }
    for (const Packet& packet : queued) model.depart(packet);
    for (std::size_t g = 0; g < group_count; ++g) {
        model.evaluate(g);
        LONGS_EQUAL(0, model.groups[g].used_cells());
        CHECK_FALSE(model.groups[g].in_xoff());  // an empty group always resumes
    }
    for (const PoolUse& pool : model.pools) LONGS_EQUAL(0, pool.shared.get() + pool.headroom.get());
}

}  // namespace

TEST_GROUP(BufferModel) {
    std::uint64_t seed = 1;

    void teardown() override {
        if (UtestShell::getCurrent()->hasFailed()) UT_PRINT(("seed " + std::to_string(seed)).c_str());
    }
};

TEST(BufferModel, agreesWithTheReferenceForRandomSequences) {
    for (; seed <= 200; ++seed) random_sequence(seed, seed % 2 == 0);
}

TEST(BufferModel, burstOf32IsThirtyTwoBurstsOfOne) {
    for (; seed <= 100; ++seed) {
        Random random(seed);
        Model one(true), many(false);
        reference::Buffer unused;
        unused.pools.resize(pool_count);
        unused.limits.resize(group_count);
        unused.groups.resize(group_count);
        for (std::size_t i = 0; i < 40 * group_count; ++i) change(random, one, unused);
        many.limits = one.limits;
        many.pool_limits = one.pool_limits;
        for (int step = 0; step < 60; ++step) {
            std::array<Packet, 32> burst;
            for (Packet& packet : burst) packet = {random.below(group_count), 1 + random.below(9)};
            many.arrive(
                burst.data(), burst.size(), [&](std::size_t i, Admission admission, std::int64_t free) {
                    const std::size_t g = burst[i].group;
                    one.arrive(&burst[i], 1, [&](std::size_t, Admission alone, std::int64_t alone_free) {
                        LONGS_EQUAL(static_cast<int>(alone), static_cast<int>(admission));
                        LONGS_EQUAL(alone_free, free);
                    });
                    LONGS_EQUAL(one.groups[g].reserved_cells(), many.groups[g].reserved_cells());
                    LONGS_EQUAL(one.groups[g].shared_cells(), many.groups[g].shared_cells());
                    LONGS_EQUAL(one.groups[g].headroom_cells(), many.groups[g].headroom_cells());
                    for (std::size_t each = 0; each < group_count; ++each) one.evaluate(each);
                });
            for (std::size_t g = 0; g < group_count; ++g) {
                many.evaluate(g);
                CHECK_EQUAL(one.groups[g].in_xoff(), many.groups[g].in_xoff());
            }
            for (std::size_t g = 0; g < group_count; ++g) {
                const std::uint32_t gone = random.below(one.groups[g].used_cells() + 1);
                one.depart({g, gone});
                many.depart({g, gone});
            }
            for (std::size_t g = 0; g < group_count; ++g) {
                one.evaluate(g);
                many.evaluate(g);
            }
        }
        for (std::size_t p = 0; p < pool_count; ++p) {
            LONGS_EQUAL(one.pools[p].shared.get(), many.pools[p].shared.get());
            LONGS_EQUAL(one.pools[p].headroom.get(), many.pools[p].headroom.get());
            LONGS_EQUAL(one.pools[p].shared_watermark.persistent(),
                        many.pools[p].shared_watermark.persistent());
        }
    }
}

}  // namespace sluice::buffer_model_test
