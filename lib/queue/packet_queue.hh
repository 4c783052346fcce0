// FIFO of packets, unbounded by itself: chained arrays of 32 entries, from a pool sized at start. As fast as
// a ring (14 cycles against 25 for a linked list at depth 1) without a ring's worst-case memory for every
// queue. One thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/buffer/cells.hh"
#include "lib/threads/counters.hh"
#include "lib/values/invariant.hh"
#include "lib/values/lazy_array.hh"

namespace sluice {

// A packet and its facts for scheduler and buffer at dequeue, so that neither touches a cold packet.
class QueueEntry {
  public:
    QueueEntry() = default;
    QueueEntry(void* packet, std::uint16_t frame_bytes, std::uint16_t cells, PortId ingress_port,
               ClassId priority_group, std::uint8_t flags)
        : packet_(packet), charge_(packet_charge(frame_bytes, cells, ingress_port, priority_group, flags)) {}

    void* packet() const { return packet_; }
    std::uint32_t frame_bytes() const { return charge_ & 0xFFFF; }
    std::uint32_t cells() const { return charge_ >> 16 & 0xFFFF; }
    PortId ingress_port() const { return static_cast<PortId>(charge_ >> 32); }
    ClassId priority_group() const { return static_cast<ClassId>(charge_ >> 48); }
    std::uint8_t flags() const { return static_cast<std::uint8_t>(charge_ >> 56); }

  private:
    void* packet_;
    std::uint64_t charge_;
};
static_assert(sizeof(QueueEntry) == 16);

struct alignas(64) QueueChunk {
    static constexpr unsigned capacity = 32;
    std::array<QueueEntry, capacity> entries;
    QueueChunk* next;
};

// Chunks for the queues of one worker. Each non-empty queue wastes less than two chunks.
class ChunkPool {
  public:
    ChunkPool(std::size_t packets, std::size_t queues) : chunks_(count(packets, queues)) {}
    // Takes the memory of all chunks now.
    void touch() { chunks_.touch(); }
    static constexpr std::size_t bytes(std::size_t packets, std::size_t queues) {
        return count(packets, queues) * sizeof(QueueChunk);
    }
    ChunkPool(const ChunkPool&) = delete;
    ChunkPool& operator=(const ChunkPool&) = delete;

    QueueChunk* take_chunk() {
        QueueChunk* chunk = free_;
        if (chunk == nullptr) return take_new();
        free_ = chunk->next;
        return chunk;
    }
    void give_chunk(QueueChunk* chunk) {
        SLUICE_INVARIANT(chunk >= chunks_.data() && chunk < chunks_.data() + used_);
        chunk->next = free_;
        free_ = chunk;
    }

  private:
    static constexpr std::size_t count(std::size_t packets, std::size_t queues) {
        return packets / QueueChunk::capacity + 2 * queues + 1;
    }

    // A chunk that no queue has had.
    [[gnu::noinline]] QueueChunk* take_new() {
        assert(used_ < chunks_.size() && "sized for every packet there is");
        return &chunks_[used_++];
    }

    LazyArray<QueueChunk> chunks_;
    std::size_t used_ = 0;        // the others are new
    QueueChunk* free_ = nullptr;  // of those that were used
};

class PacketQueue {
  public:
    bool empty() const { return packets_.get() == 0; }
    std::uint32_t packets() const { return packets_.get(); }  // any thread may ask
    const QueueEntry& front() const {
        SLUICE_INVARIANT(!empty());
        return head_->entries[head_index_];
    }
    // Sum of its packets' cells; only where invariants are checked.
    std::uint32_t cells() const { return cells_; }

    void push(ChunkPool& pool, const QueueEntry& entry) {
        if (!has_room()) grow(pool);
        push(entry);
    }
    // True when the next packet needs no chunk, and may be pushed without the pool.
    bool has_room() const { return tail_index_ != QueueChunk::capacity; }
    void push(const QueueEntry& entry) {
        SLUICE_INVARIANT(has_room() && tail_ != nullptr);
        tail_->entries[tail_index_++] = entry;
        packets_.set(packets_.get() + 1);
        if constexpr (checks_invariants) cells_ += entry.cells();
    }

    // The packets at the front that lie in one piece, at least one while it is not empty. Valid until the
    // next `push` or `pop`.
    std::span<const QueueEntry> run() const {
        const std::uint32_t in_chunk = QueueChunk::capacity - head_index_;
        return {head_->entries.data() + head_index_, std::min(in_chunk, packets_.get())};
    }

    // Calls visit(entry) for every packet, from the front, until it returns false.
    template <class Visit>
    void for_each(Visit visit) const {
        const QueueChunk* chunk = head_;
        std::uint32_t at = head_index_;
        for (std::uint32_t left = packets_.get(); left != 0; --left) {
            if (at == QueueChunk::capacity) {
                chunk = chunk->next;
                at = 0;
            }
            if (!visit(chunk->entries[at++])) return;
        }
    }

    // Takes `count` packets off the front, at most as many as the run has.
    void pop(ChunkPool& pool, std::uint32_t count) {
        SLUICE_INVARIANT(count <= run().size() && "a run is taken off, no more");
        if constexpr (checks_invariants)
            for (const QueueEntry& entry : run().first(count)) cells_ -= entry.cells();
        head_index_ += count;
        const std::uint32_t left = packets_.get() - count;
        packets_.set(left);
        if (left == 0) {
            SLUICE_INVARIANT(head_ == tail_ && cells_ == 0 && "an empty queue has one chunk and no cells");
            head_index_ = tail_index_ = 0;  // keep the chunk: a queue that is busy again soon stays warm
        } else if (head_index_ == QueueChunk::capacity) {
            QueueChunk* used = head_;
            head_ = used->next;
            head_index_ = 0;
            pool.give_chunk(used);
        }
    }
    QueueEntry pop(ChunkPool& pool) {
        const QueueEntry entry = front();
        pop(pool, 1);
        return entry;
    }

  private:
    // A function of its own: the hot path keeps no registers for it.
    [[gnu::noinline]] void grow(ChunkPool& pool) {
        QueueChunk* chunk = pool.take_chunk();
        chunk->next = nullptr;
        if (tail_ != nullptr)
            tail_->next = chunk;
        else
            head_ = chunk;
        tail_ = chunk;
        tail_index_ = 0;
    }

    QueueChunk* head_ = nullptr;
    QueueChunk* tail_ = nullptr;
    std::uint32_t head_index_ = 0;
    std::uint32_t tail_index_ = QueueChunk::capacity;  // so that the first packet asks for a chunk
    Gauge packets_;
    std::uint32_t cells_ = 0;  // stays 0 where invariants are not checked
};

}  // namespace sluice
