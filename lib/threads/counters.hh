// A counter that one thread writes and others read: plain load, add, store; no read-modify-write on the hot
// path.
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice {

class Counter {
  public:
    // relaxed: a figure for people, which orders nothing.
    void add(std::uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
    void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
    std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

// Packets and their bytes (Ethernet header to payload, no FCS).
struct Traffic {
    Counter packets;
    Counter bytes;
    void add(std::uint32_t frame_bytes) { add(1, frame_bytes); }
    void add(std::uint64_t frames, std::uint64_t sum_of_bytes) {
        packets.add(frames);
        bytes.add(sum_of_bytes);
    }
};

// A level that one thread writes and others read: occupancies and watermarks in cells, each in [0, 2^32).
class Gauge {
  public:
    // relaxed, all three: the owner reads its own writes, others read a figure that orders nothing.
    std::uint32_t get() const { return value_.load(std::memory_order_relaxed); }
    void set(std::uint32_t value) { value_.store(value, std::memory_order_relaxed); }
    void raise_to(std::uint32_t value) {
        if (value > get()) set(value);
    }

  private:
    std::atomic<std::uint32_t> value_{0};
};

// The highest level since the user last cleared it, and since the start.
struct Watermark {
    Gauge user;
    Gauge persistent;

    void raise_to(std::uint32_t cells) {
        // user <= persistent, so the usual packet costs one comparison
        if (cells <= user.get()) return;
        user.set(cells);
        persistent.raise_to(cells);
    }
};

}  // namespace sluice
