#include "dataplane/base/packet_pool.hh"

#include <set>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::growing_pool_test {
namespace {

constexpr unsigned most = 40'000, first = 1000;

}  // namespace

TEST_GROUP(GrowingPool) {
    PacketPool pool{"growing", {most, first}, 32, 768};
    std::vector<Packet*> taken;

    void setup() override { CHECK_TRUE(pool.pool() != nullptr); }
    void teardown() override {
        for (Packet* packet : taken) rte_pktmbuf_free(packet);
        LONGS_EQUAL(0, pool.in_use());
    }
    // False: there was none.
    bool take(unsigned count) {
        for (unsigned n = 0; n < count; ++n) {
            Packet* packet = rte_pktmbuf_alloc(pool.pool());
            if (packet == nullptr) return false;
            LONGS_EQUAL(768 + RTE_PKTMBUF_HEADROOM, packet->buf_len);
            packet->pkt_len = static_cast<std::uint32_t>(taken.size());
            taken.push_back(packet);
        }
        return true;
    }
};

TEST(GrowingPool, HasNoMoreThanItsFirstPortionUntilItIsToldToGrow) {
    CHECK_FALSE(take(most));
    const std::size_t had = taken.size();
    CHECK_TRUE(had >= first && had < most);
    CHECK_TRUE(pool.keep_free(500));
    CHECK_TRUE(take(500));
    LONGS_EQUAL(had + 500, pool.in_use());
}

TEST(GrowingPool, WhatIsInUseStaysAsItIsAndNoPacketIsGivenTwice) {
    for (unsigned n = 0; n < 8; ++n) {
        CHECK_TRUE(pool.keep_free(4000));
        CHECK_TRUE(take(4000));
    }
    for (std::size_t n = 0; n < taken.size(); ++n) LONGS_EQUAL(n, taken[n]->pkt_len);
    LONGS_EQUAL(taken.size(), std::set<Packet*>(taken.begin(), taken.end()).size());
}

TEST(GrowingPool, GrowsToItsMostAndNoFurther) {
    CHECK_TRUE(pool.keep_free(2 * most));
    CHECK_TRUE(take(most - 2 * 48));  // the thread's cache may keep some
    CHECK_FALSE(take(2 * 48 + 1));
}

TEST(GrowingPool, GrowsByItselfWhereItMay) {
    PacketPool other("at_need", {most, first, true}, 32, 768);
    std::vector<Packet*> all;
    while (Packet* packet = rte_pktmbuf_alloc(other.pool())) all.push_back(packet);
    CHECK_TRUE(all.size() >= most - 2 * 48 && all.size() <= most);
    LONGS_EQUAL(all.size(), std::set<Packet*>(all.begin(), all.end()).size());
    for (Packet* packet : all) rte_pktmbuf_free(packet);
    LONGS_EQUAL(0, other.in_use());
}

}  // namespace sluice::growing_pool_test
