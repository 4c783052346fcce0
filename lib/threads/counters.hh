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

}  // namespace sluice
