#include "lib/queue/packet_queue.hh"

#include <array>
#include <deque>
#include <memory>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::packet_queue_test {
namespace {

QueueEntry entry(std::uint16_t number) {
    return {reinterpret_cast<void*>(std::uintptr_t{number} * 64),
            number,
            static_cast<std::uint16_t>(number * 3),
            static_cast<std::uint16_t>(number + 1),
            static_cast<std::uint8_t>(number % 8),
            static_cast<std::uint8_t>(number * 5)};
}

void equal(const QueueEntry& wanted, const QueueEntry& got) {
    POINTERS_EQUAL(wanted.packet(), got.packet());
    LONGS_EQUAL(wanted.frame_bytes(), got.frame_bytes());
    LONGS_EQUAL(wanted.flags(), got.flags());
    LONGS_EQUAL(wanted.cells(), got.cells());
    LONGS_EQUAL(wanted.ingress_port(), got.ingress_port());
    LONGS_EQUAL(wanted.priority_group(), got.priority_group());
}

}  // namespace

TEST_GROUP(PacketQueue){};

TEST(PacketQueue, firstInFirstOutAtEveryDepth) {
    for (unsigned depth = 1; depth <= 200; ++depth) {
        ChunkPool pool(depth, 1);
        PacketQueue queue;
        CHECK_TRUE(queue.empty());
        for (unsigned round = 0; round < 3; ++round) {
            for (unsigned n = 0; n < depth; ++n) {
                queue.push(pool, entry(static_cast<std::uint16_t>(n)));
                LONGS_EQUAL(n + 1, queue.packets());
            }
            for (unsigned n = 0; n < depth; ++n) {
                equal(entry(static_cast<std::uint16_t>(n)), queue.front());
                equal(entry(static_cast<std::uint16_t>(n)), queue.pop(pool));
            }
            CHECK_TRUE(queue.empty());
        }
    }
}

TEST(PacketQueue, aWindowThatMovesThroughItsChunks) {
    // As long as it never holds more than the pool was sized for, it never asks for more.
    constexpr unsigned depth = 40;
    ChunkPool pool(depth, 1);
    PacketQueue queue;
    std::uint16_t in = 0, out = 0;
    for (; in < depth; ++in) queue.push(pool, entry(in));
    for (unsigned step = 0; step < 10'000; ++step) {
        equal(entry(out++), queue.pop(pool));
        queue.push(pool, entry(in++));
        LONGS_EQUAL(depth, queue.packets());
    }
}

TEST(PacketQueue, aRunIsWhatLiesInOnePiece) {
    constexpr std::uint16_t depth = 70;
    for (const std::uint32_t most : {1U, 3U, 31U, 32U}) {
        ChunkPool pool(100, 1);
        PacketQueue queue;
        for (std::uint16_t n = 0; n < depth; ++n) queue.push(pool, entry(n));
        for (std::uint32_t front = 0; front < depth;) {
            const std::span<const QueueEntry> run = queue.run();
            const std::uint32_t to_chunk_end = QueueChunk::capacity - front % QueueChunk::capacity;
            LONGS_EQUAL(std::min(to_chunk_end, depth - front), run.size());
            for (std::uint32_t n = 0; n < run.size(); ++n) LONGS_EQUAL(front + n, run[n].frame_bytes());
            const std::uint32_t taken = std::min(most, static_cast<std::uint32_t>(run.size()));
            queue.pop(pool, taken);
            front += taken;
            LONGS_EQUAL(depth - front, queue.packets());
        }
        CHECK_TRUE(queue.empty());
        LONGS_EQUAL(0, queue.run().size());
        queue.push(pool, entry(7));
        LONGS_EQUAL(7, queue.run()[0].frame_bytes());
    }
}

TEST(PacketQueue, manyQueuesShareAPoolThatIsSizedForTheirPackets) {
    // The worst the pool can meet: packets spread and moved at random, every queue with its two half-used
    // chunks.
    constexpr std::size_t packets = 300, queues = 24;
    ChunkPool pool(packets, queues);
    std::array<PacketQueue, queues> queue;
    std::array<std::deque<std::uint16_t>, queues> model;
    std::size_t held = 0;
    std::uint16_t next = 0;
    for (std::uint64_t step = 0; step < 200'000; ++step) {
        const std::uint64_t drawn = draw({7, 0, 0, step});
        const std::size_t q = drawn % queues;
        const bool fill = (step / 5000) % 2 == 0 ? drawn >> 32 & 3U : (drawn >> 32 & 3U) == 0;
        if (fill && held < packets) {
            queue[q].push(pool, entry(next));
            model[q].push_back(next++);
            ++held;
        } else if (!model[q].empty()) {
            equal(entry(model[q].front()), queue[q].pop(pool));
            model[q].pop_front();
            --held;
        }
        LONGS_EQUAL(model[q].size(), queue[q].packets());
    }
}

}  // namespace sluice::packet_queue_test
