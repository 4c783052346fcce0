// Routes to prefixes that reach the top of the address space: the default route, 128.0.0.0/1, 192.0.0.0/2,
// ... One of each length, each inside the one before.
//
// They are kept beside DPDK's tables: those, when such a route changes whose more specific routes cover all
// of it, take the edge 2^32 for 0 and overwrite everything (DPDK 22.11, dir24_8.c, modify_fib). What the
// table finds is always more specific than a route of here: whatever contains a prefix that reaches the top
// reaches it too. Written by control while no worker reads it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace sluice {

template <unsigned bits>
class TopRoutes {
  public:
    explicit TopRoutes(std::uint32_t none) : none_(none) {
        own_.fill(none);
        found_.fill(none);
    }

    void set(unsigned length, std::uint32_t group) {
        own_[length] = group;
        refresh();
    }
    // False when there is no such route.
    bool remove(unsigned length) {
        if (own_[length] == none_) return false;
        own_[length] = none_;
        refresh();
        return true;
    }
    bool empty() const { return empty_; }
    // The longest that holds an address which starts with so many ones.
    std::uint32_t find(unsigned leading_ones) const { return found_[leading_ones]; }

  private:
    void refresh() {
        std::uint32_t group = none_;
        for (unsigned length = 0; length <= bits; ++length) {
            if (own_[length] != none_) group = own_[length];
            found_[length] = group;
        }
        empty_ = group == none_;
    }

    std::uint32_t none_;
    bool empty_ = true;
    std::array<std::uint32_t, bits + 1> own_;
    std::array<std::uint32_t, bits + 1> found_;  // by leading ones
};

inline unsigned leading_ones(std::uint32_t address) {
    return static_cast<unsigned>(std::countl_one(address));
}

inline unsigned leading_ones(const std::uint8_t* address) {
    unsigned ones = 0;
    for (unsigned byte = 0; byte < 16; ++byte) {
        const auto more = static_cast<unsigned>(std::countl_one(address[byte]));
        ones += more;
        if (more != 8) break;
    }
    return ones;
}

}  // namespace sluice
