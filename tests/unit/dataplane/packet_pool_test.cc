// The pool of free packets, by the functions through which drivers take and give them: without caches, so
// that each call reaches what threads share, and by threads that hand packets to each other. Also under TSan.
#include "dataplane/base/packet_pool.hh"

#include <rte_mempool.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::packet_pool_test {
namespace {

constexpr unsigned packets = 2000;

bool take(rte_mempool* pool, std::vector<void*>& out, unsigned count) {
    std::array<void*, packets + 1> some;
    if (rte_mempool_get_bulk(pool, some.data(), count) != 0) return false;
    out.insert(out.end(), some.begin(), some.begin() + count);
    return true;
}

void give(rte_mempool* pool, std::vector<void*>& from, std::size_t count) {
    rte_mempool_put_bulk(pool, from.data() + from.size() - count, static_cast<unsigned>(count));
    from.resize(from.size() - count);
}

}  // namespace

TEST_GROUP(PacketPool) {
    PacketPool owner{"packet_pool", packets, 0};
    rte_mempool* pool = owner.pool();

    // Each packet there is, once.
    void everyPacketIsThere() {
        std::vector<void*> all;
        LONGS_EQUAL(0, owner.in_use());
        CHECK_TRUE(take(pool, all, packets));
        LONGS_EQUAL(packets, std::set<void*>(all.begin(), all.end()).size());
        LONGS_EQUAL(packets, owner.in_use());
        CHECK_FALSE(take(pool, all, 1));
        give(pool, all, packets);
    }
};

TEST(PacketPool, holdsEachPacketOnce) {
    everyPacketIsThere();
    everyPacketIsThere();  // given back in whole batches
}

TEST(PacketPool, givesAllOrNone) {
    std::vector<void*> mine;
    CHECK_TRUE(take(pool, mine, 1500));
    CHECK_FALSE(take(pool, mine, 501));
    LONGS_EQUAL(1500, owner.in_use());
    CHECK_TRUE(take(pool, mine, 500));
    give(pool, mine, mine.size());
    everyPacketIsThere();
}

TEST(PacketPool, givesThoseFirstThatCameLast) {
    std::vector<void*> mine, again;
    CHECK_TRUE(take(pool, mine, 1200));
    const std::set<void*> last(mine.end() - 700, mine.end());
    give(pool, mine, 700);
    CHECK_TRUE(take(pool, again, 700));
    CHECK_TRUE(std::set<void*>(again.begin(), again.end()) == last);
    give(pool, mine, mine.size());
    give(pool, again, again.size());
}

TEST(PacketPool, freePacketsAreInOrder) {
    // The lists of free packets lie where frames were, and touch no mbuf.
    std::vector<void*> mine;
    for (int round = 0; round < 2; ++round) {
        CHECK_TRUE(take(pool, mine, packets));
        for (void* packet : mine) {
            const char* reason = "";
            LONGS_EQUAL_TEXT(0, rte_mbuf_check(static_cast<Packet*>(packet), 1, &reason), reason);
        }
        give(pool, mine, packets);
    }
}

TEST(PacketPool, holdsTrueAfterAnySequence) {
    std::mt19937 rng(7);
    std::vector<void*> mine;
    for (int step = 0; step < 20'000; ++step) {
        // Many single ones, some hundreds, seldom nearly all.
        const auto kind = rng() % 8;
        const auto most = kind < 5 ? 3U : kind < 7 ? 600U : packets + 1;
        const auto count = static_cast<unsigned>(1 + rng() % most);
        if (rng() % 2 == 0) {
            const bool enough = mine.size() + count <= packets;
            CHECK_TRUE(take(pool, mine, count) == enough);
        } else {
            give(pool, mine, std::min<std::size_t>(count, mine.size()));
        }
        LONGS_EQUAL(mine.size(), owner.in_use());
    }
    LONGS_EQUAL(mine.size(), std::set<void*>(mine.begin(), mine.end()).size());
    give(pool, mine, mine.size());
    everyPacketIsThere();
}

TEST(PacketPool, poolsOfSmallAndOfLargePackets) {
    for (const std::uint32_t bytes : {64U, 1000U, 16'384U}) {
        const PacketPool other("packet_pool_other", packets / 4, 0, bytes);
        std::vector<void*> mine;
        for (int round = 0; round < 3; ++round) {
            CHECK_TRUE(take(other.pool(), mine, packets / 4));
            LONGS_EQUAL(packets / 4, std::set<void*>(mine.begin(), mine.end()).size());
            give(other.pool(), mine, packets / 8);  // in batches, then one by one
            while (!mine.empty()) give(other.pool(), mine, 1);
            LONGS_EQUAL(0, other.in_use());
        }
    }
}

TEST(PacketPool, threadsNeverHoldThePacketOfAnother) {
    constexpr unsigned threads = 4;
    constexpr unsigned rounds = 2000;
    std::atomic<unsigned> foreign{0}, refused{0};
    std::vector<std::thread> running;
    for (unsigned me = 1; me <= threads; ++me)
        running.emplace_back([&, me] {
            std::mt19937 rng(me);
            std::vector<void*> mine;
            for (unsigned round = 0; round < rounds; ++round) {
                const auto before = mine.size();
                // 200 each, and a batch that each may have in hand for a moment, are less than there are.
                const auto count = static_cast<unsigned>(1 + rng() % (200 - before));
                if (!take(pool, mine, count)) ++refused;
                for (auto i = before; i < mine.size(); ++i) {
                    auto* packet = static_cast<Packet*>(mine[i]);
                    packet->hash.rss = me;  // not atomic: it is ours
                    frame_bytes(packet)[0] = static_cast<std::uint8_t>(me);
                }
                for (void* packet : mine)
                    if (static_cast<Packet*>(packet)->hash.rss != me) ++foreign;
                give(pool, mine, mine.size() >= 200 ? mine.size() : rng() % (mine.size() + 1));
            }
            give(pool, mine, mine.size());
        });
    for (std::thread& thread : running) thread.join();
    LONGS_EQUAL(0, foreign);
    LONGS_EQUAL(0, refused);
    everyPacketIsThere();
}

}  // namespace sluice::packet_pool_test
