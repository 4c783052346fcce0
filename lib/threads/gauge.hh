// A level that one thread writes and others read: occupancies and watermarks in cells, each in [0, 2^32).
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice {

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
